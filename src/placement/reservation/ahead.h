#pragma once
// Reservations that begin later: who on their node will be gone by then, and what a node has
// promised at any future moment.
//
//   if (makesWay(departureOf(*pod), entry, now)) …          // gone when it begins
//   for (const TimeStep& step : stepsOf(tenures, now)) …    // amounts from step.at to the next one
//
// Gone are pods that said how long they run (annotation expected-duration, counted from when they
// got their node) and will have had their grace by the start, and pods of a lower priority than the
// reservation's own, because those are evicted for it. A reservation that says nothing about its
// priority evicts nobody but those who are late. Whoever has the label disable-preemptible stays.
//
// Worked: 8 cpus, a job of 4 that ends in an hour, a reservation of 6 in two hours: everybody else
// sees 2 cpus free now, because 6 must be free then; another job of an hour sees 4.
//
// Pure functions, any thread.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "base/number/units.h"
#include "placement/quota/amounts.h"

namespace mangrove::placement {

// What a pod says about its going.
struct Departure {
  WallTime promised = WallTime::max();  // with its grace; max: it does not say
  int32_t priority = 0;
  bool mayBeSent = true;  // false: nobody evicts it
  bool isGoing = false;   // being deleted
};
// Of one that has its node; of one that looks for one (from `now` on).
Departure departureOf(const api::Pod& pod, WallTime now);
Departure departureOf(const api::Annotations& annotations, const api::Labels& labels,
                      const api::PodSpec& spec, WallTime now);

// A reservation that begins later.
struct Beginning {
  WallTime start = kZeroTime;
  WallTime end = WallTime::max();
  std::optional<int32_t> priority;  // as its author says; nullopt: it evicts nobody
};
bool makesWay(const Departure& pod, const Beginning& reservation);

// Amounts that somebody has for a time.
struct Tenure {
  std::string who;
  Amounts amounts;
  WallTime from = WallTime::min();
  WallTime until = WallTime::max();
};
struct TimeStep {
  WallTime at{};
  Amounts taken;                         // from now until the next step
  std::vector<std::string> comes, goes;  // what makes the difference
};
// The first one is now; then one for each moment at which something changes.
std::vector<TimeStep> stepsOf(std::span<const Tenure> all, WallTime now);

// Of those who make way, in the order they are asked to go, the first that must so that `lacking`
// is there: indices.
std::vector<size_t> whoGoes(std::span<const Amounts> candidates, Amounts lacking);

}  // namespace mangrove::placement
