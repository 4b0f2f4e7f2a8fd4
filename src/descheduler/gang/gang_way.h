#pragma once
// How a member of a gang may move: by itself, only with all the others, or not at all.
//
//   switch (gangWay(facts, "ns/train", leaving).way) { case GangWay::kWhole: … }
//
// Pure functions, any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::descheduler {

struct GangPart {
  std::string id;              // "namespace/name" of the gang
  int32_t min = 0, bound = 0;  // how many it needs, how many have a node
};
struct GangFacts {
  std::vector<GangPart> parts;  // all gangs that go together, the pod's own among them
  bool isStrict = false;
  bool isNetworked = false;  // its members want places near each other
};

enum class GangWay { kAlone, kWhole, kStays };
struct GangVerdict {
  GangWay way = GangWay::kStays;
  std::string why;  // never
};

// A gang that is not strict, and one that keeps its minimum without the pod and without those that
// are `leaving` already, lets it go by itself. Where members stand in the network is decided by the
// scheduler for all of them at once, which a trial member by member does not prove.
GangVerdict gangWay(const GangFacts& facts, std::string_view gang, int32_t leaving);

}  // namespace mangrove::descheduler
