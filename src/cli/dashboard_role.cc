#include "cli/dashboard_role.h"

#include "base/os/log.h"

namespace mangrove::cli {
namespace {

const Logger logger("dashboard");

constexpr const char* kDefaultAddress = ":9317";

}  // namespace

void DashboardRole::flags(frame::Flags& flags) {
  inner_.flags(flags);
  flags.add("dashboard", address_,
            "where the dashboard is served; 0 for nowhere; default: :9317 when there is a token");
  flags.add("dashboard-token-file", tokenFile_,
            "file with the token the dashboard wants; without one none is served");
}

Result<> DashboardRole::check() const {
  if (!tokenFile_.empty() || address_.empty() || address_ == "0") return {};
  return invalid("--dashboard {}: others could look; name a file with --dashboard-token-file",
                 address_);
}

// A port that is taken costs the dashboard, not the role.
Result<> DashboardRole::serve(frame::RoleContext& context) {
  const DashboardHouse house = tokenFile_.empty() ? DashboardHouse{} : house_();
  if (house.client == nullptr) return {};
  auto listener =
      DashboardListener::open(hub_, address_.empty() ? kDefaultAddress : address_, tokenFile_);
  if (!listener && listener.error().code() == Code::kInvalid) return pass(listener.error());
  if (!listener) {
    logger.warn("no dashboard: {}; --dashboard HOST:PORT names another place, 0 none",
                listener.error().text());
    return {};
  }
  listener_ = std::move(*listener);
  if (!listener_) return {};
  hub_.setLiveNode(house.node);
  feed_ = std::make_unique<dashboard::ClusterFeed>(
      dashboard::FeedSetup{.client = house.client,
                           .owner = &context.owner,
                           .home = house.home,
                           .clock = &context.asideClock(),
                           .configNamespace = house.configNamespace,
                           .configName = house.configName,
                           .node = house.node},
      hub_);
  listener_->board().setFeed(feed_.get());
  feed_->start();
  logger.info("dashboard on {}", listener_->url());
  return {};
}

Result<> DashboardRole::start(frame::RoleContext& context) {
  if (auto ok = check(); !ok) return ok;
  if (auto ok = inner_.start(context); !ok) return ok;
  return serve(context);
}

void DashboardRole::stop(Fn stopped) {
  if (listener_) listener_->board().setFeed(nullptr);
  feed_.reset();
  listener_.reset();
  inner_.stop(std::move(stopped));
}

}  // namespace mangrove::cli
