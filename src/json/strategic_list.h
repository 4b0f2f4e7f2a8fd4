#pragma once
// What merging and comparing strategic lists share: how elements are told apart, and the order of a
// merged list. Inside the strategic patch only; see strategic_patch.h.

#include <string>
#include <string_view>
#include <unordered_map>

#include "json/value.h"

namespace mangrove::json::strategic {

// Where we are, for messages; lives on the stack of the recursion.
struct Path {
  const Path* parent = nullptr;
  std::string_view token;

  std::string text() const;
};

// Element → text that is equal for equal elements: the value of the merge key, or the scalar itself
// when the key is empty. Elements must have been checked by elementsOf.
std::string identity(const Value& element, std::string_view mergeKey);

enum class Elements { kNone, kScalars, kObjects };
// What the two lists together hold. Refuses lists of lists, nulls and mixed types; a list of
// objects needs a merge key in the schema and in each element.
Result<Elements> elementsOf(const Array& a, const Array& b, std::string_view mergeKey,
                            const Path& at);
// Each element is an object with that member.
Result<void> requireKeys(const Array& list, std::string_view mergeKey, const Path& at);

// Element identity → index of its first occurrence.
class Order {
 public:
  Order(const Array& list, std::string_view mergeKey);
  // -1: not in the list.
  long indexOf(const std::string& identity) const;
  bool hasRepeats() const { return repeats_; }

 private:
  std::unordered_map<std::string, long> places_;
  bool repeats_ = false;
};

// The merged elements in their final order: those in `wanted` as it says, the others as `server`
// had them, the two woven together so that an element only the server has stays in front of what it
// was in front of.
Array arranged(Array merged, const Order& wanted, const Order& server, std::string_view mergeKey);

}  // namespace mangrove::json::strategic
