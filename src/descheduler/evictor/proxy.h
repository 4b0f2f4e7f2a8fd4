#pragma once
// The evictor that plugins of a profile see: filters of the profile, limits of the cycle, dry run,
// and then the one plugin that evicts.

#include <functional>
#include <string>
#include <vector>

#include "descheduler/evictor/cycle_limits.h"
#include "descheduler/plugin.h"

namespace mangrove::descheduler {

// What a plugin for filter and evict offers: MigrationController, DefaultEvictor.
class EvictPlugin {
 public:
  virtual ~EvictPlugin() = default;
  virtual std::string_view name() const = 0;
  virtual std::optional<std::string> refusal(const api::Pod& pod) = 0;     // Filter
  virtual std::optional<std::string> refusalNow(const api::Pod& pod) = 0;  // PreEvictionFilter
  virtual bool evict(const api::Pod& pod, std::string_view plugin, std::string_view reason) = 0;
  // The Look is there from one to the other.
  virtual void beginCycle(const Look& look) = 0;
  virtual void endCycle() = 0;
};

// Told of each attempt: (pod, plugin, "success" | "error" | the limit that held it).
using Counted = std::function<void(const api::Pod&, std::string_view, std::string_view)>;

class EvictorProxy final : public Evictor {
 public:
  EvictorProxy(std::vector<EvictPlugin*> filters, EvictPlugin& evict, CycleCount& count,
               bool dryRun, Counted counted)
      : filters_(std::move(filters)),
        evict_(evict),
        count_(count),
        dryRun_(dryRun),
        counted_(std::move(counted)) {}
  bool permits(const api::Pod& pod) override;
  bool permitsNow(const api::Pod& pod) override;
  bool evict(const api::Pod& pod, std::string_view plugin, std::string_view reason) override;

 private:
  std::vector<EvictPlugin*> filters_;
  EvictPlugin& evict_;
  CycleCount& count_;
  bool dryRun_;
  Counted counted_;
};

}  // namespace mangrove::descheduler
