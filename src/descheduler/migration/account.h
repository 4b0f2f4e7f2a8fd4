#pragma once
// Whether a move paid: the load of both nodes and of the pod before the eviction and two minutes
// after the new pod was ready, kept in the job's status as the condition Account (Unknown until it
// is closed, then True or False).
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

namespace mangrove::descheduler {

inline constexpr std::string_view kAccount = "Account";  // type of the condition

struct NodeShares {
  std::string node;
  double cpu = 0, memory = 0;  // percent of what the node has
  bool operator==(const NodeShares&) const = default;
};
struct Sides {
  NodeShares source, target;
  double podCores = 0;  // what the pod used
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
double coresOf(const api::NodeMetric* metric, std::string_view ns, std::string_view pod);

// The source is less loaded where it was loaded most, and the target is not worse off than the
// source was.
bool hasPaid(const Sides& before, const Sides& after);

void openAccount(api::PodMigrationJobStatus& status, const Sides& before, WallTime now);
void closeAccount(api::PodMigrationJobStatus& status, const Sides& after, WallTime now);
std::optional<Account> accountOf(const api::PodMigrationJobStatus& status);

}  // namespace mangrove::descheduler
