//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device: the numbers of a machine that verdicts and costs are computed for.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_DEVICE_DEVICE_H
#define FUSE_DEVICE_DEVICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace fuse {

/// A device model. Every number is positive. A preset names the public source
/// of each (docs/Devices.md); a JSON file states them itself.
struct Device {
  std::string name;
  double peakF32 = 0; ///< FLOP/s of the vector units, f32.
  double peakF64 = 0; ///< FLOP/s of the vector units, f64.
  double peakF16 = 0; ///< FLOP/s of the vector units, f16.
  double tensorF16 =
      0; ///< FLOP/s of the tensor units, f16 in, f32 out (dense).
  double tensorTf32 = 0; ///< FLOP/s of the tensor units, tf32 (dense).
  double bandwidth = 0;  ///< Bytes/s of the main memory.
  double launch = 0;     ///< Seconds between two dependent kernels.
  double memory = 0;     ///< Bytes of main memory.
  double cache = 0;      ///< Bytes of the last-level cache.
  double sharedPerBlock =
      0; ///< Bytes of shared memory a block may use (CPU: the per-core cache).
  double sharedPerSm = 0; ///< Bytes of shared memory per SM.
  double sharedBandwidth =
      0; ///< Bytes/s of all shared memories together (CPU: L1).
  double registersPerThread =
      0; ///< 32-bit registers a thread may use (CPU: vector registers).
  double registersPerSm = 0; ///< 32-bit registers per SM.
  double smCount = 0;        ///< Streaming multiprocessors (CPU: cores).
  double maxThreadsPerSm =
      0; ///< Resident threads per SM (CPU: 1, one worker per core).
  double maxThreadsPerBlock = 0; ///< Threads per block (CPU: 1).
  double warpSize = 0; ///< Threads per warp (CPU: f32 lanes of a vector).
  double maxBlocksPerSm = 32; ///< Resident blocks per SM.
  double special = 0; ///< Results/s of exp, rsqrt, ... by special units.

  /// Gives `special`, if it is not stated, what 16 special function units give
  /// beside 64 f32 FMA units: `peak_f32 / 8`.
  void completeOptional() {
    if (special <= 0)
      special = peakF32 / 8;
  }

  /// Arithmetic intensity, in FLOP/byte, where f32 vector compute and memory
  /// take equal time: peak_flops / peak_bw (Williams et al., Roofline, 2009).
  double ridge() const { return peakF32 / bandwidth; }
};

/// One numeric field of Device: its key in JSON and attributes, and its place.
struct DeviceField {
  llvm::StringLiteral key;
  double Device::*member;
  bool optional = false; ///< in a device file
};

/// All numeric fields, in the order of docs/Devices.md.
llvm::ArrayRef<DeviceField> deviceFields();

/// Names of the presets, in the order they are listed to the user.
llvm::ArrayRef<llvm::StringRef> presetNames();

/// Resolves `target`: a preset's name, `cpu` (probed), or the path of a JSON
/// file (anything that ends in `.json`). The error lists the known names, or
/// gives file, line and column of malformed JSON, or the key that is missing,
/// unknown or not a positive number.
llvm::Expected<Device> loadDevice(llvm::StringRef target);

} // namespace fuse

#endif // FUSE_DEVICE_DEVICE_H
