#pragma once
// Random JSON documents for property tests (the code is in random_value_test.cc: only tests link
// it). Few keys and few values, so that two of them often agree in parts.
//
//   RandomValue random(seed);
//   Value from = random.document(), to = random.changed(from);

#include <cstdint>
#include <random>

#include "json/value.h"

namespace mangrove::json {

class RandomValue {
 public:
  explicit RandomValue(uint64_t seed) : engine_(seed) {}

  Value document();                                           // an object or an array
  Value value(int depth);                                     // anything, at most that deep
  Value changed(const Value& from);                           // a copy with a few edits
  Value withoutNulls(Value value);                            // members that are null left out
  Value jsonPatch(const Value& document, size_t operations);  // paths that mostly exist

  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(engine_); }
  bool chance(size_t oneIn) { return below(oneIn) == 0; }

 private:
  Value scalar();
  std::string key();
  std::string path(const Value& document);

  std::mt19937_64 engine_;
};

}  // namespace mangrove::json
