#pragma once
// Keeps the Device object of this node: looks for devices now and then, writes only when something
// but a time differs, creates the object when it is missing.
//
//   DeviceReporter reporter(client, owner, "n1", {.accelerators = true});
//   reporter.follow(object);
//   reporter.tick(look, node, informer.hasSynced());
//
// Owner thread.

#include <memory>
#include <optional>
#include <string>

#include "agent/devices/inventory.h"
#include "agent/look.h"
#include "agent/report/sole_writer.h"
#include "api/object/node.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::agent {

struct DeviceOptions {
  bool accelerators = false;
  bool rdma = false;
  std::string xpuDir = "var/run/koordlet/xpu-device-infos";  // below the machine's root
  bool xpuOnly = false;                                      // do not ask NVIDIA's library
  Duration interval = std::chrono::seconds(10);
  bool any() const { return accelerators || rdma; }
};

struct DeviceStats {
  uint64_t looks = 0, failedLooks = 0;
  uint64_t created = 0, patched = 0, failed = 0;
};

// `want` with the times of conditions that did not change since `present`, others with `now`.
std::vector<api::DeviceInfo> withTransitions(std::vector<api::DeviceInfo> want,
                                             const std::vector<api::DeviceInfo>& present,
                                             WallTime now);
// What to send so that `object` says what `want` says; nullopt: nothing.
std::optional<json::Value> devicePatch(const api::Device& object, const Inventory& want,
                                       WallTime now);
json::Value newDevice(const std::string& name, const api::Node& node, const Inventory& want,
                      WallTime now);

class DeviceReporter {
 public:
  DeviceReporter(client::ApiClient& client, Mailbox& owner, const std::string& node,
                 DeviceOptions options);

  void follow(std::shared_ptr<const api::Device> object) { object_ = std::move(object); }
  void tick(const Look& look, const api::Node* node, bool synced);
  const DeviceStats& stats() const { return stats_; }
  const DeviceOptions& options() const { return options_; }

 private:
  Inventory lookAround(const Machine& machine);
  SoleWriter::Told counting(uint64_t& counter);

  SoleWriter writer_;
  DeviceOptions options_;
  std::shared_ptr<const api::Device> object_;
  Inventory accelerators_;  // as read last: a broken file keeps them
  MonoTime lastLook_ = MonoTime::min();
  std::string lastTrouble_;
  DeviceStats stats_;
};

}  // namespace mangrove::agent
