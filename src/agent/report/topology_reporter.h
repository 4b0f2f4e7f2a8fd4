#pragma once
// Keeps the NodeResourceTopology as it should be: looks when something it depends on changed (or
// after a minute), writes only what differs, creates the object when it is missing. Parts that
// others own (zones' foreign resources, foreign annotations) stay.
//
//   TopologyReporter reporter({client, owner, "n1"}, {.interval = 3s});
//   reporter.follow(object);
//   reporter.tick(look, node, kubelet);
//
// Owner thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/look.h"
#include "agent/report/sole_writer.h"
#include "agent/report/topology.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::agent {

struct TopologyOptions {
  bool enabled = true;
  Duration interval = std::chrono::seconds(3);  // shortest time between two looks
  bool hugePages = false;
  std::string kubeletDir = "var/lib/kubelet";  // below the machine's root
};

struct TopologyStats {
  uint64_t looks = 0, failedLooks = 0;
  uint64_t created = 0, patched = 0, failed = 0;
};

class TopologyReporter {
 public:
  static constexpr Duration kResync = std::chrono::seconds(60);

  TopologyReporter(client::ApiClient& client, Mailbox& owner, const std::string& node,
                   TopologyOptions options);

  // The object as the server has it; null: none. `synced`: the server was asked.
  void follow(std::shared_ptr<const api::NodeResourceTopology> object) {
    object_ = std::move(object);
    ++seen_;
  }
  void tick(const Look& look, const std::shared_ptr<const api::Node>& node,
            const std::optional<KubeletConfig>& kubelet, bool synced);
  const TopologyStats& stats() const { return stats_; }
  // Called with each layout that was computed.
  void onDesired(std::function<void(const DesiredTopology&)> fn) { onDesired_ = std::move(fn); }

 private:
  struct Seen {
    uint64_t book = 0, object = 0;
    std::shared_ptr<const api::Node> node;
    CpuSet online;
    bool operator==(const Seen&) const = default;
  };
  Result<DesiredTopology> desired(const Look& look, const api::Node& node,
                                  const std::optional<KubeletConfig>& kubelet) const;
  void write(const DesiredTopology& want, const api::Node& node);
  SoleWriter::Told counting(uint64_t& counter);

  SoleWriter writer_;
  TopologyOptions options_;
  std::shared_ptr<const api::NodeResourceTopology> object_;
  uint64_t seen_ = 0;
  std::optional<Seen> last_;
  MonoTime lastLook_ = MonoTime::min();
  std::string lastTrouble_;
  std::function<void(const DesiredTopology&)> onDesired_;
  TopologyStats stats_;
};

// The merge patch that brings the object to what is wanted; nullopt: it is there already.
std::optional<json::Value> topologyPatch(const api::NodeResourceTopology& object,
                                         const DesiredTopology& want);
// Wanted zones with the resources that others put into the present ones.
std::vector<api::Zone> mergedZones(const std::vector<api::Zone>& present,
                                   const std::vector<api::Zone>& want);
// The object as it is created.
json::Value newTopology(const std::string& name, const api::Node& node,
                        const DesiredTopology& want);

}  // namespace mangrove::agent
