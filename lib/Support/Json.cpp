//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns llvm::json's errors into located ones.
//
//===----------------------------------------------------------------------===//

#include "fuse/Support/Json.h"

using namespace llvm;

Expected<json::Value> fuse::parseJson(StringRef path, StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (value)
    return value;
  // The message of llvm::json is "[line:column, byte=n]: text".
  std::string message = toString(value.takeError());
  StringRef position = StringRef(message).split(',').first.ltrim('[');
  return createStringError(path + ":" + position + ": malformed JSON:" +
                           StringRef(message).split("]:").second);
}
