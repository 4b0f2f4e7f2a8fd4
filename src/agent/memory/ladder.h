#pragma once
// How memory comes back from best-effort work, mildest first: lower what a group may hold, reclaim
// what can be read again, stop those that grow, send away those whose loss costs least. Rungs that
// cannot help are not climbed. A pure core: groups in, steps out.
//
//   std::vector<Rung> rungs = climb({.wanted = need.wanted, .groups = groups, .has = {…}});
//   run(rungs.front());           // then look again: what it freed decides what comes next

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "victims/candidate.h"

namespace mangrove::agent {

enum class RungKind : uint8_t { kHigh, kReclaim, kLimit, kFreeze, kEvict };
std::string_view rungName(RungKind kind);  // "high", "reclaim", "limit", "freeze", "evict"

// What the kernel (and the configuration, for evict) offers.
struct RungsThere {
  bool high = false;     // v2
  bool reclaim = false;  // v2
  bool limit = false;    // v1
  bool freeze = false;
  bool evict = false;
  bool swap = false;  // anonymous pages have somewhere to go
};

// A best-effort pod as the ladder sees it.
struct BatchGroup {
  Bytes current;  // all it holds
  Bytes file;     // pages that can be read again
  Bytes anonymous;
  int64_t priority = 0;
  double work = 0;  // CPU seconds that would be lost
  bool growing = false;
  bool frozen = false;
  bool leaving = false;  // will be gone soon: counts as given back
  bool evictable = true;
  uint8_t spent = 0;  // rungs (bit 1 << kind) that freed nothing lately
  // What it has at stake: class, gang, what it says of its progress. Gain, priority and measured work
  // are those above.
  victims::Candidate stake = {};
  bool has(RungKind kind) const { return (spent & (1u << static_cast<unsigned>(kind))) != 0; }
};

struct LadderInputs {
  Bytes wanted;
  std::span<const BatchGroup> groups = {};
  RungsThere there = {};
  Bytes step = kMiB * 64;  // at most this much at once, so that nothing blocks for long
  WallTime now = {};       // losses count until here
};

struct Rung {
  RungKind kind{};
  size_t group = 0;       // index
  Bytes bytes;            // to be freed by it; 0 for freeze
  std::string loss = {};  // evict: what is thrown away, and what the next one would have lost
  bool operator==(const Rung&) const = default;
};

// What could come back without harm.
Bytes reclaimable(const BatchGroup& group, bool swap);
// In the order in which they are to be tried. Empty: nothing is wanted, or nobody can give.
std::vector<Rung> climb(const LadderInputs& in);
// Who goes so that `missing` is freed, by the one order of victims (victims/order.h): all who help
// where even they are too few.
std::vector<Rung> leastLoss(std::span<const BatchGroup> groups, Bytes missing, WallTime now = {});

}  // namespace mangrove::agent
