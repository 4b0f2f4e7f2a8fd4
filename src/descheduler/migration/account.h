#pragma once
// Whether a move paid: the load of both nodes, what the pod used, how much it and others waited for
// CPUs, and the latency that it reports, before the eviction and two minutes after the new pod was
// ready; kept in the job's status as the condition Account (Unknown until it is closed, then True or
// False).
//
//   openAccount(status, before, now);
//   if (auto account = accountOf(status)) …  account->before.source.cpu
//   closeAccount(status, after, now);
//
// Pure functions, any thread.

#include <optional>
#include <string>

#include "api/koordinator/node_metric.h"
#include "api/koordinator/pod_migration_job.h"
#include "api/object/node.h"
#include "api/pod/pod.h"

namespace mangrove::descheduler {

inline constexpr std::string_view kAccount = "Account";  // type of the condition

struct NodeShares {
  std::string node;
  double cpu = 0, memory = 0;  // percent of what the node has
  // Percent of the time that its services, in the middle, waited for a CPU; nullopt: nobody measures
  // it (api/koordinator/pod_stalls.h).
  std::optional<double> waits = {};
  bool operator==(const NodeShares&) const = default;
};
// The pod that moves; what nobody measured or reported is absent.
struct PodFacts {
  double cores = 0;
  std::optional<double> waits = {};      // percent of the time that it waited for a CPU
  std::optional<double> throttled = {};  // percent of the periods of its quota
  std::optional<double> latency = {};    // milliseconds, as it reports it
  bool operator==(const PodFacts&) const = default;
};
struct Sides {
  NodeShares source, target;
  PodFacts pod = {};
  bool operator==(const Sides&) const = default;
};
struct Account {
  Sides before;
  std::optional<Sides> after;  // nullopt: it is still open
  bool paid = false;
};

// What the node and its pods use; nullopt: nobody has measured it since then.
std::optional<NodeShares> sharesOf(const api::Node* node, const api::NodeMetric* metric,
                                   WallTime since);
PodFacts factsOf(const api::NodeMetric* metric, std::string_view ns, std::string_view pod);
// What the pod, or whoever measures it, says about itself in the annotation
// colocation.mangrove.io/latency ("12.5ms"); nullopt: nothing, or nothing that is a duration.
std::optional<double> latencyOf(const api::Pod& pod);

// The source is less loaded where it was loaded most, the target is not worse off than the source
// was, and the pod neither waits more for its CPUs nor answers later than before, as far as that is
// known on both sides.
bool hasPaid(const Sides& before, const Sides& after);

void openAccount(api::PodMigrationJobStatus& status, const Sides& before, WallTime now);
void closeAccount(api::PodMigrationJobStatus& status, const Sides& after, WallTime now);
std::optional<Account> accountOf(const api::PodMigrationJobStatus& status);

}  // namespace mangrove::descheduler
