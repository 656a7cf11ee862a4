//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a model on the CPU, fused, and measures it.
//
//===----------------------------------------------------------------------===//

#include "fuse/Pipeline/Run.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;

namespace {
/// The command line; local to main, so that no library sees its options.
struct Options {
  cl::OptionCategory category{"fuse-run"};
  cl::opt<std::string> model{cl::Positional, cl::Required,
                             cl::desc("MODEL.mlir"), cl::cat(category)};
  cl::opt<std::string> entry{"entry", cl::desc("function to run"),
                             cl::init("main"), cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("device that the plan is made for (default: cpu; x86-avx2 and "
               "x86-avx512 also limit the code), or "
               "emulator, cuda for a program with GPU kernels "
               "(emulator:sm_90)"),
      cl::init("cpu"), cl::cat(category)};
  cl::opt<fuse::RunMode> mode{
      "mode", cl::desc("how much is fused"),
      cl::values(clEnumValN(fuse::RunMode::Off, "off", "nothing"),
                 clEnumValN(fuse::RunMode::FoldOnly, "fold-only",
                            "batch normalisation into weights only"),
                 clEnumValN(fuse::RunMode::Full, "full", "all that pays")),
      cl::init(fuse::RunMode::Full), cl::cat(category)};
  cl::opt<fuse::Numerics> numerics{
      "numerics", cl::desc("f64 that begins and ends in f32"),
      cl::values(clEnumValN(fuse::Numerics::Strict, "strict", "stays f64"),
                 clEnumValN(fuse::Numerics::Relaxed, "relaxed",
                            "is compensated f32 in what is fused")),
      cl::init(fuse::Numerics::Strict), cl::cat(category)};
  cl::opt<bool> allowTf32{
      "allow-tf32",
      cl::desc("factors of f32 products may be rounded to tf32 on a GPU"),
      cl::cat(category)};
  cl::opt<unsigned> threads{"threads", cl::desc("threads of a kernel"),
                            cl::init(1), cl::cat(category)};
  cl::list<std::string> inputs{"inputs", cl::CommaSeparated,
                               cl::desc("one .npy file per argument"),
                               cl::cat(category)};
  cl::opt<int64_t> seed{"seed", cl::desc("seed of the inputs' values"),
                        cl::init(0), cl::cat(category)};
  cl::opt<std::string> params{
      "params", cl::desc("arguments that are frozen, such as 1- or 1,3-5"),
      cl::cat(category)};
  cl::opt<bool> compare{"compare", cl::desc("run the unfused program too"),
                        cl::cat(category)};
  cl::opt<unsigned> warmup{"warmup", cl::desc("runs before measuring"),
                           cl::init(3), cl::cat(category)};
  cl::opt<unsigned> repeat{
      "repeat", cl::desc("measured runs (0: run once, measure nothing)"),
      cl::init(20), cl::cat(category)};
  cl::opt<std::string> json{"json", cl::desc("write the numbers to this file"),
                            cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<std::string> profile{"profile",
                               cl::desc("add the kernels' times to this file"),
                               cl::value_desc("FILE"), cl::cat(category)};
  cl::opt<std::string> saveOutputs{"save-outputs",
                                   cl::desc("write results as .npy into DIR"),
                                   cl::value_desc("DIR"), cl::cat(category)};

  cl::list<std::string> sharedLibs{
      "shared-libs", cl::CommaSeparated,
      cl::desc("libraries with functions that the program calls"),
      cl::cat(category)};

  fuse::RunOptions get() const {
    fuse::RunOptions options;
    options.model = model;
    options.entry = entry;
    options.target = target;
    options.mode = mode;
    options.numerics = numerics;
    options.allowTf32 = allowTf32;
    options.threads = std::max(1u, threads.getValue());
    options.inputs = {inputs.begin(), inputs.end()};
    options.seed = seed;
    options.params = params;
    options.compare = compare;
    options.warmup = warmup;
    options.repeat = repeat;
    options.json = json;
    options.profile = profile;
    options.saveOutputs = saveOutputs;
    options.sharedLibs = {sharedLibs.begin(), sharedLibs.end()};
    return options;
  }
};
} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  // The options of LLVM's libraries go: some have the names of ours.
  cl::ResetCommandLineParser();
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(argc, argv, "fuse-run: run a model, fused\n");
  return fuse::runModel(options.get(), outs());
}
