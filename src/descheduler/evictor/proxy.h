#pragma once
// The evictor that plugins of a profile see: filters of the profile, limits of the cycle, dry run,
// and then the one plugin that evicts.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "descheduler/evictor/cycle_limits.h"
#include "descheduler/evictor/journal.h"
#include "descheduler/plugin.h"

namespace mangrove::descheduler {

struct Eviction {
  const api::Pod& pod;
  std::string_view plugin, reason;
  std::string_view target = "";  // where it was proven to land; "": nobody was asked
  bool unplaceable = false;      // somebody was asked, and it lands nowhere
  std::string_view mode = "";    // ReservationFirst, EvictDirectly or DefaultEvictor; by the proxy
};

std::string_view basisOf(const Eviction& eviction);  // "proven", "unproven", "unplaceable"

// What a plugin for filter and evict offers: MigrationController, DefaultEvictor.
class EvictPlugin {
 public:
  virtual ~EvictPlugin() = default;
  virtual std::string_view name() const = 0;
  virtual std::optional<std::string> refusal(const api::Pod& pod) = 0;     // Filter
  virtual std::optional<std::string> refusalNow(const api::Pod& pod) = 0;  // PreEvictionFilter
  virtual bool evict(const Eviction& eviction) = 0;
  // How it would go, for the counts.
  virtual std::string_view modeOf(const Eviction&) const { return name(); }
  // Whoever has to move with it, itself included; empty: it moves alone.
  virtual Pods companionsOf(const api::Pod&) { return {}; }
  virtual bool evictTogether(std::span<const Eviction>) { return false; }
  // Moves are proven beforehand.
  virtual bool wantsProof() const { return false; }
  // Whether a pod that lands nowhere may go all the same.
  virtual bool takesUnplaceable(const api::Pod&) { return false; }
  // The Look is there from one to the other.
  virtual void beginCycle(const Look& look) = 0;
  virtual void endCycle() = 0;
};

// Told of each attempt: "success", "error", or the limit that held it.
using Counted = std::function<void(const Eviction&, std::string_view result)>;

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
  bool evictTo(const api::Pod& pod, std::string_view target, std::string_view plugin,
               std::string_view reason) override;
  bool evictAnyway(const api::Pod& pod, std::string_view plugin, std::string_view reason) override;
  Pods companionsOf(const api::Pod& pod) override;
  bool evictTogether(const Pods& pods, const std::vector<std::string>& targets,
                     std::string_view plugin, std::string_view reason) override;
  void tellStays(const api::Pod& pod, std::string why) override;
  void tellNeeded(size_t moves) override;

  // Asks before every eviction whose target is not known yet; null: nobody is asked.
  void prove(Foresight* foresight) { foresight_ = foresight; }
  Foresight* foresight() const { return foresight_; }
  bool wantsProof() const { return evict_.wantsProof(); }
  void tell(Journal& journal) { journal_ = &journal; }

 private:
  bool carryOut(Eviction eviction);
  bool evictWhole(const Pods& pods, std::string_view plugin, std::string_view reason);
  std::optional<std::string> limitFor(const Pods& pods) const;
  void note(const Eviction& eviction);

  std::vector<EvictPlugin*> filters_;
  EvictPlugin& evict_;
  CycleCount& count_;
  bool dryRun_;
  Counted counted_;
  Foresight* foresight_ = nullptr;
  Journal* journal_ = nullptr;
};

}  // namespace mangrove::descheduler
