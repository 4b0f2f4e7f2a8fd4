#pragma once
// One order of victims for everybody who must throw work out: memory, CPU, watermarks, time windows,
// preemption, reclaim, interference and migration.
//
//   Choice choice = chooseVictims(candidates, {.need = {8 * GiB}, .now = clock.wall()});
//   for (const Leaver& leaver : choice.leavers) evict(leaver.members, sentence(leaver));
//
// The rules:
// 1. Class first, then priority: nobody of a higher one leaves while lower ones suffice. Where the
//    lower ones do not, as little as possible is taken from the higher one, and then from the lower
//    ones only what is still needed.
// 2. Within the priority that decides, the sufficient set of least cost (victims/cost.h): exactly
//    for up to twelve candidates, by cost per gain beyond.
// 3. Whole gangs as one, at the rank and priority of the highest member; or only members that are
//    surplus, one by one, whichever is less. A gang of which only surplus members are listed is never
//    broken.
// 4. Never more than is needed: no leaver could be left out.
// 5. Who carries its job (a driver, a job manager) comes after all others of its priority. A gang of
//    which one member carries it is one that does.
// 6. A job that was evicted three times within 24 h comes after all others of its class.
//
// How the callers are meant to ask:
// - agent, memory (usage, allocatable, watermarks): need = {bytes to release}, frees = {bytes used}
//   or {bytes asked for}; `evenIfShort`, because some memory is better than none. Pods that are
//   already leaving are subtracted from the need, not listed.
// - agent, CPU: need = {milli-cores}, frees as above; interference: the antagonists alone, need =
//   {milli-cores to take off the victim's neighbours}.
// - time windows (a policy that ends at 08:00): need = {} and `evenIfShort`: everybody leaves, in
//   this order and with these accounts.
// - preemption, reclaim: one call per node that could hold the pod; candidates = pods below the
//   preemptor's priority, need = what the node lacks, `suffices` = the filters on the node without
//   them; then the node with the cheapest choice. Members of a gang that run elsewhere are listed
//   with frees = 0, so that their loss counts.
// - migration (minimal plans): candidates = movable pods of the hot node, need = its excess.
// Pure functions, any thread.

#include <cstddef>
#include <string>
#include <vector>

#include "victims/cost.h"
#include "victims/least_cost.h"

namespace mangrove::victims {

inline constexpr int kEvictionsPerDay = 3;

struct Request {
  Amounts need = {};  // each amount must be freed; empty: everybody leaves
  // What sums do not tell (filters of a scheduler): asked, with indexes of candidates, only for
  // sets that free the need. Must be monotone. Empty: the sums decide.
  Suffices suffices = {};
  bool evenIfShort = false;  // all of them where even all are too little; otherwise nobody
  WallTime now = {};
  UsualByKind usual =
      {};  // medians from a wider view than these candidates, where the caller has one
  double gpuWeight = kGpuWeight;
};

// One that leaves: a candidate or a whole gang.
struct Leaver {
  std::string name = {};  // "gang ns/g (4 pods)" or the candidate's name
  std::vector<size_t> members;
  Cost cost;
  // Who would have gone in its place: the cheapest per gain of those who stay, of the lowest class
  // and priority that is left.
  std::string nextName;  // "": nobody else was there
  Cost nextCost;
};

struct Choice {
  bool enough = false;
  std::vector<Leaver> leavers;  // lowest class and priority first, then cheapest first
  Cost cost;
  std::vector<size_t> candidates() const;  // all members of all leavers, in that order
};

Choice chooseVictims(std::span<const Candidate> candidates, const Request& request);

// "loses 24000 core seconds of work and 72000 for its restart; ns/x would have lost 216000 and
// 72000": what every eviction says.
std::string sentence(const Leaver& leaver);

}  // namespace mangrove::victims
