#pragma once
// What a plugin of the descheduler is, and what it may touch: the Look of the cycle, the quick fit,
// and the evictor of its profile, which alone does something.
//
//   class LowNodeLoad final : public Plugin {
//     Result<> run(Round& round) override;
//   };
//
// Plugins keep small state of their own from cycle to cycle (detectors); they have no clock, no
// client and no thread. Owner's thread.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "descheduler/fit.h"
#include "descheduler/foresight/foresight.h"
#include "descheduler/load/foresee.h"
#include "descheduler/look.h"

namespace mangrove::descheduler {

// Where evictions of a profile go through: its filters, the limits of the cycle, dry run.
class Evictor {
 public:
  virtual ~Evictor() = default;
  virtual bool permits(const api::Pod& pod) = 0;     // Filter of all filter plugins
  virtual bool permitsNow(const api::Pod& pod) = 0;  // PreEvictionFilter of all of them
  // False: refused by a limit, or it failed.
  virtual bool evict(const api::Pod& pod, std::string_view plugin, std::string_view reason) = 0;
  // The same for one that is proven already to land there.
  virtual bool evictTo(const api::Pod& pod, std::string_view /*target*/, std::string_view plugin,
                       std::string_view reason) {
    return evict(pod, plugin, reason);
  }
  // Whoever has to move with it, itself included: the members of its gang; empty: it moves alone.
  virtual Pods companionsOf(const api::Pod&) { return {}; }
  // All of them, proven together to land there in their order, or none.
  virtual bool evictTogether(const Pods&, const std::vector<std::string>& /*targets*/,
                             std::string_view /*plugin*/, std::string_view /*reason*/) {
    return false;
  }
  // For whoever looks at the cycle instead of doing it: why one that was asked about stays, and how
  // many moves a plan needs at least, whatever it chooses.
  virtual void tellStays(const api::Pod&, std::string /*why*/) {}
  virtual void tellNeeded(size_t /*moves*/) {}
  // For one that is known to land nowhere: only where that is allowed.
  virtual bool evictAnyway(const api::Pod&, std::string_view /*plugin*/,
                           std::string_view /*reason*/) {
    return false;
  }
};

// Other changes a plugin may want. The shell writes them; in a dry run nobody does.
class Hands {
 public:
  virtual ~Hands() = default;
  virtual bool cordon(const api::Node& node, bool on) = 0;
  virtual bool setDeletionCost(const api::Pod& pod, int32_t cost) = 0;
};

struct Round {
  const Look& look;
  const Nodes& nodes;  // of the profile
  MonoTime now;
  NodeFit& fit;
  Evictor& evictor;
  Hands& hands;
  bool dryRun = false;             // of the whole framework
  Foresight* foresight = nullptr;  // null: moves are not proven beforehand
  std::span<const UnderWay> underWay = {};
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;
  virtual Result<> run(Round& round) = 0;
};
using PluginPtr = std::unique_ptr<Plugin>;

}  // namespace mangrove::descheduler
