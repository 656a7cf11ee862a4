//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures multiply-adds in registers, and loops that read and that write
// memory, for the widest vectors of this CPU.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/Limits.h"
#include "fuse/Runtime/Program.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <thread>

using namespace fuse;

namespace {
/// 16 lanes; the compiler splits it where vectors are narrower.
typedef float Lanes __attribute__((vector_size(64)));

constexpr unsigned kChains = 12, kLanes = 16; ///< hide the FMA's latency
/// Least time of a measurement, and how often it is repeated: the best counts.
constexpr double kSeconds = 5e-4;
constexpr unsigned kRounds = 3;
} // namespace

// The same loops for each width of vectors.
#define FUSE_LOOPS(NAME, ATTRIBUTES)                                           \
  ATTRIBUTES static float multiplyAdd##NAME(unsigned steps) {                  \
    Lanes sums[kChains] = {};                                                  \
    Lanes factor = Lanes{} + 0.5f, term = Lanes{} + 1.0f;                      \
    for (unsigned step = 0; step < steps; ++step) {                            \
      _Pragma("clang loop unroll(full)") for (Lanes &sum : sums) sum =         \
          sum * factor + term;                                                 \
    }                                                                          \
    Lanes total = {};                                                          \
    for (Lanes &sum : sums)                                                    \
      total += sum;                                                            \
    return total[0];                                                           \
  }                                                                            \
  ATTRIBUTES static float read##NAME(const Lanes *from, size_t count) {        \
    Lanes sums[4] = {};                                                        \
    for (size_t i = 0; i + 4 <= count; i += 4)                                 \
      for (unsigned lane = 0; lane < 4; ++lane)                                \
        sums[lane] += from[i + lane];                                          \
    return (sums[0] + sums[1] + sums[2] + sums[3])[0];                         \
  }                                                                            \
  ATTRIBUTES static void triad##NAME(Lanes *to, const Lanes *a,                \
                                     const Lanes *b, size_t count) {           \
    Lanes factor = Lanes{} + 0.5f;                                             \
    for (size_t i = 0; i < count; ++i)                                         \
      to[i] = a[i] + factor * b[i];                                            \
  }

FUSE_LOOPS(Plain, )
#ifdef __x86_64__
FUSE_LOOPS(Avx2, __attribute__((target("avx2,fma"))))
FUSE_LOOPS(Avx512, __attribute__((target("avx512f"))))
#endif

namespace {
struct Loops {
  float (*multiplyAdd)(unsigned) = multiplyAddPlain;
  float (*read)(const Lanes *, size_t) = readPlain;
  void (*triad)(Lanes *, const Lanes *, const Lanes *, size_t) = triadPlain;
};
} // namespace

static Loops loopsOfThisCpu() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return {multiplyAddAvx512, readAvx512, triadAvx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiplyAddAvx2, readAvx2, triadAvx2};
#endif
  return {};
}

/// Keeps the compiler from dropping what nobody reads.
static void keep(float value) {
  [[maybe_unused]] static volatile float sink;
  sink = value;
}

/// Calls of `body` per second on one thread.
template <typename Body> static double rateOf(Body body) {
  double best = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    double start = now(), taken = 0;
    unsigned calls = 0;
    do {
      body();
      ++calls;
      taken = now() - start;
    } while (taken < kSeconds);
    best = std::max(best, calls / taken);
  }
  return best;
}

/// Sum of the rates of `threads` that run `body(thread)` at once.
template <typename Body> static double rateOf(unsigned threads, Body body) {
  std::vector<double> rates(threads);
  std::vector<std::thread> workers;
  for (unsigned thread = 1; thread < threads; ++thread)
    workers.emplace_back(
        [&, thread] { rates[thread] = rateOf([&] { body(thread); }); });
  rates[0] = rateOf([&] { body(0u); });
  for (std::thread &worker : workers)
    worker.join();
  double sum = 0;
  for (double rate : rates)
    sum += rate;
  return sum;
}

double Limits::bandwidthFor(double bytes) const {
  if (bandwidth.empty())
    return 0;
  auto after = std::find_if(bandwidth.begin(), bandwidth.end(),
                            [&](auto &entry) { return entry.first >= bytes; });
  if (after == bandwidth.begin())
    return after->second;
  if (after == bandwidth.end())
    return bandwidth.back().second;
  auto before = after - 1;
  double part =
      std::log(bytes / before->first) / std::log(after->first / before->first);
  return before->second + part * (after->second - before->second);
}

double Limits::bound(double bytes, double work) const {
  double rate = bandwidthFor(bytes);
  return std::max(rate > 0 ? bytes / rate : 0, flops > 0 ? work / flops : 0);
}

Limits Limits::measure(unsigned threads) {
  constexpr unsigned steps = 2048;
  constexpr size_t smallest = 16 << 10, largest = 64 << 20, factor = 4;
  Loops loops = loopsOfThisCpu();
  Limits limits;
  limits.flops =
      rateOf(threads, [&](unsigned) { keep(loops.multiplyAdd(steps)); }) * 2.0 *
      steps * kChains * kLanes;
  std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(64, largest), &std::free);
  auto *data = static_cast<Lanes *>(memory.get());
  if (!data)
    return limits;
  std::fill_n(reinterpret_cast<float *>(data), largest / sizeof(float), 1.0f);
  for (size_t bytes = smallest; bytes <= largest; bytes *= factor) {
    // Each thread has its part, of three arrays.
    size_t part = bytes / threads / sizeof(Lanes), third = part / 3;
    double read = rateOf(threads, [&](unsigned thread) {
      keep(loops.read(data + part * thread, part));
    });
    double write = rateOf(threads, [&](unsigned thread) {
      Lanes *own = data + part * thread;
      loops.triad(own, own + third, own + 2 * third, third);
    });
    double rate = std::max(read * double(part), write * 3.0 * double(third)) *
                  sizeof(Lanes);
    // What is measured for less data holds for more, if that seems faster.
    if (!limits.bandwidth.empty())
      rate = std::min(rate, limits.bandwidth.back().second);
    limits.bandwidth.emplace_back(double(bytes), rate);
  }
  return limits;
}
