#pragma once
// What YARN may use of a node, from the same ledger as Kubernetes' best-effort pods, and when the
// ResourceManager is told.
//
//   const Capacity wanted = capacityOf({.sold = b, .kubernetes = a, .waiting = w}, {});
//   if (const auto step = nextStep(report, wanted, used, now)) send(step->to, step->overcommit);
//
//   worked: 37.2 cores and 96 GiB are sold, pods have 9 and 16: 28 vcores, 81920 MB
//
// Pure functions, any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/annotations/yarn.h"
#include "base/number/units.h"

namespace mangrove::yarn {

struct Share {
  MilliCpu cpu;
  Bytes memory;
  bool operator==(const Share&) const = default;
};

struct NodeLedger {
  Share sold;        // batch resources of the node
  Share kubernetes;  // asked for by its best-effort pods, the NodeManager's own not among them
  Share waiting;     // asked for by best-effort pods that wait for a place
};

using Capacity = api::YarnCapacity;

struct CapacityOptions {
  double vcoresPerCpu = 1;
  int64_t memoryStepMb = 512;
  // Each may borrow what the other does not use; who waits gets back up to its share.
  double yarnWeight = 50, kubernetesWeight = 50;
};
Capacity capacityOf(const NodeLedger& ledger, const CapacityOptions& options = {});

// What the ResourceManager was told of one node.
struct NodeReport {
  Capacity told = {};
  std::optional<MonoTime> raisedAt = {};  // the last time that something grew
  std::optional<MonoTime> drainBy = {};   // containers beyond the capacity end then
  bool operator==(const NodeReport&) const = default;
};

struct CapacityStep {
  Capacity to;
  // How long containers beyond it may stay. The ResourceManager counts anew with each update, so
  // what is left is sent. nullopt: there are none.
  std::optional<Duration> overcommit;
  NodeReport after;
};
inline constexpr Duration kRaiseEvery = std::chrono::seconds(60);
inline constexpr Duration kDrainTime = std::chrono::seconds(30);

// nullopt: nothing to tell. Less is told at once, more at most once a minute, and changes below one
// vcore and 512 MB or a tenth not at all. `used`: by containers, as the ResourceManager sees it.
std::optional<CapacityStep> nextStep(const NodeReport& report, const Capacity& wanted,
                                     const Capacity& used, MonoTime now);

// What the ResourceManager says itself is what counts: a NodeManager that registers again brings the
// capacity of its own file, and a ResourceManager that took over knows nothing of ours. What was
// forgotten may be told at once.
NodeReport observed(NodeReport report, const Capacity& total, const Capacity& used);

struct Container {
  std::string id;
  Capacity uses;
  WallTime started = {};
  bool isMaster = false;  // of an application
};
// Who goes when the time is over: the youngest first, application masters last, and no more than is
// needed. Ascending by that order.
std::vector<size_t> beyond(std::span<const Container> containers, const Capacity& capacity);

}  // namespace mangrove::yarn
