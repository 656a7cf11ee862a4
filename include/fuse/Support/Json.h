//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON with errors that name file and line.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_SUPPORT_JSON_H
#define FUSE_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace fuse {

/// Parses `text`. The error is `PATH:LINE:COLUMN: malformed JSON: what`.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef path,
                                            llvm::StringRef text);

} // namespace fuse

#endif // FUSE_SUPPORT_JSON_H
