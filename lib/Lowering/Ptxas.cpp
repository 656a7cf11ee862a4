//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds ptxas, runs it and reads what it prints:
//
//   ptxas info    : Compiling entry function 'k' for 'sm_80'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 8 registers, used 0 barriers, 128 bytes smem, ...
//
//===----------------------------------------------------------------------===//

#include "Ptxas.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace fuse;

using Path = SmallString<128>;

static Path inFolder(StringRef directory, ArrayRef<StringRef> parts) {
  Path path(directory);
  for (StringRef part : parts)
    sys::path::append(path, part);
  return path;
}

/// Directories in `directory` whose names begin with `prefix`, in order.
static std::vector<std::string> childrenOf(StringRef directory,
                                           StringRef prefix) {
  std::vector<std::string> children;
  std::error_code error;
  for (sys::fs::directory_iterator it(directory, error), end;
       !error && it != end; it.increment(error))
    if (sys::path::filename(it->path()).starts_with(prefix))
      children.push_back(it->path());
  llvm::sort(children);
  return children;
}

static std::optional<std::string> executable(const Path &path) {
  if (sys::fs::can_execute(path))
    return path.str().str();
  return std::nullopt;
}

/// In a folder of Python packages: nvidia/cu13/bin or nvidia/cuda_nvcc/bin.
static std::optional<std::string> findInPackages(StringRef directory) {
  for (StringRef folder : childrenOf(inFolder(directory, {"nvidia"}), "cu"))
    if (auto found = executable(inFolder(folder, {"bin", "ptxas"})))
      return found;
  return std::nullopt;
}

/// In the packages of a Python that is installed in `prefix`.
static std::optional<std::string> findInPrefix(StringRef prefix) {
  for (StringRef python : childrenOf(inFolder(prefix, {"lib"}), "python3"))
    for (StringRef packages : {"site-packages", "dist-packages"})
      if (auto found = findInPackages(inFolder(python, {packages})))
        return found;
  return std::nullopt;
}

static std::optional<std::string> findInPython() {
  if (auto path = sys::Process::GetEnv("PYTHONPATH")) {
    SmallVector<StringRef> directories;
    StringRef(*path).split(directories, ':');
    for (StringRef directory : directories)
      if (auto found = findInPackages(directory))
        return found;
  }
  std::vector<std::string> prefixes;
  if (auto environment = sys::Process::GetEnv("VIRTUAL_ENV"))
    prefixes.push_back(*environment);
  if (auto home = sys::Process::GetEnv("HOME"))
    prefixes.push_back(inFolder(*home, {".local"}).str().str());
  if (ErrorOr<std::string> python = sys::findProgramByName("python3")) {
    prefixes.push_back(
        sys::path::parent_path(sys::path::parent_path(*python)).str());
    // Where the system's Python installs to.
    if (prefixes.back() == "/usr")
      prefixes.push_back("/usr/local");
  }
  for (const std::string &prefix : prefixes)
    if (auto found = findInPrefix(prefix))
      return found;
  return std::nullopt;
}

std::optional<std::string> fuse::findPtxas() {
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto toolkit = sys::Process::GetEnv(variable))
      if (auto found = executable(inFolder(*toolkit, {"bin", "ptxas"})))
        return found;
  return findInPython();
}

//===----------------------------------------------------------------------===//
// What it prints
//===----------------------------------------------------------------------===//

/// The number before `unit` in `line`; 0 if it has none.
static int64_t numberBefore(StringRef line, StringRef unit) {
  StringRef before = line.take_front(line.find(unit));
  if (before.size() == line.size())
    return 0;
  int64_t number = 0;
  before = before.rtrim();
  before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1))
      .getAsInteger(10, number);
  return number;
}

static std::vector<KernelResources> readResources(StringRef log) {
  std::vector<KernelResources> kernels;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    auto [before, name] = line.split("Compiling entry function '");
    if (!name.empty()) {
      kernels.emplace_back();
      kernels.back().kernel = name.split('\'').first.str();
    }
    if (kernels.empty())
      continue;
    KernelResources &last = kernels.back();
    if (line.contains("bytes stack frame")) {
      last.stack = numberBefore(line, " bytes stack frame");
      last.spillStores = numberBefore(line, " bytes spill stores");
      last.spillLoads = numberBefore(line, " bytes spill loads");
    }
    if (line.contains(": Used ")) {
      last.registers = numberBefore(line, " registers");
      last.shared = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

namespace {
/// A file that goes with this object.
struct Scratch {
  Path path;
  Error create(StringRef suffix) {
    if (std::error_code error =
            sys::fs::createTemporaryFile("fuse", suffix, path))
      return createStringError("cannot make a temporary file: " +
                               error.message());
    return Error::success();
  }
  Expected<std::string> read() const {
    auto buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return createStringError("cannot read " + path + ": " +
                               buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }
  ~Scratch() {
    if (!path.empty())
      sys::fs::remove(path);
  }
};
} // namespace

/// The kernel that the first "line 12;" of the log is in, as "kernel 'k': ".
static std::string kernelOf(StringRef log, StringRef ptx) {
  unsigned line = 0;
  StringRef number = log.split(", line ").second;
  if (number.consumeInteger(10, line))
    return "";
  SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  for (unsigned i = std::min<size_t>(line, lines.size()); i-- > 0;)
    if (StringRef name = lines[i].split(".entry ").second; !name.empty())
      return ("kernel '" + name.split('(').first + "': ").str();
  return "";
}

Expected<AssembledModule> fuse::runPtxas(StringRef ptxas, StringRef ptx,
                                         StringRef chip) {
  Scratch input, output, log;
  for (auto [scratch, suffix] :
       {std::pair{&input, "ptx"}, {&output, "cubin"}, {&log, "log"}})
    if (Error error = scratch->create(suffix))
      return std::move(error);
  if (Error error = writeToOutput(input.path, [&](raw_ostream &out) {
        out << ptx;
        return Error::success();
      }))
    return std::move(error);
  std::string gpu = ("--gpu-name=" + chip).str(), message;
  StringRef arguments[] = {ptxas, "-v", gpu, input.path, "-o", output.path};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log.path),
                                          StringRef(log.path)};
  int status =
      sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  Expected<std::string> printed = log.read();
  if (!printed)
    return printed.takeError();
  if (status != 0)
    return createStringError(kernelOf(*printed, ptx) +
                             "ptxas failed with status " + Twine(status) +
                             ": " + message + StringRef(*printed).trim());
  Expected<std::string> binary = output.read();
  if (!binary)
    return binary.takeError();
  return AssembledModule{std::move(*binary), readResources(*printed)};
}
