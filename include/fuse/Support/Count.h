//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Count: an exact number of elements, bytes or FLOPs, possibly symbolic.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_SUPPORT_COUNT_H
#define FUSE_SUPPORT_COUNT_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fuse {

/// A polynomial with int64 coefficients in named dynamic extents, for example
/// `2*1024*arg0.0`. All arithmetic is checked: once a coefficient leaves the
/// range of int64 the count is `overflowed()` and stays so.
class Count {
public:
  Count() = default;
  Count(int64_t value);
  static Count symbol(std::string name);
  static Count overflow();

  bool overflowed() const { return overflow_; }
  bool isStatic() const { return !overflow_ && !terms; }
  /// The value, if it depends on no dynamic extent and did not overflow.
  std::optional<int64_t> value() const;
  bool isZero() const { return isStatic() && constant == 0; }
  /// The polynomial with the extents that `values` names replaced by numbers.
  Count evaluate(const std::map<std::string, int64_t> &values) const;
  /// Adds the names of all extents that occur.
  void collectSymbols(std::set<std::string> &names) const;
  /// The polynomial in text: terms in lexicographic order of their symbols.
  std::string str() const;

  Count &operator+=(const Count &other);
  Count &operator*=(const Count &other);
  friend Count operator+(Count a, const Count &b) { return a += b; }
  friend Count operator*(Count a, const Count &b) { return a *= b; }
  friend bool operator==(const Count &a, const Count &b);
  friend bool operator!=(const Count &a, const Count &b) { return !(a == b); }

private:
  using Monomial = std::vector<std::string>;
  using Terms = std::map<Monomial, int64_t>;
  const Terms &symbolic() const;
  void addTerm(const Monomial &monomial, int64_t coefficient);

  int64_t constant = 0;
  /// Shared by copies, never changed, null where no extent is dynamic: most
  /// counts are static, and there are many.
  std::shared_ptr<const Terms> terms;
  bool overflow_ = false;
};

} // namespace fuse

#endif // FUSE_SUPPORT_COUNT_H
