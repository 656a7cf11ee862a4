//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilation by ORC through MLIR's execution engine, and calls through the C
// interface: a tensor is passed as a pointer to {allocated, aligned, offset,
// sizes..., strides...}.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/Program.h"
#include "fuse/Runtime/Memory.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace fuse;

double fuse::now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

KernelTimes &fuse::kernelTimes() {
  static KernelTimes times;
  return times;
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

static double kernelStart = 0;

static void kernelBegin(int64_t) { kernelStart = now(); }

static void kernelEnd(int64_t number) {
  double seconds = now() - kernelStart;
  KernelTimes &times = kernelTimes();
  if (uint64_t(number) < times.seconds.size())
    times.seconds[number] += seconds;
}

static void *allocate(size_t bytes) { return programMemory().allocate(bytes); }

static void *allocateAligned(size_t, size_t bytes) {
  return programMemory().allocate(bytes);
}

static void deallocate(void *pointer) { programMemory().release(pointer); }

static orc::SymbolMap symbols(orc::MangleAndInterner interner) {
  orc::SymbolMap map;
  auto add = [&](StringRef name, auto *function) {
    map[interner(name)] = {orc::ExecutorAddr::fromPtr(function),
                           JITSymbolFlags::Exported};
  };
  add("fuse_kernel_begin", &kernelBegin);
  add("fuse_kernel_end", &kernelEnd);
  add("_mlir_memref_to_llvm_alloc", &allocate);
  add("_mlir_memref_to_llvm_aligned_alloc", &allocateAligned);
  add("_mlir_memref_to_llvm_free", &deallocate);
  return map;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Expected<ValueType> ValueType::of(mlir::Type type) {
  ValueType result;
  mlir::Type element = type;
  if (auto shaped = dyn_cast<mlir::RankedTensorType>(type)) {
    if (shaped.getEncoding())
      return createStringError("tensors with an encoding are not supported");
    result.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
    element = shaped.getElementType();
  } else if (auto memref = dyn_cast<mlir::MemRefType>(type);
             memref && memref.getLayout().isIdentity()) {
    result.shape.assign(memref.getShape().begin(), memref.getShape().end());
    element = memref.getElementType();
  } else {
    result.isScalar = true;
  }
  Expected<ElementType> known = elementTypeOf(element);
  if (!known)
    return known.takeError();
  result.element = *known;
  return result;
}

bool ValueType::accepts(const HostTensor &tensor) const {
  return tensor.type() == element && tensor.shape().size() == shape.size() &&
         llvm::all_of(llvm::zip(shape, tensor.shape()), [](auto pair) {
           auto [wanted, found] = pair;
           return mlir::ShapedType::isDynamic(wanted) || wanted == found;
         });
}

std::string ValueType::str() const {
  std::string text;
  for (int64_t extent : shape)
    text +=
        (mlir::ShapedType::isDynamic(extent) ? "?" : std::to_string(extent)) +
        "x";
  return text + stringifyElementType(element).str();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

Program::Program() = default;
Program::~Program() = default;

Expected<std::unique_ptr<Program>>
Program::compile(mlir::ModuleOp module, unsigned optLevel,
                 ArrayRef<std::string> sharedLibs) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(CodeGenOptLevel::Default);
  auto machine = builder->createTargetMachine();
  auto forOptimizer = builder->createTargetMachine();
  if (!machine || !forOptimizer)
    return joinErrors(machine ? Error::success() : machine.takeError(),
                      forOptimizer ? Error::success()
                                   : forOptimizer.takeError());
  auto optimize = mlir::makeOptimizingTransformer(optLevel, /*sizeLevel=*/0,
                                                  forOptimizer->get());
  mlir::ExecutionEngineOptions options;
  options.transformer = optimize;
  SmallVector<StringRef> libraries(sharedLibs.begin(), sharedLibs.end());
  options.sharedLibPaths = libraries;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine =
      mlir::ExecutionEngine::create(module, options, std::move(*machine));
  if (!engine)
    return engine.takeError();
  (*engine)->registerSymbols(symbols);
  std::unique_ptr<Program> program(new Program);
  program->engine = std::move(*engine);
  return std::move(program);
}

void Program::initialize() { engine->initialize(); }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// {allocated, aligned, offset, sizes..., strides...} of a row-major tensor
/// whose elements are at `data`.
static std::vector<int64_t> descriptorOf(const HostTensor &tensor, void *data) {
  int64_t address = int64_t(reinterpret_cast<intptr_t>(data));
  std::vector<int64_t> words{address, address, 0};
  words.insert(words.end(), tensor.shape().begin(), tensor.shape().end());
  size_t rank = tensor.shape().size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t dim = rank; dim-- > 1;)
    strides[dim - 1] = strides[dim] * tensor.shape()[dim];
  words.insert(words.end(), strides.begin(), strides.end());
  return words;
}

/// Words that a result takes in the returned struct. Scalars take up to one;
/// their place is found by alignment.
static size_t resultBytes(const ValueType &type) {
  return type.isScalar ? bytesOf(type.element)
                       : 8 * (3 + 2 * type.shape.size());
}

static size_t resultAlignment(const ValueType &type) {
  return type.isScalar ? bytesOf(type.element) : 8;
}

Expected<std::unique_ptr<Program::Call>>
Program::prepare(StringRef name, const Signature &signature,
                 ArrayRef<HostTensor *> arguments) {
  auto found = engine->lookupPacked(("_mlir_ciface_" + name).str());
  if (!found)
    return found.takeError();
  auto call = std::make_unique<Call>();
  call->function = *found;
  call->signature = signature;
  call->arguments = arguments.vec();
  call->device = device;
  call->sendArguments();
  size_t offset = 0;
  for (const ValueType &type : signature.results)
    offset = alignTo(offset, resultAlignment(type)) + resultBytes(type);
  call->resultStorage.assign(offset / 8 + 1, 0);
  call->resultPointer = call->resultStorage.data();
  for (auto [number, argument] : llvm::enumerate(arguments))
    call->descriptors.push_back(
        signature.arguments[number].isScalar
            ? std::vector<int64_t>()
            : descriptorOf(*argument,
                           device ? call->sent[number] : argument->data()));
  // A lone scalar comes back by value, everything else through a pointer that
  // goes first.
  bool byValue = signature.results.size() == 1 && signature.results[0].isScalar;
  call->pointers.reserve(arguments.size());
  if (!signature.results.empty() && !byValue)
    call->packed.push_back(&call->resultPointer);
  for (size_t i = 0; i < arguments.size(); ++i) {
    call->pointers.push_back(call->descriptors[i].data());
    call->packed.push_back(signature.arguments[i].isScalar
                               ? arguments[i]->data()
                               : &call->pointers.back());
  }
  if (byValue)
    call->packed.push_back(call->resultPointer);
  return std::move(call);
}

void Program::Call::sendArguments() {
  if (!device)
    return;
  for (auto [argument, type] :
       llvm::zip_equal(arguments, signature.arguments)) {
    sent.push_back(type.isScalar ? nullptr
                                 : device->allocate(argument->bytes()));
    if (!type.isScalar)
      device->copy(sent.back(), argument->data(), argument->bytes());
  }
}

void Program::Call::fetchArguments() const {
  for (auto [argument, memory] : llvm::zip(arguments, sent))
    if (memory)
      device->copy(argument->data(), memory, argument->bytes());
}

Program::Call::~Call() {
  release();
  for (void *memory : sent)
    device->release(memory);
}

void Program::Call::run() {
  release();
  function(packed.data());
  hasResults = true;
}

void Program::Call::release() {
  if (!hasResults)
    return;
  hasResults = false;
  size_t offset = 0;
  const char *base = reinterpret_cast<const char *>(resultStorage.data());
  // A result may be an argument, or another result.
  SmallPtrSet<void *, 8> kept(sent.begin(), sent.end());
  for (const ValueType &type : signature.results) {
    offset = alignTo(offset, resultAlignment(type));
    if (!type.isScalar) {
      void *allocated;
      std::memcpy(&allocated, base + offset, sizeof(allocated));
      if (!device)
        programMemory().release(allocated);
      else if (kept.insert(allocated).second)
        device->release(allocated);
    }
    offset += resultBytes(type);
  }
}

/// Copies the elements that a descriptor describes, in row-major order.
static HostTensor gather(const int64_t *words, const ValueType &type) {
  size_t rank = type.shape.size();
  ArrayRef<int64_t> sizes(words + 3, rank), strides(words + 3 + rank, rank);
  HostTensor tensor(type.element, sizes);
  size_t bytes = bytesOf(type.element);
  const char *from =
      reinterpret_cast<const char *>(words[1]) + words[2] * int64_t(bytes);
  char *to = static_cast<char *>(tensor.data());
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0, count = tensor.elements(); i < count; ++i) {
    std::memcpy(to + i * bytes, from, bytes);
    for (size_t dim = rank; dim-- > 0;) {
      from += strides[dim] * int64_t(bytes);
      if (++index[dim] < sizes[dim])
        break;
      from -= strides[dim] * sizes[dim] * int64_t(bytes);
      index[dim] = 0;
    }
  }
  return tensor;
}

/// A result, which is row-major on the device.
HostTensor Program::Call::fetch(const int64_t *words,
                                const ValueType &type) const {
  if (!device)
    return gather(words, type);
  ArrayRef<int64_t> sizes(words + 3, type.shape.size());
  HostTensor tensor(type.element, sizes);
  const char *from = reinterpret_cast<const char *>(words[1]) +
                     words[2] * int64_t(bytesOf(type.element));
  device->copy(tensor.data(), from, tensor.bytes());
  return tensor;
}

std::vector<HostTensor> Program::Call::results() const {
  std::vector<HostTensor> tensors;
  size_t offset = 0;
  const char *base = reinterpret_cast<const char *>(resultStorage.data());
  for (const ValueType &type : signature.results) {
    offset = alignTo(offset, resultAlignment(type));
    if (type.isScalar) {
      tensors.emplace_back(type.element, ArrayRef<int64_t>());
      std::memcpy(tensors.back().data(), base + offset, bytesOf(type.element));
    } else {
      tensors.push_back(
          fetch(reinterpret_cast<const int64_t *>(base + offset), type));
    }
    offset += resultBytes(type);
  }
  return tensors;
}
