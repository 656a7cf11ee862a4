//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// erf of f32 as arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_CPUERF_H
#define FUSE_LIB_LOWERING_CPUERF_H

#include "mlir/IR/PatternMatch.h"

namespace fuse {

/// Goes before upstream's approximation; narrower types are extended by
/// upstream's patterns first.
void populateErfPatterns(mlir::RewritePatternSet &patterns);

/// True for the functions of f32 that become polynomials: those whose
/// approximation holds for every argument. (That of `math.sin` and `math.cos`
/// loses accuracy for large ones.)
bool isApproximated(llvm::StringRef name);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_CPUERF_H
