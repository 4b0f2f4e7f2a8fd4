#pragma once
// Nodes and pods by chance, as JSON, for comparisons with the oracle. The same seed gives the same
// objects. Test code.

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/number/rng.h"

namespace mangrove::placement {

std::string pick(Rng& rng, std::initializer_list<std::string_view> words);

struct NodeExtras {
  std::string labels;       // more of them, each after a comma
  std::string annotations;  // without braces
  int64_t cpu = 0;          // cores; 0: by chance
};
std::string randomNode(Rng& rng, size_t number, const NodeExtras& extras = {});

struct PodExtras {
  std::string labels;       // each after a comma
  std::string annotations;  // without braces
  std::string requests;     // without braces; "": by chance
  std::string limits;       // ,"limits":{…}
  std::string spec;         // more members, each after a comma
  std::string ns;           // "": by chance
  double constraints = 1;   // how often spread and affinity are drawn
};
std::string randomPod(Rng& rng, size_t number, const PodExtras& extras = {});

}  // namespace mangrove::placement
