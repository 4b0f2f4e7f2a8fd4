#pragma once
// Which labels an object must have. One compiled form serves all three spellings of Kubernetes: the
// text of a query, the LabelSelector of an object, and the terms of a node affinity
// (label_selector.h).
//
//   auto wanted = Selector::parse("app=web,tier in (front,edge),!legacy");
//   if (wanted->matches(pod.meta.labels)) …
//   wanted->text();                                   // "app=web,!legacy,tier in (edge,front)"
//
// An empty selector matches everything, Selector::nothing() nothing. Values; const access from any
// thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/select/labels.h"
#include "base/result.h"

namespace mangrove::api {

enum class Operator : uint8_t {
  kIn,
  kNotIn,  // also true when the label is missing
  kExists,
  kDoesNotExist,
  kGreater,  // the label must be there and be an integer
  kLess,
  kEquals,        // kIn with one value, printed "a=b"
  kDoubleEquals,  // the same, printed "a==b"
  kNotEquals,     // kNotIn with one value, printed "a!=b"
};

class Requirement {
 public:
  // Checks key, values and their number as Kubernetes does; errors are sentences that name them.
  static Result<Requirement> make(std::string_view key, Operator op,
                                  const std::vector<std::string_view>& values);

  bool matches(const Labels& labels) const;
  std::string text() const;

  Interned key() const { return key_; }
  Operator op() const { return op_; }
  const std::vector<Interned>& values() const { return values_; }  // sorted, distinct
  bool operator==(const Requirement&) const = default;

 private:
  bool holds(Interned value) const;

  Interned key_;
  Operator op_ = Operator::kExists;
  std::vector<Interned> values_;
  int64_t bound_ = 0;  // kGreater, kLess
};

class Selector {
 public:
  Selector() = default;  // matches everything
  static Selector nothing();
  // "a=b, c==d, e!=f, g in (x,y), h notin (z), i, !j, k>5, l<7". Errors say what was found and what
  // was expected.
  static Result<Selector> parse(std::string_view text);

  bool matches(const Labels& labels) const;
  bool matchesEverything() const { return !nothing_ && requirements_.empty(); }
  bool matchesNothing() const { return nothing_; }

  // Requirements sorted by key; "" for everything and for nothing.
  std::string text() const;
  void add(Requirement requirement);
  const std::vector<Requirement>& requirements() const { return requirements_; }
  bool operator==(const Selector&) const = default;

 private:
  std::vector<Requirement> requirements_;  // sorted by key, ANDed
  bool nothing_ = false;
};

}  // namespace mangrove::api
