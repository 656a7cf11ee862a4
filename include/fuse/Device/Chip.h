//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips that GPU kernels are compiled for.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_DEVICE_CHIP_H
#define FUSE_DEVICE_CHIP_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fuse {

/// The PTX version to compile for a chip with, as LLVM names it ("+ptx80").
/// The error lists the known chips.
llvm::Expected<llvm::StringRef> ptxVersionOf(llvm::StringRef chip);

/// 80 of `sm_80`; 0 if `chip` is no such name.
unsigned computeCapability(llvm::StringRef chip);

} // namespace fuse

#endif // FUSE_DEVICE_CHIP_H
