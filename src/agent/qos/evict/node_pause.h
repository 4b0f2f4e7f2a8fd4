#pragma once
// Tells the cluster that this node takes no new best-effort work for a while: a condition that says
// why, upon which the manager reports no more batch resources than are placed already, so that
// nothing new fits and services do not notice. Where asked for, a taint as well: every scheduler
// understands it, but it keeps services out too unless they tolerate it. Compared with the Node at
// every tick and sent only when it differs.
//
//   NodePause pause({client, owner, clock, events}, {});
//   pause.want(true, "BEMemoryEvict", *node);
//
// Owner thread.

#include <memory>
#include <string>
#include <string_view>

#include "api/object/node.h"
#include "api/object/node_pause.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"

namespace mangrove::agent {

inline constexpr std::string_view kCooldownTaint = "colocation.mangrove.io/colocation-cooldown";

struct PauseSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  client::EventRecorder& events;
};

struct PauseOptions {
  std::string effect;  // of a taint, "NoSchedule"; "": only the condition
  std::string_view taint = kCooldownTaint;
  std::string_view condition = api::kBestEffortPaused;
  std::string_view reason = "PodsEvicted";
};
// Crane's: a watermark was crossed.
inline constexpr std::string_view kCraneTaint = "interference.crane.io";
inline constexpr std::string_view kCraneCondition = "interference-identified";

// The patches that bring the Node there; "" when it is. Pure.
std::string taintPatch(const api::Node& node, bool wanted, const std::string& effect,
                       std::string_view key = kCooldownTaint);
std::string conditionPatch(const api::Node& node, bool wanted, std::string_view why, WallTime now,
                           const PauseOptions& options = {});

class NodePause {
 public:
  // An answer that does not come is not waited for longer.
  static constexpr Duration kPatience = std::chrono::seconds(10);

  NodePause(PauseSetup setup, PauseOptions options);
  ~NodePause();

  void want(bool paused, std::string_view why, const api::Node& node);

 private:
  void send(const api::Node& node, std::string body, std::string subresource);

  PauseSetup setup_;
  PauseOptions options_;
  MonoTime sentAt_ = MonoTime::min();
  bool told_ = false;
  Lifetime life_;
};

}  // namespace mangrove::agent
