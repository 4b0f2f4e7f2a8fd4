#pragma once
// What a controller of the manager is. It lives in a folder of its own below controllers/ and has
// one line in controllers/list.def; names, switches, gates, flags and the manager's RBAC rules
// follow from what it says of itself here. docs/extending.md has a whole one.
//
//   class Tidy final : public Controller {
//    public:
//     explicit Tidy(const ControllerSetup& setup) : desk_(setup.desk), keys_(setup.keys) {}
//     void start() override;                                   // whose changes bring which keys
//     void reconcile(const std::string& key, ControlLoop::Done done) override;
//   };
//   ControllerInfo controllers::tidy() { return {.name = "tidy", .make = makeController<Tidy>}; }
//
// Owner thread, all of it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/feature_gates.h"
#include "client/api_client.h"
#include "frame/flags.h"
#include "manager/control_loop.h"
#include "manager/desk.h"
#include "manager/options.h"

namespace mangrove::manager {

struct ControllerSetup {
  Desk& desk;
  ControlLoop& keys;  // its own: add() brings a key to reconcile(), now or after a while
  const ManagerOptions& options;
  const CacheSetup& informers;  // for kinds that no other controller follows (client::follow)
};

class Controller {
 public:
  virtual ~Controller() = default;

  // Before the first list: subscribe to caches, start informers of one's own.
  virtual void start() {}
  // While this process leads. Calls `done` exactly once, at once or after its writes; an error
  // brings the key again after a growing delay. One that goes by the clock alone has no keys.
  virtual void reconcile(const std::string& key, ControlLoop::Done done);
  // Every key there is: for a new leader, and after a change of the configuration.
  using Visit = std::function<void(std::string_view key)>;
  virtual void each(const Visit& visit) const;
  // "" when its own lists are in, else what is missing; nobody reconciles before.
  virtual std::string waitingFor() const { return ""; }
  // This process begins to lead.
  virtual void lead() {}
};

// What a controller asks of the API server; config/rbac must grant exactly that (access.h).
struct Access {
  api::Kind kind;
  std::string_view verbs;  // "list watch patch"
  std::string_view subresource = "";
};
inline constexpr std::string_view kFollow = "list watch";

struct ControllerInfo {
  std::string_view name;  // as --controllers and the log have it
  std::unique_ptr<Controller> (*make)(const ControllerSetup&) = nullptr;
  std::vector<Access> access = {};
  // Takes keys only while that one has none ready: what is sold must be right before anything else.
  std::string_view after = "";
  std::optional<GateInfo> gate = {};     // runs only while this gate is on
  std::vector<GateInfo> moreGates = {};  // what else it asks ManagerOptions::gates for
  void (*flags)(frame::Flags&, OwnOptions&) = nullptr;
  Result<> (*check)(const OwnOptions&) = nullptr;  // of what the flags were given
};

template <class T>
std::unique_ptr<Controller> makeController(const ControllerSetup& setup) {
  return std::make_unique<T>(setup);
}

}  // namespace mangrove::manager
