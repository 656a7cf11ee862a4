//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checked polynomial arithmetic. Never wraps: see Count::overflowed.
//
//===----------------------------------------------------------------------===//

#include "fuse/Support/Count.h"
#include <algorithm>

using namespace fuse;

Count::Count(int64_t value) : constant(value) {}

Count Count::symbol(std::string name) {
  Count result;
  result.addTerm({std::move(name)}, 1);
  return result;
}

Count Count::overflow() {
  Count result;
  result.overflow_ = true;
  return result;
}

std::optional<int64_t> Count::value() const {
  if (!isStatic())
    return std::nullopt;
  return constant;
}

const Count::Terms &Count::symbolic() const {
  static const Terms none;
  return terms ? *terms : none;
}

void Count::addTerm(const Monomial &monomial, int64_t coefficient) {
  if (monomial.empty()) {
    overflow_ |= __builtin_add_overflow(constant, coefficient, &constant);
    return;
  }
  auto changed = std::make_shared<Terms>(symbolic());
  int64_t &slot = (*changed)[monomial];
  overflow_ |= __builtin_add_overflow(slot, coefficient, &slot);
  if (slot == 0)
    changed->erase(monomial);
  terms = changed->empty() ? nullptr : std::move(changed);
}

Count &Count::operator+=(const Count &other) {
  overflow_ |= other.overflow_;
  addTerm({}, other.constant);
  for (const auto &[monomial, coefficient] : other.symbolic())
    addTerm(monomial, coefficient);
  return *this;
}

Count &Count::operator*=(const Count &other) {
  if (!terms && !other.terms) {
    overflow_ |= other.overflow_ |
                 __builtin_mul_overflow(constant, other.constant, &constant);
    return *this;
  }
  auto all = [](const Count &count) {
    Terms result = count.symbolic();
    if (count.constant != 0)
      result[{}] = count.constant;
    return result;
  };
  Count product;
  product.overflow_ = overflow_ | other.overflow_;
  for (const auto &[left, leftCoefficient] : all(*this))
    for (const auto &[right, rightCoefficient] : all(other)) {
      Monomial monomial = left;
      monomial.insert(monomial.end(), right.begin(), right.end());
      std::sort(monomial.begin(), monomial.end());
      int64_t coefficient;
      product.overflow_ |= __builtin_mul_overflow(
          leftCoefficient, rightCoefficient, &coefficient);
      product.addTerm(monomial, coefficient);
    }
  return *this = std::move(product);
}

namespace fuse {
bool operator==(const Count &a, const Count &b) {
  return a.overflow_ == b.overflow_ && a.constant == b.constant &&
         a.symbolic() == b.symbolic();
}
} // namespace fuse

Count Count::evaluate(const std::map<std::string, int64_t> &values) const {
  Count result(constant);
  result.overflow_ = overflow_;
  for (const auto &[monomial, coefficient] : symbolic()) {
    Count term(coefficient);
    for (const std::string &name : monomial) {
      auto it = values.find(name);
      term *= it == values.end() ? Count::symbol(name) : Count(it->second);
    }
    result += term;
  }
  return result;
}

void Count::collectSymbols(std::set<std::string> &names) const {
  for (const auto &[monomial, coefficient] : symbolic())
    names.insert(monomial.begin(), monomial.end());
}

std::string Count::str() const {
  if (overflow_)
    return "overflow";
  std::string text;
  for (const auto &[monomial, coefficient] : symbolic()) {
    text += text.empty() ? "" : " + ";
    if (coefficient != 1)
      text += std::to_string(coefficient) + "*";
    for (size_t i = 0; i < monomial.size(); ++i)
      text += (i ? "*" : "") + monomial[i];
  }
  if (text.empty())
    return std::to_string(constant);
  if (constant != 0)
    text += " + " + std::to_string(constant);
  return text;
}
