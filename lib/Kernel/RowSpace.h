//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which loops of a group's operators run over rows. Private to lib/Kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_KERNEL_ROWSPACE_H
#define FUSE_LIB_KERNEL_ROWSPACE_H

#include "fuse/Kernel/Graph.h"

namespace fuse {

/// Rows of `group`, which has a reduction: its parallel loops are rows, its
/// reduction loops run along them, and the kinds of all other loops follow
/// along the edges and through the glue. Nothing if two operators disagree, so
/// that no block could own whole rows.
std::optional<RowSpace> rowSpaceOf(const Group &group);

} // namespace fuse

#endif // FUSE_LIB_KERNEL_ROWSPACE_H
