#pragma once
// A role with the dashboard beside it: `mangrove agent` and `mangrove manager`. Others can reach
// these, so nothing is served without a token.
//
//   dashboard::Hub hub;
//   DashboardRole role(inner, hub,
//                      [&] { return DashboardHouse{inner.client(), inner.home(), {}}; });
//   return frame::runRole(role, args);
//
// Everything on the owner thread of the inner role. The hub and the inner role outlive it.

#include <functional>
#include <memory>
#include <string>

#include "cli/dashboard_listener.h"
#include "frame/role.h"

namespace mangrove::cli {

// What the inner role lends, once it has started.
struct DashboardHouse {
  client::ApiClient* client = nullptr;  // null: there is nothing to show
  Mailbox* home = nullptr;
  std::string node = {};  // an agent's own; "": the whole cluster
  std::string configNamespace = {}, configName = {};
};

class DashboardRole final : public frame::Role {
 public:
  using AskHouse = std::function<DashboardHouse()>;
  DashboardRole(frame::Role& inner, dashboard::Hub& hub, AskHouse house)
      : inner_(inner), hub_(hub), house_(std::move(house)) {}

  frame::RoleInfo info() const override { return inner_.info(); }
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

 private:
  Result<> check() const;
  Result<> serve(frame::RoleContext& context);

  frame::Role& inner_;
  dashboard::Hub& hub_;
  AskHouse house_;
  std::string address_;
  std::string tokenFile_;
  std::unique_ptr<dashboard::ClusterFeed> feed_;
  std::unique_ptr<DashboardListener> listener_;
};

}  // namespace mangrove::cli
