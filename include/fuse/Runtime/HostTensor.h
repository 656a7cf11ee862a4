//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors in host memory: element types, .npy files, seeded values.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_RUNTIME_HOSTTENSOR_H
#define FUSE_RUNTIME_HOSTTENSOR_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace fuse {

enum class ElementType { F64, F32, F16, BF16, I1, I8, I16, I32, I64 };

/// `f32`, `bf16`, `i1`, ...
llvm::StringRef stringifyElementType(ElementType type);
unsigned bytesOf(ElementType type);
bool isFloat(ElementType type);

/// The element type that holds values of `type`; `index` is held as i64. The
/// error names the type and the supported ones.
llvm::Expected<ElementType> elementTypeOf(mlir::Type type);

/// A dense row-major tensor, its data aligned to 64 bytes.
class HostTensor {
public:
  HostTensor(ElementType type, llvm::ArrayRef<int64_t> shape);

  ElementType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int64_t elements() const;
  size_t bytes() const { return size_t(elements()) * bytesOf(elementType); }
  void *data() { return memory.get(); }
  const void *data() const { return memory.get(); }
  /// Element number `i` as a double (floats and integers).
  double at(int64_t i) const;
  /// Element number `i` of an integer tensor.
  int64_t integerAt(int64_t i) const;
  /// `4x1024xf32`
  std::string typeString() const;

private:
  struct Free {
    void operator()(void *pointer) const;
  };
  ElementType elementType;
  llvm::SmallVector<int64_t, 4> extents;
  std::unique_ptr<void, Free> memory;
};

/// Reads a .npy file of version 1 to 3 in C order. bf16, which the format does
/// not know, is read from its bits as '<u2'.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path);
/// Writes a .npy file; bf16 as its bits in '<u2'.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

/// Fills `tensor` with values that depend on `seed`, type and shape alone:
/// floats of rank >= 2 normal / sqrt(fan-in), of lower rank uniform in [0.5,
/// 1.5]; i1 in {0, 1}, other integers in [-4, 4], i64 in [0, 3].
void fillSeeded(HostTensor &tensor, int64_t seed);

} // namespace fuse

#endif // FUSE_RUNTIME_HOSTTENSOR_H
