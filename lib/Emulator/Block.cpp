//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduler of a block: threads run as fibers until they wait.
//
// A warp runs as far as it can before the next one does, so that a missing
// barrier shows: the first warp goes first in blocks of even number, the last
// one in the others.
//
// A thread waits at a barrier or at an operation of its warp; whoever comes
// last does the operation and goes on, the others are made ready. When no
// thread is ready and some have not exited, that is a deadlock, and reported.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <cstring>

using namespace fuse::emulator;

/// Stack of a thread. Pages are taken when they are touched.
constexpr size_t stackBytes = 256 * 1024;

void Block::threadBody(void *argument) {
  auto *thread = static_cast<ThreadState *>(argument);
  while (true) {
    Block &block = *thread->block;
    block.plan->entry(thread, block.plan->params);
    --block.live;
    block.block(*thread, Wait::Exited, 0, 0);
  }
}

void Block::setUp(const LaunchPlan &launch) {
  plan = &launch;
  count = launch.block[0] * launch.block[1] * launch.block[2];
  while (threads.size() < count) {
    threads.push_back(std::make_unique<ThreadState>());
    fibers.push_back(
        std::make_unique<Fiber>(stackBytes, threadBody, threads.back().get()));
  }
  if (sharedCapacity < launch.sharedBytes || !shared) {
    sharedCapacity = llvm::alignTo(launch.sharedBytes + 1, 4096);
    shared.reset(
        static_cast<uint8_t *>(std::aligned_alloc(4096, sharedCapacity)));
  }
  sharedTable.clear();
  for (uint64_t offset : launch.sharedOffsets)
    sharedTable.push_back(shared.get() + offset);
  sites.assign(launch.sites, SiteRange());
  warps.assign(llvm::divideCeil(count, warpSize), Warp());
  for (uint32_t warp = 0; warp < warps.size(); ++warp)
    warps[warp].exists = llvm::maskTrailingOnes<uint32_t>(
        std::min(warpSize, count - warp * warpSize));
}

void Block::startThreads() {
  for (uint32_t index = 0; index < count; ++index) {
    ThreadState &thread = *threads[index];
    uint32_t rest = index;
    for (unsigned d = 0; d < 3; ++d) {
      thread.ntid[d] = plan->block[d];
      thread.nctaid[d] = plan->grid[d];
      thread.tid[d] = rest % plan->block[d];
      rest /= plan->block[d];
    }
    thread.lane = index % warpSize;
    thread.warp = index / warpSize;
    thread.warps = warps.size();
    thread.dynamicShared = plan->dynamicShared;
    thread.shared = shared.get();
    thread.sharedSize = plan->sharedBytes;
    thread.sharedTable = sharedTable.data();
    thread.sites = sites.data();
    thread.stackEnd = fibers[index]->stackEnd();
    thread.block = this;
    thread.index = index;
    thread.copies.clear();
    thread.groups.clear();
    makeReady(index);
  }
}

std::optional<std::string> Block::run(uint64_t index) {
  readyWarps = 0;
  ready.fill(0);
  paused.clear();
  isReversed = index % 2;
  live = count;
  // Not a number in every floating point type: a value that nothing wrote, or
  // not yet, shows.
  std::memset(shared.get(), 0xff, plan->sharedBytes);
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  startThreads();
  for (uint32_t at = 0; at < count; ++at) {
    uint64_t rest = index;
    for (unsigned d = 0; d < 3; ++d) {
      threads[at]->ctaid[d] = rest % plan->grid[d];
      rest /= plan->grid[d];
    }
  }
  while (live > 0 && !error) {
    if (readyWarps != 0)
      fibers[takeReady()]->resume();
    else if (!wakePaused() && !resolveActiveMasks())
      error = deadlock();
  }
  return error;
}

void Block::makeReady(uint32_t index) {
  threads[index]->wait = Wait::Nothing;
  ready[index / warpSize] |= 1u << index % warpSize;
  readyWarps |= 1u << index / warpSize;
}

uint32_t Block::takeReady() {
  auto first = [this](uint32_t bits) -> uint32_t {
    return isReversed ? 31 - llvm::countl_zero(bits) : llvm::countr_zero(bits);
  };
  uint32_t warp = first(readyWarps), lane = first(ready[warp]);
  ready[warp] &= ~(1u << lane);
  if (ready[warp] == 0)
    readyWarps &= ~(1u << warp);
  return warp * warpSize + lane;
}

bool Block::wakePaused() {
  for (uint32_t index : paused)
    makeReady(index);
  bool any = !paused.empty();
  paused.clear();
  return any;
}

void Block::block(ThreadState &thread, Wait wait, uint32_t id, uint32_t mask) {
  thread.wait = wait;
  thread.waitId = id;
  thread.waitMask = mask;
  fibers[thread.index]->yield();
}

void Block::pause(ThreadState &thread) {
  paused.push_back(thread.index);
  fibers[thread.index]->yield();
}

void Block::fail(ThreadState &thread, const std::string &what) {
  if (!error)
    error = place(thread) + ": " + what;
  while (true) // never resumed
    fibers[thread.index]->yield();
}

/// A barrier counts whole warps: the first lane of the last warp comes for the
/// lanes that it lacks.
static uint32_t weight(const ThreadState &thread, uint32_t exists) {
  return thread.lane == 0 ? 1 + warpSize - llvm::popcount(exists) : 1;
}

void Block::arrive(ThreadState &thread, const Arrival &arrival) {
  if (arrival.barrier >= barriers.size())
    fail(thread, "barrier " + std::to_string(arrival.barrier) +
                     " does not exist, a block has 16");
  if (arrival.count % warpSize != 0)
    fail(thread, "barrier " + std::to_string(arrival.barrier) + " waits for " +
                     std::to_string(arrival.count) +
                     " threads, expected a multiple of 32");
  Barrier &barrier = barriers[arrival.barrier];
  uint32_t count = arrival.count ? arrival.count : warps.size() * warpSize;
  if (barrier.arrived > 0 && barrier.count != count)
    fail(thread, "barrier " + std::to_string(arrival.barrier) + " waits for " +
                     std::to_string(count) + " threads here and for " +
                     std::to_string(barrier.count) + " elsewhere");
  barrier.count = count;
  if (arrival.aligned) {
    uint32_t &site = barrier.siteOfWarp[thread.warp];
    if (site != 0 && site != arrival.site + 1)
      fail(thread, "barrier " + std::to_string(arrival.barrier) +
                       " is reached by the threads of one warp at different "
                       "instructions");
    site = arrival.site + 1;
  }
  barrier.arrived += weight(thread, warps[thread.warp].exists);
  barrier.votes += arrival.vote;
  barrier.voters += 1;
  if (arrival.waits)
    barrier.waiting.push_back(thread.index);
  if (barrier.arrived >= barrier.count) {
    complete(barrier);
    // In line behind those that came before: threads stay in order.
    if (arrival.waits)
      fibers[thread.index]->yield();
  } else if (arrival.waits) {
    block(thread, Wait::Barrier, arrival.barrier, 0);
  }
}

void Block::complete(Barrier &barrier) {
  for (uint32_t index : barrier.waiting) {
    threads[index]->result = barrier.votes | barrier.voters << 16;
    makeReady(index);
  }
  barrier.waiting.clear();
  barrier.arrived = barrier.votes = barrier.voters = 0;
  barrier.siteOfWarp.fill(0);
}

void Block::warpOp(ThreadState &thread, uint32_t op, uint32_t mask,
                   uint32_t site, uint32_t *words) {
  Warp &warp = warps[thread.warp];
  mask &= warp.exists; // lanes that the last warp lacks take no part
  if (!(mask >> thread.lane & 1))
    fail(thread, nameOf(op) + " by a thread that is not in its member mask");
  bool isAligned = op >= LoadMatrix;
  if (isAligned && warp.exists != ~0u)
    fail(thread, nameOf(op) + " in a warp of " +
                     std::to_string(llvm::popcount(warp.exists)) +
                     " threads, expected 32");
  size_t at = 0;
  while (at < warp.open.size() &&
         (warp.open[at].op != op || warp.open[at].mask != mask ||
          (warp.open[at].arrived >> thread.lane & 1) ||
          (op == ActiveMask && warp.open[at].site != site)))
    ++at;
  if (at == warp.open.size())
    warp.open.push_back({op, mask, site});
  Collective &group = warp.open[at];
  if (isAligned && group.site != site)
    fail(thread, nameOf(op) + " is reached by the threads of one warp at "
                              "different instructions");
  group.lanes[thread.lane] = words;
  group.arrived |= 1u << thread.lane;
  if (group.arrived == mask)
    return completeWarp(warp, at, thread.warp, thread.lane);
  block(thread, op == ActiveMask ? Wait::ActiveMask : Wait::Warp, op, mask);
}

/// Does an open operation for the lanes that came, and makes them ready but
/// for `current`, which runs.
void Block::completeWarp(Warp &warp, size_t at, uint32_t warpIndex,
                         uint32_t current) {
  Collective group = warp.open[at];
  warp.open.erase(warp.open.begin() + at);
  runWarpOp(group.op, group.arrived, group.lanes);
  for (uint32_t rest = group.arrived; rest; rest &= rest - 1) {
    uint32_t lane = llvm::countr_zero(rest);
    if (lane != current)
      makeReady(warpIndex * warpSize + lane);
  }
}

/// activemask gives the lanes that reach it together: those that have come
/// when nothing else can run.
bool Block::resolveActiveMasks() {
  for (uint32_t index = 0; index < warps.size(); ++index)
    for (size_t at = 0; at < warps[index].open.size(); ++at)
      if (warps[index].open[at].op == ActiveMask) {
        completeWarp(warps[index], at, index, warpSize);
        return true;
      }
  return false;
}
