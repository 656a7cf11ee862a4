//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Device/Device.h"
#include "gtest/gtest.h"

using namespace fuse;

TEST(Device, EveryPresetHasEveryNumber) {
  for (llvm::StringRef name : presetNames()) {
    llvm::Expected<Device> device = loadDevice(name);
    ASSERT_TRUE(bool(device)) << name.str();
    EXPECT_EQ(device->name, name);
    for (const DeviceField &field : deviceFields())
      EXPECT_GT((*device).*field.member, 0)
          << name.str() << " " << field.key.str();
  }
}

TEST(Device, RidgePointOfA100) {
  Device device = llvm::cantFail(loadDevice("sm_80"));
  EXPECT_NEAR(device.ridge(), 12.54, 0.01);
}

TEST(Device, UnknownNameListsTheKnownOnes) {
  llvm::Expected<Device> device = loadDevice("sm_1");
  ASSERT_FALSE(bool(device));
  std::string message = llvm::toString(device.takeError());
  EXPECT_NE(message.find("sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, x86-avx2, "
                         "x86-avx512, mali-g610, tda4vm, cpu"),
            std::string::npos)
      << message;
}
