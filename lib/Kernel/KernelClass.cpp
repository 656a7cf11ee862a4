//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which class holds a group, and its best tile.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fuse;

void fuse::launch(TileCost &cost, double blocks, const Device &device) {
  cost.work.blocks = std::max(1.0, blocks);
  cost.work.threads = cost.tile.threads;
  cost.work.registers = cost.registers;
  cost.work.shared = cost.shared;
  cost.estimate = estimateKernel(device, cost.work);
}

/// Values that are live in the expansion of `op` besides argument and result.
static double valuesOf(Operation *op) {
  // Two polynomials and a part of an exponential each, selected from.
  if (isa<math::ErfOp, math::ErfcOp>(op))
    return 10;
  // A reduced argument, its scale, the polynomial and the special cases.
  if (isa<math::PowFOp, math::TanhOp, math::SinOp, math::CosOp, math::TanOp>(
          op))
    return 6;
  return isa<math::MathDialect>(op->getDialect()) ? 2 : 0;
}

double fuse::functionRegisters(const Group &group, const Device &device) {
  double most = 0;
  if (device.maxThreadsPerBlock == 1)
    return most;
  for (unsigned id : group.ops) {
    const GraphNode &node = group.node(id);
    if (node.transcendentals == 0)
      continue;
    double words = node.floatBits == 64 ? 2 : 1;
    for (Operation &op : *group.graph.op(id).getBlock())
      most = std::max(most, words * valuesOf(&op));
  }
  return most;
}

llvm::ArrayRef<const KernelClass *> fuse::kernelClasses() {
  static const KernelClass *const classes[] = {
      &pointwiseClass(), &rowClass(),   &contractionClass(), &windowClass(),
      &attentionClass(), &chainClass(), &siblingsClass()};
  return classes;
}

llvm::StringRef fuse::siblingsClassName() { return siblingsClass().name(); }
llvm::StringRef fuse::attentionClassName() { return attentionClass().name(); }
llvm::StringRef fuse::chainClassName() { return chainClass().name(); }

const KernelClass &fuse::classForRoles(llvm::ArrayRef<Role> roles) {
  const KernelClass *kernel = &pointwiseClass();
  if (size_t heavy = llvm::count_if(roles, isHeavy))
    return heavy == 1 ? contractionClass() : attentionClass();
  for (Role role : roles) {
    if (role == Role::Depthwise || role == Role::Window)
      kernel = &windowClass();
    else if (role == Role::Reduction && kernel == &pointwiseClass())
      kernel = &rowClass();
  }
  return *kernel;
}

/// The class for the group's heaviest operator, or for its parts.
static const KernelClass &candidate(const Group &group) {
  if (hasSiblings(group))
    return siblingsClass();
  llvm::SmallVector<Role> roles;
  for (unsigned id : group.ops)
    roles.push_back(group.node(id).role);
  const KernelClass &kernel = classForRoles(roles);
  auto hasRole = [&](std::initializer_list<Role> wanted) {
    return llvm::any_of(
        roles, [&](Role role) { return llvm::is_contained(wanted, role); });
  };
  bool windows = hasRole({Role::Depthwise, Role::Window});
  bool contracts = hasRole({Role::Contraction, Role::Convolution});
  bool reduces = hasRole({Role::Reduction});
  bool twice = !windows && !reduces && !hasRole({Role::Convolution}) &&
               llvm::count(roles, Role::Contraction) == 2;
  if (!contracts || !(windows || reduces || twice))
    return kernel;
  // Between two contractions a softmax makes an attention, all else a chain.
  bool chains = windows || twice || &kernel == &contractionClass();
  return chains && !stagesOf(group).empty() ? chainClass() : kernel;
}

const KernelClass *fuse::classify(const Group &group, Decision &refusal) {
  const KernelClass &kernel = candidate(group);
  std::optional<Decision> reason = kernel.match(group);
  if (!reason)
    return &kernel;
  refusal = std::move(*reason);
  return nullptr;
}

double fuse::parameterBytes(const Group &group, const Device &device) {
  const Traffic &traffic = trafficOf(group);
  bool gpu = device.maxThreadsPerBlock > 1;
  return gpu ? 8.0 * (traffic.inputs + traffic.outputs + traffic.extents) : 0;
}

Decision fuse::noTile(const KernelClass &kernel, const Group &group,
                      const Device &device, const TileCost &smallest,
                      const Limits &limits) {
  if (std::optional<Decision> refusal = kernel.refusedOn(group, device))
    return *refusal;
  double parameters = parameterBytes(group, device);
  if (parameters > kMostParameters)
    return Decision::keep(Reason::Parameters, "fewer inputs and results")
        .number("parameter_bytes", parameters)
        .number("parameter_limit", kMostParameters);
  return Decision::keep(Reason::NoTile, "raise register-limit or boundary")
      .number("registers", smallest.registers)
      .number("register_limit", limits.registers)
      .number("shared_bytes", smallest.shared)
      .number("shared_limit", limits.shared);
}

std::optional<TileCost> fuse::bestTile(const KernelClass &kernel,
                                       const Group &group, const Device &device,
                                       const Limits &limits,
                                       TileCost &smallest) {
  std::optional<TileCost> best;
  bool takes = parameterBytes(group, device) <= kMostParameters &&
               !kernel.refusedOn(group, device);
  for (const Tile &tile : kernel.tiles(group, device)) {
    smallest = kernel.cost(group, tile, device);
    bool fits = takes && smallest.registers <= limits.registers &&
                smallest.shared <= limits.shared &&
                blocksPerSm(device, smallest.tile.threads, smallest.registers,
                            smallest.shared) >= 1;
    if (fits && (!best || smallest.estimate.seconds < best->estimate.seconds))
      best = smallest;
  }
  return best;
}
