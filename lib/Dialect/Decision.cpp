//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Construction and printing helpers of the decision record.
//
//===----------------------------------------------------------------------===//

#include "fuse/Dialect/Decision.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace fuse;

Decision Decision::keep(Reason reason, std::string flip) {
  Decision decision;
  decision.verdict = VerdictKind::Keep;
  decision.reason = reason;
  decision.flip = std::move(flip);
  return decision;
}

Decision Decision::conditional(Reason reason, std::string when,
                               std::string flip) {
  Decision decision = keep(reason, std::move(flip));
  decision.verdict = VerdictKind::Conditional;
  decision.when = std::move(when);
  return decision;
}

Decision &Decision::number(llvm::StringRef name, double value) {
  numbers.push_back({name.str(), value});
  return *this;
}

std::string fuse::formatNumber(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (std::floor(value) == value && std::fabs(value) < 1e15)
    os << static_cast<int64_t>(value);
  else
    os << llvm::format("%.6g", value);
  return text;
}
