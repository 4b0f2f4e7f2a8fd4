#pragma once
// InterferenceFences (colocation.mangrove.io): what is ordinary for workloads (fence_book.h), as
// objects. Each agent writes what its node saw, as node-<name>; the manager adds up all nodes and
// writes one object for each workload, which agents read. Cluster-scoped.

#include <string>
#include <string_view>

#include "api/interference/fence_book.h"
#include "api/object/meta.h"
#include "api/wire/kind.h"
#include "base/text/time_text.h"
#include "json/fwd.h"

namespace mangrove::api {

namespace kind {
inline constexpr Kind kInterferenceFences{
    "colocation.mangrove.io", "v1alpha1", "InterferenceFences", "interferencefences", false, false};
}

struct InterferenceFencesSpec {
  std::string node = {};      // who saw it; "": all nodes
  std::string workload = {};  // of those of all nodes: the key
  double nodes = 0;           // how many saw it
  std::string book = {};      // FenceBook::state() as text
  WallTime updated = kZeroTime;
};
struct InterferenceFences {
  ObjectMeta meta;
  InterferenceFencesSpec spec;
};
bool read(const In& in, InterferenceFences& out);
json::Value toJson(const InterferenceFencesSpec& value);

std::string nodeFencesName(std::string_view node);          // "node-n1"
std::string workloadFencesName(std::string_view workload);  // "workload-9f…"
// The book within; an error names the object.
Result<FenceBook> bookOf(const InterferenceFences& fences);

}  // namespace mangrove::api
