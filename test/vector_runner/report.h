#pragma once
// What a vector handler needs to compare our answer with the recorded one. Comparison follows
// test/vectors: key order is irrelevant; absent, null and an empty object mean the same.

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mangrove::vectors {

// Collects the mismatches of one case. A handler calls expect…() once per field; a case without
// mismatch has passed.
class Report {
 public:
  // Deep comparison; numbers by value (1 equals 1.0), strings by text.
  void expect(std::string_view field, const json::Value& want, const json::Value& got);
  // The same, but two strings that are both resource quantities are equal when their amounts are.
  void expectAmounts(std::string_view field, const json::Value& want, const json::Value& got);
  // Numbers within a relative error.
  void expectNear(std::string_view field, double want, double got, double relative);
  // Records a mismatch that no comparison above describes.
  void mismatch(std::string_view field, std::string_view want, std::string_view got);

  const std::vector<std::string>& mismatches() const { return mismatches_; }

 private:
  std::vector<std::string> mismatches_;
};

}  // namespace mangrove::vectors
