//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The user's last word: hints on operators and edges, and list files.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_OVERRIDES_H
#define FUSE_PLAN_OVERRIDES_H

#include "fuse/Plan/Boundary.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace fuse {

/// What the user says about one edge, and where from. `reason` is HintNever,
/// HintAlways, BlockListed or AllowListed; nothing where the user says nothing.
using EdgeOverride = std::optional<Reason>;

/// What attributes say about each edge of `facts`. An edge's own hint wins over
/// those of its operators, and "never" over "always".
std::vector<EdgeOverride> overridesOf(const FunctionFacts &facts);

/// Warns about hints that are not understood or contradict each other, and
/// about an "always" that a correctness gate overrules.
void diagnoseOverrides(const FunctionFacts &facts,
                       llvm::ArrayRef<Decision> decisions);

/// Applies `override` to what the gates decided. "always" turns a refusal by
/// profile, resource or profit into `fuse`, never one by a correctness gate.
void applyOverride(EdgeOverride override, Decision &decision);

/// A list file, version 1: `{"version": 1, "entries": [{"key": "KEY#K"}]}`. A
/// key without `#K` means every occurrence.
class EdgeList {
public:
  /// Reads `path`. The error names file and line, or the entry, or the version
  /// found and the one known.
  static llvm::Expected<EdgeList> load(llvm::StringRef path);

  /// True if the list names `key` (with its `#k`); remembers the entry as used.
  bool matches(llvm::StringRef key);
  /// Entries that matched nothing so far, in the order of the file.
  std::vector<std::string> unused() const;

private:
  std::vector<std::string> entries;
  llvm::StringSet<> used;
};

/// Writes what the lists say about the edges of `module` into `fuse.edge_hints`
/// of the consumers ("blocklist", "allowlist"), so that it survives rewrites;
/// removes what an earlier run wrote. Lists that cannot be read and entries
/// that match nothing are named in a warning. Empty paths are no lists.
void resolveLists(mlir::Operation *module, llvm::StringRef blocklist,
                  llvm::StringRef allowlist);

} // namespace fuse

#endif // FUSE_PLAN_OVERRIDES_H
