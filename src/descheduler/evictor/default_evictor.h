#pragma once
// The DefaultEvictor of the Kubernetes descheduler: evicts through the eviction subresource at once,
// without a PodMigrationJob and without a place kept. Whom it spares is what the MigrationController
// spares for what a pod is; how many at once is left to the limits of the cycle and to the server's
// disruption budgets.

#include "descheduler/desk.h"
#include "descheduler/evictor/elsewhere.h"
#include "descheduler/evictor/proxy.h"
#include "descheduler/migration/filter.h"

namespace mangrove::descheduler {

struct DefaultEvictorArgs {
  MigrationArgs whom;       // the members both have
  int64_t minReplicas = 0;  // of the pod's workload; below: it stays
  Duration minPodAge{};
};
Result<DefaultEvictorArgs> readDefaultEvictorArgs(const json::Value& args);

// What its arguments spare besides; nullopt: nothing.
std::optional<std::string> sparedByDefault(const api::Pod& pod, const DefaultEvictorArgs& args,
                                           const WorkloadOf& workloadOf, WallTime now);

class DefaultEvictor final : public EvictPlugin {
 public:
  static constexpr std::string_view kName = "DefaultEvictor";
  DefaultEvictor(Desk& desk, DefaultEvictorArgs args) : desk_(desk), args_(std::move(args)) {}

  std::string_view name() const override { return kName; }
  std::optional<std::string> refusal(const api::Pod& pod) override;
  std::optional<std::string> refusalNow(const api::Pod& pod) override;
  bool evict(const Eviction& eviction) override;
  void beginCycle(const Look& look) override;
  void endCycle() override { elsewhere_.end(); }

 private:
  Desk& desk_;
  DefaultEvictorArgs args_;
  Elsewhere elsewhere_;
};

}  // namespace mangrove::descheduler
