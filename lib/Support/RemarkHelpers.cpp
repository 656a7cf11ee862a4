//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Locations and names for remarks.
//
//===----------------------------------------------------------------------===//

#include "fuse/Support/RemarkHelpers.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

Location fuse::remarkLocation(Location loc) {
  Location result = loc;
  bool found = false;
  loc->walk([&](Location nested) {
    if (isa<FileLineColLoc>(nested)) {
      result = nested;
      found = true;
    }
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result;
}

StringRef fuse::remarkName(MLIRContext *context, const llvm::Twine &name) {
  return StringAttr::get(context, name).getValue();
}
