#pragma once
// The members of each strategy with their ranges, as a table: known names, numbers' bounds, words,
// and pairs of which one must stay above the other. From it come range checks and "did you mean".
//
//   const KeyRules* rules = rulesOf("system-config");
//
// Tables are built once; const access from any thread.

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "manager/config/finding.h"
#include "manager/config/parse.h"

namespace mangrove::manager {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool aboveLow = false;  // low itself is outside

  bool holds(double value) const {
    return (aboveLow ? value > low : value >= low) && value <= high;
  }
  std::string text() const;  // "0 to 100", "above 0", "at least -1"
};

enum class Content {
  kPlain,
  kNotEmpty,   // a text that says something
  kBandwidth,  // a percentage, or bits per second as a quantity
  kQuantity,
};

struct FieldRule {
  std::string path;  // "beClass.cpuQOS.groupIdentity", "blocks[].name", "ratioModel.*.baseRatio"
  Bounds runtime;
  Bounds admission;
  std::string words;  // "cpuset|cfsQuota"; "" any
  Content content = Content::kPlain;
};

struct OrderRule {
  std::string upper;
  std::string lower;
};

struct KeyRules {
  std::string_view key;
  bool nested;  // clusterStrategy + nodeStrategies, else flat + nodeConfigs
  std::vector<FieldRule> fields;
  std::vector<OrderRule> orders;
};

// nullptr for a key that is none of the eight.
const KeyRules* rulesOf(std::string_view key);
std::vector<std::string_view> knownKeys();

// Members nobody reads, as warnings. `document` is the key's whole JSON.
void checkNames(const KeyRules& rules, const json::Value& document, FindingsAbout& out);

}  // namespace mangrove::manager
