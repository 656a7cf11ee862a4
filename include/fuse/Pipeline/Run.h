//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program: plans, compiles, executes, measures and compares. What the
// tool fuse-run does.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PIPELINE_RUN_H
#define FUSE_PIPELINE_RUN_H

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace fuse {

/// How much is fused.
enum class RunMode { Off, FoldOnly, Full };

/// Strict keeps every type; relaxed computes f64 that begins and ends in f32 in
/// compensated f32.
enum class Numerics { Strict, Relaxed };

struct RunOptions {
  std::string model;
  std::string entry = "main";
  std::string target = "cpu"; ///< what the plan is made for
  RunMode mode = RunMode::Full;
  Numerics numerics = Numerics::Strict; ///< of what is fused
  bool allowTf32 = false;               ///< factors of f32 products on a GPU
  unsigned threads = 1;
  std::vector<std::string> inputs; ///< .npy files, one per argument
  int64_t seed = 0;                ///< where there are no inputs
  std::string params;              ///< arguments that are frozen: 1- or 1,3-5
  bool compare = false;            ///< with the unfused program
  unsigned warmup = 3, repeat = 20;
  std::vector<std::string> sharedLibs;    ///< that the program calls into
  std::string json, profile, saveOutputs; ///< where to write; empty: nowhere
};

/// Registers every dialect that a model may use or the lowering needs.
void registerRunDialects(mlir::DialectRegistry &registry);

/// Runs the model and prints a table to `out`. Returns the exit status: 0; 1
/// after an error, which was reported on stderr, or where the fused values
/// differ from the unfused ones.
int runModel(const RunOptions &options, llvm::raw_ostream &out);

} // namespace fuse

#endif // FUSE_PIPELINE_RUN_H
