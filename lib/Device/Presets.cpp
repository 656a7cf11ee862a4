//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device presets: named public products, each number with its public source.
//
//===----------------------------------------------------------------------===//

#include "Presets.h"

using namespace fuse;

/// NVIDIA A100-SXM4-40GB.
/// [1] "NVIDIA A100 Tensor Core GPU Architecture" white paper: peak
///     rates, memory size and bandwidth, L2, SM count.
/// [2] "CUDA C++ Programming Guide", Compute Capabilities, "Technical
///     Specifications per Compute Capability": shared memory, registers,
///     threads, blocks, warp size; "Arithmetic Instructions": 16 results a
///     clock per SM of the special function units.
/// [3] NVIDIA developer blog "Getting Started with CUDA Graphs": on a V100
///     3.8 us per kernel of which 2.9 us run, so 0.9 us between overlapped
///     launches in one stream; taken for all.
static Device sm80() {
  Device d;
  d.name = "sm_80";
  d.peakF32 = 19.5e12;             // [1]
  d.peakF64 = 9.7e12;              // [1]
  d.peakF16 = 78e12;               // [1]
  d.tensorF16 = 312e12;            // [1]
  d.tensorTf32 = 156e12;           // [1]
  d.bandwidth = 1555e9;            // [1]
  d.launch = 0.9e-6;               // [3]
  d.memory = 40e9;                 // [1]
  d.cache = 40.0 * 1024 * 1024;    // [1]
  d.sharedPerBlock = 163.0 * 1024; // [2]
  d.sharedPerSm = 164.0 * 1024;    // [2]
  d.registersPerThread = 255;      // [2]
  d.registersPerSm = 65536;        // [2]
  d.smCount = 108;                 // [1]
  d.maxThreadsPerSm = 2048;        // [2]
  d.maxThreadsPerBlock = 1024;     // [2]
  d.warpSize = 32;                 // [2]
  d.maxBlocksPerSm = 32;           // [2]
  d.special = 16.0 * 108 * 1.41e9; // [2]
  d.sharedBandwidth =
      128.0 * 108 * 1.41e9; // 128 B a clock per SM at 1.41 GHz [1]
  return d;
}

/// NVIDIA H100-SXM5-80GB.
/// [1] "NVIDIA H100 Tensor Core GPU Architecture" white paper, table 3 (rates
///     without sparsity). [2], [3]: as for sm_80.
static Device sm90() {
  Device d = sm80();
  d.name = "sm_90";
  d.peakF32 = 66.9e12;             // [1]
  d.peakF64 = 33.5e12;             // [1]
  d.peakF16 = 133.8e12;            // [1]
  d.tensorF16 = 989.4e12;          // [1]
  d.tensorTf32 = 494.7e12;         // [1]
  d.bandwidth = 3352e9;            // [1]
  d.memory = 80e9;                 // [1]
  d.cache = 50.0 * 1024 * 1024;    // [1]
  d.sharedPerBlock = 227.0 * 1024; // [2]
  d.sharedPerSm = 228.0 * 1024;    // [2]
  d.smCount = 132;                 // [1]
  d.special = 16.0 * 132 * 1.98e9; // [2]
  d.sharedBandwidth =
      128.0 * 132 * 1.98e9; // 128 B a clock per SM at 1.98 GHz [1]
  return d;
}

/// One socket of Intel Xeon Platinum 8380 (Ice Lake).
/// [1] Intel ARK, Xeon Platinum 8380: 40 cores, 2.3 GHz base, 60 MB L3, 8
///     channels of DDR4-3200, 2 AVX-512 FMA units.
/// [2] Intel 64 and IA-32 Architectures Optimization Reference Manual, Ice Lake
///     server: 1.25 MB L2 per core; 32 vector registers of 512 bit.
/// Derived: peak = cores * GHz * units * lanes * 2; bandwidth = 8 * 8 B * 3.2
/// GT/s.
static Device avx512() {
  Device d;
  d.name = "x86-avx512";
  d.peakF32 = 40 * 2.3e9 * 2 * 16 * 2; // [1]
  d.peakF64 = d.peakF32 / 2;
  d.peakF16 = d.peakF32;   // f16 is computed in f32 before AVX512-FP16
  d.tensorF16 = d.peakF32; // no tensor unit
  d.tensorTf32 = d.peakF32;
  d.bandwidth = 8 * 8 * 3.2e9; // [1]
  d.launch =
      2e-6; // an OpenMP fork-join; EPCC OpenMP micro-benchmarks, PARALLEL
  d.memory = 256e9;                 // 8 x 32 GB, the common configuration
  d.cache = 60.0 * 1024 * 1024;     // [1]
  d.sharedPerBlock = 1280.0 * 1024; // [2]
  d.sharedPerSm = 1280.0 * 1024;    // [2]
  d.registersPerThread = 32;        // [2]
  d.registersPerSm = 32;            // [2]
  d.maxBlocksPerSm = 1;             // one worker per core
  d.special = d.peakF32 / 16;       // a polynomial of about eight FMAs
  d.smCount = 40;                   // [1]
  d.maxThreadsPerSm = 1;            // one worker per core
  d.maxThreadsPerBlock = 1;
  d.warpSize = 16;                        // [2]
  d.sharedBandwidth = 128.0 * 40 * 2.3e9; // two 64 B loads a clock [2]
  return d;
}

/// NVIDIA T4.
/// [1] "NVIDIA Turing GPU Architecture" white paper, appendix on T4: peak
/// rates,
///     16 GB GDDR6 at 320 GB/s, 40 SMs, 4 MB L2. [2], [3]: as for sm_80. No
///     tf32: f32 contractions run on the vector units.
static Device sm75() {
  Device d = sm80();
  d.name = "sm_75";
  d.peakF32 = 8.1e12;      // [1]
  d.peakF64 = 8.1e12 / 32; // [1] one f64 unit for 32 f32 units
  d.peakF16 = 16.2e12;     // [1]
  d.tensorF16 = 65e12;     // [1]
  d.tensorTf32 = d.peakF32;
  d.bandwidth = 320e9;                    // [1]
  d.memory = 16e9;                        // [1]
  d.cache = 4.0 * 1024 * 1024;            // [1]
  d.sharedPerBlock = 64.0 * 1024;         // [2]
  d.sharedPerSm = 64.0 * 1024;            // [2]
  d.smCount = 40;                         // [1]
  d.maxThreadsPerSm = 1024;               // [2]
  d.maxBlocksPerSm = 16;                  // [2]
  d.special = 16.0 * 40 * 1.59e9;         // [2]
  d.sharedBandwidth = 64.0 * 40 * 1.59e9; // 64 B a clock per SM at 1.59 GHz [1]
  return d;
}

/// NVIDIA GeForce RTX 3090.
/// [1] "NVIDIA Ampere GA102 GPU Architecture" white paper, table 9. [2], [3]:
/// as
///     for sm_80.
static Device sm86() {
  Device d = sm80();
  d.name = "sm_86";
  d.peakF32 = 35.6e12;             // [1]
  d.peakF64 = 35.6e12 / 64;        // [1] two f64 units for 128 f32 units
  d.peakF16 = 35.6e12;             // [1]
  d.tensorF16 = 71e12;             // [1] f32 accumulation, dense
  d.tensorTf32 = 35.6e12;          // [1]
  d.bandwidth = 936e9;             // [1]
  d.memory = 24e9;                 // [1]
  d.cache = 6.0 * 1024 * 1024;     // [1]
  d.sharedPerBlock = 99.0 * 1024;  // [2]
  d.sharedPerSm = 100.0 * 1024;    // [2]
  d.smCount = 82;                  // [1]
  d.maxThreadsPerSm = 1536;        // [2]
  d.maxBlocksPerSm = 16;           // [2]
  d.special = 16.0 * 82 * 1.695e9; // [2]
  d.sharedBandwidth =
      128.0 * 82 * 1.695e9; // 128 B a clock per SM at 1.695 GHz [1]
  return d;
}

/// NVIDIA GeForce RTX 4090.
/// [1] "NVIDIA Ada GPU Architecture" white paper, appendix A. [2], [3]: as for
///     sm_80.
static Device sm89() {
  Device d = sm86();
  d.name = "sm_89";
  d.peakF32 = 82.6e12;             // [1]
  d.peakF64 = 82.6e12 / 64;        // [1]
  d.peakF16 = 82.6e12;             // [1]
  d.tensorF16 = 165.2e12;          // [1] f32 accumulation, dense
  d.tensorTf32 = 82.6e12;          // [1]
  d.bandwidth = 1008e9;            // [1]
  d.cache = 72.0 * 1024 * 1024;    // [1]
  d.smCount = 128;                 // [1]
  d.maxBlocksPerSm = 24;           // [2]
  d.special = 16.0 * 128 * 2.52e9; // [2]
  d.sharedBandwidth =
      128.0 * 128 * 2.52e9; // 128 B a clock per SM at 2.52 GHz [1]
  return d;
}

/// NVIDIA B200.
/// [1] HGX B200 specifications, per GPU, dense: f16 2.25 PFLOP/s, tf32
///     1.1 PFLOP/s, f32 75 TFLOP/s, f64 37 TFLOP/s, 180 GB at 7.7 TB/s. [2]: as
///     for sm_80; f16 on the vector units as fast as f32. [4] "NVIDIA Blackwell
///     Tuning Guide": shared memory as for sm_90, L2 126 MB, 148 SMs.
static Device sm100() {
  Device d = sm90();
  d.name = "sm_100";
  d.peakF32 = 75e12;               // [1]
  d.peakF64 = 37e12;               // [1]
  d.peakF16 = 75e12;               // [2]
  d.tensorF16 = 2250e12;           // [1]
  d.tensorTf32 = 1100e12;          // [1]
  d.bandwidth = 7700e9;            // [1]
  d.memory = 180e9;                // [1]
  d.cache = 126.0 * 1024 * 1024;   // [4]
  d.smCount = 148;                 // [4]
  d.special = 16.0 * 148 * 1.98e9; // [2]
  d.sharedBandwidth =
      128.0 * 148 *
      1.98e9; // 128 B a clock per SM; the clock that peak_f32 implies
  return d;
}

/// One socket of AMD EPYC 7763 (Zen 3).
/// [1] AMD product page, EPYC 7763: 64 cores, 2.45 GHz base, 256 MB L3, 8
/// channels
///     of DDR4-3200 (204.8 GB/s). [2] "Software Optimization Guide for AMD
///     Family 19h Processors": 2 FMA units of 256 bit, 512 KB L2 per core, 16
///     vector registers.
static Device avx2() {
  Device d = avx512();
  d.name = "x86-avx2";
  d.peakF32 = 64 * 2.45e9 * 2 * 8 * 2; // [1] [2]
  d.peakF64 = d.peakF32 / 2;
  d.peakF16 = d.peakF32;
  d.tensorF16 = d.peakF32;
  d.tensorTf32 = d.peakF32;
  d.bandwidth = 204.8e9;                  // [1]
  d.cache = 256.0 * 1024 * 1024;          // [1]
  d.sharedPerBlock = 512.0 * 1024;        // [2]
  d.sharedPerSm = 512.0 * 1024;           // [2]
  d.registersPerThread = 16;              // [2]
  d.registersPerSm = 16;                  // [2]
  d.special = d.peakF32 / 16;             // a polynomial of about eight FMAs
  d.smCount = 64;                         // [1]
  d.warpSize = 8;                         // [2]
  d.sharedBandwidth = 64.0 * 64 * 2.45e9; // two 32 B loads a clock [2]
  return d;
}

/// Mobile GPU: Arm Mali-G610 MP4 in the Rockchip RK3588.
/// [1] "Arm GPU Datasheet": Mali-G610, 64 f32 FMA a clock per core, warps of
/// 16,
///     64 registers. [2] Rockchip RK3588 datasheet: 4 cores at 1 GHz,
///     LPDDR4x/LPDDR5 64 bit at 5500 MT/s (44 GB/s), 8 GB. [3] "Arm Valhall GPU
///     best practices": 32 KB of work-group memory (in L1), 1024 threads per
///     core at 32 registers.
static Device maliG610() {
  Device d;
  d.name = "mali-g610";
  d.peakF32 = 4 * 64 * 2 * 1e9; // [1] [2]
  d.peakF64 = d.peakF32 / 16;   // emulated; an upper bound
  d.peakF16 = 2 * d.peakF32;    // [1]
  d.tensorF16 = d.peakF16;      // no tensor unit
  d.tensorTf32 = d.peakF32;
  d.bandwidth = 44e9; // [2]
  d.launch = 20e-6;   // a dependent dispatch through the command stream: an
                      // assumption
  d.memory = 8e9;     // [2]
  d.cache = 1024.0 * 1024;        // [1]
  d.sharedPerBlock = 32.0 * 1024; // [3]
  d.sharedPerSm = 32.0 * 1024;    // [3]
  d.registersPerThread = 64;      // [1]
  d.registersPerSm = 32768;       // [3] 1024 threads at 32 registers
  d.maxBlocksPerSm = 32;          // by threads: no bound of its own is known
  d.special = d.peakF32 / 8;      // 16 results beside 64 FMAs, an assumption
  d.smCount = 4;                  // [2]
  d.maxThreadsPerSm = 1024;       // [3]
  d.maxThreadsPerBlock = 1024;    // OpenCL's CL_DEVICE_MAX_WORK_GROUP_SIZE
  d.warpSize = 16;                // [1]
  d.sharedBandwidth = 64.0 * 4 * 1e9; // 64 B a clock per core [3]
  return d;
}

/// Edge NPU: the deep-learning accelerator of Texas Instruments TDA4VM.
/// [1] TDA4VM data sheet (SPRSP36): C7x DSP 80 GFLOP/s f32 at 1 GHz, matrix
///     accelerator 8 TOPS (8 bit), 8 MB of on-chip L3, LPDDR4 at 14.9 GB/s.
/// [2] C71x DSP reference guide (SPRUIU4): 512 KB L2, 64 vector registers of
/// 512
///     bit.
static Device tda4vm() {
  Device d;
  d.name = "tda4vm";
  d.peakF32 = 80e9;     // [1]
  d.peakF64 = 40e9;     // half of f32: 512-bit vectors
  d.peakF16 = 160e9;    // twice f32: 512-bit vectors
  d.tensorF16 = 160e9;  // the matrix unit multiplies fixed point only [1]
  d.tensorTf32 = 80e9;  // no f32 in the matrix unit
  d.bandwidth = 14.9e9; // [1]
  d.launch = 5e-6; // one DMA descriptor chain and an interrupt, measured by
                   // none: an assumption
  d.memory = 4e9;  // [1] the evaluation module's
  d.cache = 8.0 * 1024 * 1024;     // [1]
  d.sharedPerBlock = 512.0 * 1024; // [2]
  d.sharedPerSm = 512.0 * 1024;    // [2]
  d.registersPerThread = 64;       // [2]
  d.registersPerSm = 64;           // [2]
  d.maxBlocksPerSm = 1;
  d.special = d.peakF32 / 16; // a polynomial of about eight FMAs
  d.smCount = 1;              // [1]
  d.maxThreadsPerSm = 1;
  d.maxThreadsPerBlock = 1;
  d.warpSize = 16;                // [2] f32 lanes
  d.sharedBandwidth = 64.0 * 1e9; // 64 B a clock at 1 GHz [2]
  return d;
}

llvm::ArrayRef<DevicePreset> fuse::devicePresets() {
  static const DevicePreset presets[] = {
      {"sm_75", sm75},    {"sm_80", sm80},        {"sm_86", sm86},
      {"sm_89", sm89},    {"sm_90", sm90},        {"sm_100", sm100},
      {"x86-avx2", avx2}, {"x86-avx512", avx512}, {"mali-g610", maliG610},
      {"tda4vm", tda4vm},
  };
  return presets;
}
