//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of device presets. Private to lib/Device.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_DEVICE_PRESETS_H
#define FUSE_LIB_DEVICE_PRESETS_H

#include "fuse/Device/Device.h"

namespace fuse {

struct DevicePreset {
  llvm::StringLiteral name;
  Device (*make)();
};

llvm::ArrayRef<DevicePreset> devicePresets();

} // namespace fuse

#endif // FUSE_LIB_DEVICE_PRESETS_H
