#pragma once
// The frame of every long-running role: flags, logging, feature gates, health and metrics, signals,
// one owner thread.
//
//   class Agent final : public Role {
//     RoleInfo info() const override { return {.name = "agent", .about = "…"}; }
//     void flags(Flags& flags) override { flags.add("node-name", node_, "…"); }
//     // On the owner thread; returns as soon as work is under way.
//     Result<> start(RoleContext& context) override;
//     // Finishes what was started, then calls stopped().
//     void stop(Fn stopped) override;
//   };
//   int main(…) { Agent agent; return runRole(agent, args); }
//
// start, stop and all of a role's own state belong to the owner thread, which is the thread that
// called runRole.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/feature_gates.h"
#include "base/fn.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/result.h"
#include "client/api_client.h"
#include "frame/flags.h"
#include "frame/health.h"
#include "frame/ops_server.h"
#include "net/loop.h"

namespace mangrove::frame {

namespace record {
class Recorder;
class Turns;
}  // namespace record

struct RoleInfo {
  std::string_view name;   // the subcommand: "agent"
  std::string_view about;  // one line for --help
  std::string_view opsFlag = "metrics-bind-address";
  std::string_view opsDefault = ":8080";
  bool opsOnLoopback = false;  // ":PORT" is loopback's, other addresses are refused
  std::span<const GateInfo> gates = {};
  bool ownConfigFlag = false;                     // --config is the role's own, not a file of flags
  Duration stopGrace = std::chrono::seconds(30);  // after this a stop is forced
  // Offers --record: everything the role decides follows from its clock, its client and its owner's
  // messages, and decides on the owner's thread alone.
  bool records = false;
};

// What a role may use. Everything outlives the role's stop().
struct RoleContext {
  Clock& clock;
  Mailbox& owner;
  net::Loop& io;
  Registry& metrics;
  Health& health;
  const FeatureGates& gates;
  OpsServer* ops;  // null when switched off
  // Ends the process in an orderly way with this exit code; for a lost lease or a broken invariant
  // of the outside.
  UniqueFn<void(int)> quit;
  // While the role is recorded or replayed (frame/record/); null otherwise.
  record::Turns* turns = nullptr;
  record::Recorder* recorder = nullptr;
  std::string identity = {};  // "": made from host and process (identityOf)

  bool isReplay() const { return turns != nullptr && recorder == nullptr; }
  // Where objects are decoded: a recorded role does it all in one thread.
  Mailbox& home(Mailbox& worker) const { return turns ? owner : worker; }
  // For what goes on beside the role's decisions and is never replayed: pages, admission.
  Clock& asideClock() const;
  client::ApiClient* aside(client::ApiClient* client) const;
};

// Who this process is in leases: unique also when two share a host.
std::string identityOf(const RoleContext& context);

class Role {
 public:
  virtual ~Role() = default;
  virtual RoleInfo info() const = 0;
  virtual void flags(Flags&) {}
  virtual Result<> start(RoleContext& context) = 0;
  virtual void stop(Fn stopped) { stopped(); }
};

// Parses `args`, runs the role until SIGTERM, SIGINT or quit(), and returns the process's exit
// code: 0 after an orderly stop, 1 when it could not start or stop, 2 for wrong flags.
int runRole(Role& role, const std::vector<std::string>& args);

}  // namespace mangrove::frame
