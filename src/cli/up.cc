// mangrove up, with the dashboard beside its roles.
#include "up/up.h"

#include <fmt/core.h>

#include "base/os/log.h"
#include "cli/command.h"
#include "cli/dashboard_listener.h"
#include "cli/explain_controls.h"
#include "cli/hub_feeding.h"

namespace mangrove::cli {
namespace {

const Logger logger("dashboard");

// A role like the others: its thread follows the API through the process's own client.
class DashboardMate final : public up::MateRole {
 public:
  DashboardMate(up::MateHouse& house, dashboard::Hub& hub, const up::UpRole& role)
      : hub_(hub),
        role_(role),
        client_(house.client),
        feed_({.client = &house.client,
               .owner = &house.owner,
               .home = &house.home,
               .clock = &house.clock},
              hub) {}
  ~DashboardMate() override {
    if (listener_) listener_->board().setFeed(nullptr);
  }

  // A port that is taken costs the dashboard, not the machine.
  Result<> start() override {
    hub_.setLiveNode(role_.nodeName());
    auto listener = DashboardListener::open(hub_, role_.dashboard(), role_.dashboardTokenFile());
    if (!listener && listener.error().code() == Code::kInvalid) return pass(listener.error());
    if (!listener) {
      logger.warn("no dashboard: {}; --dashboard HOST:PORT names another place, 0 none",
                  listener.error().text());
      return {};
    }
    listener_ = std::move(*listener);
    if (!listener_) return {};
    listener_->board().setFeed(&feed_);
    feed_.start();
    announce();
    fmt::print("dashboard on {}\n", listener_->url());
    std::fflush(stdout);
    return {};
  }

 private:
  // So that `mangrove explain` finds the agent of this machine, which has no port of its own.
  void announce() {
    const json::Object patch{
        {"metadata", {{"annotations", {{std::string(kAgentAddress), listener_->url() + "api"}}}}}};
    client_.submit(client::patchRequest({client::kind::kNode, "", role_.nodeName()},
                                        client::PatchType::kMerge, json::write(patch)),
                   [](Result<client::Reply> done) {
                     if (!done)
                       logger.warn("explain will not find the agent: {}", done.error().text());
                   });
  }

  dashboard::Hub& hub_;
  const up::UpRole& role_;
  client::ApiClient& client_;
  dashboard::ClusterFeed feed_;
  std::unique_ptr<DashboardListener> listener_;
};

}  // namespace

int up(const std::vector<std::string>& args) {
  dashboard::Hub hub;
  mangrove::up::UpRole role;
  role.onLook(feeding(hub));
  role.addRole({"dashboard", [&](mangrove::up::MateHouse& house) {
                  return std::make_unique<DashboardMate>(house, hub, role);
                }});
  return frame::runRole(role, args);
}

}  // namespace mangrove::cli
