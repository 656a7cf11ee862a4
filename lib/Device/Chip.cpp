//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips and their PTX versions.
//
//===----------------------------------------------------------------------===//

#include "fuse/Device/Chip.h"

using namespace llvm;

/// The least PTX version for each chip that LLVM 22 compiles mma.sync and
/// cp.async for ("PTX ISA", Release Notes: 8.0 knows sm_75 to sm_90, 8.6
/// sm_100).
Expected<StringRef> fuse::ptxVersionOf(StringRef chip) {
  static constexpr std::pair<StringLiteral, StringLiteral> known[] = {
      {"sm_75", "+ptx80"}, {"sm_80", "+ptx80"}, {"sm_86", "+ptx80"},
      {"sm_89", "+ptx80"}, {"sm_90", "+ptx80"}, {"sm_100", "+ptx86"}};
  std::string names;
  for (auto [name, version] : known) {
    if (name == chip)
      return version;
    names += (names.empty() ? "" : ", ") + name.str();
  }
  return createStringError("unknown chip '" + chip + "', known are " + names);
}

unsigned fuse::computeCapability(StringRef chip) {
  unsigned number = 0;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, number))
    return 0;
  return number;
}
