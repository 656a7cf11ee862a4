//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From an NVVM module to one that runs on the host.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_TRANSLATE_H
#define FUSE_EMULATOR_TRANSLATE_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace fuse::emulator {

/// Names of functions that the host calls, and of those that take the state of
/// a thread first.
inline constexpr llvm::StringLiteral entryPrefix = "entry.";
inline constexpr llvm::StringLiteral devicePrefix = "device.";

/// The name of a function before its translation.
inline llvm::StringRef deviceName(const llvm::Function &function) {
  return function.getName().drop_front(devicePrefix.size());
}

/// A kernel of a translated module.
struct TranslatedKernel {
  std::string name, entry;
  std::vector<uint64_t> sharedOffsets; ///< One for each shared variable.
  uint64_t staticShared = 0;           ///< Bytes.
  uint64_t maxThreads = 0;             ///< 0: not stated.
};

struct Translation {
  std::vector<TranslatedKernel> kernels;
  std::vector<std::string> globals; ///< Variables in device memory.
};

/// Translates in place. The error names what is not known.
llvm::Expected<Translation> translate(llvm::Module &module);

/// Bytes of the variables of a function in local memory.
uint64_t localBytes(const llvm::Function &function);

/// Puts a check before each access to memory other than a thread's own; after
/// optimisation, so that only accesses that are left are checked. Returns the
/// number of checks.
size_t instrument(llvm::Module &module);

/// Replaces one call of an NVVM intrinsic. The first argument of the function
/// around it is the thread's state.
class IntrinsicCall {
public:
  IntrinsicCall(llvm::CallInst &call, uint32_t site);
  /// False if the intrinsic is not known; then nothing has changed.
  bool replace();

private:
  llvm::Value *lower();
  llvm::Value *specialRegister(llvm::StringRef name);
  llvm::Value *barrier(llvm::StringRef name);
  llvm::Value *warp(uint32_t op);
  llvm::Value *asyncCopy(llvm::StringRef name);
  llvm::Value *math();       // MathIntrinsics.cpp
  llvm::Value *conversion(); // MathIntrinsics.cpp
  llvm::Value *narrowing(llvm::StringRef operation);
  llvm::Value *integerMath(); // MathIntrinsics.cpp
  llvm::Value *memoryRelated();

  llvm::Value *field(size_t offset, llvm::Type *type);
  llvm::CallInst *callRuntime(llvm::StringRef name, llvm::Type *result,
                              llvm::ArrayRef<llvm::Value *> operands);
  llvm::Value *arg(unsigned index) { return call.getArgOperand(index); }
  llvm::Value *i32(uint32_t value) { return builder.getInt32(value); }
  llvm::Value *done(); ///< What `lower` returns if there is no result.

  llvm::CallInst &call;
  llvm::StringRef name; ///< Without `llvm.nvvm.`
  llvm::IRBuilder<> builder;
  llvm::Value *thread;
  uint32_t site;
};

/// A load of a field of the thread's state, which does not change in a kernel.
llvm::Value *loadField(llvm::IRBuilderBase &builder, llvm::Value *thread,
                       size_t offset, llvm::Type *type);

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_TRANSLATE_H
