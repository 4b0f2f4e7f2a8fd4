// Joins NodeQOS, PodQOS, AvoidanceActions and InterferencePolicies into what each node's NodeSLO says,
// so that agents watch one object; tells whoever wrote something that cannot be used. Owner thread.
#include <set>

#include "api/object/event.h"
#include "client/informer/follow.h"
#include "client/informer/informer.h"
#include "json/value.h"
#include "manager/controllers/interference/rules.h"
#include "manager/controllers/list.h"
#include "manager/listed.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

constexpr GateInfo kGate{"InterferenceRules", false, Maturity::kAlpha,
                         "Crane's rules and interference policies for agents"};

template <class T>
void gather(const client::Informer<T>& from, std::map<std::string, const T*>& into) {
  from.each([&](std::string_view key, const T& one) { into[std::string(key)] = &one; });
}

// Under other roles we may not ask for the kind, installed or not: there are none for us.
template <class T>
std::string missing(const client::Informer<T>& from, std::string_view what) {
  const auto trouble = from.trouble();
  if (trouble && trouble->code() == Code::kDenied) return "";
  return notListed(from, what);
}

class InterferenceController final : public Controller {
 public:
  explicit InterferenceController(const ControllerSetup& setup)
      : desk_(setup.desk),
        nodes_(client::follow(setup.informers, kind::kNodeQos)),
        pods_(client::follow(setup.informers, kind::kPodQos)),
        actions_(client::follow(setup.informers, kind::kAvoidanceAction)),
        policies_(client::follow(setup.informers, kind::kInterferencePolicy)) {
    desk_.rules.of = [this](const api::Node& node) { return extensionsOf(node); };
  }

  void start() override {
    nodes_.onChange([this](const auto&) { changed(); });
    pods_.onChange([this](const auto&) { changed(); });
    actions_.onChange([this](const auto&) { changed(); });
    policies_.onChange([this](const auto&) { changed(); });
    nodes_.start();
    pods_.start();
    actions_.start();
    policies_.start();
  }
  std::string waitingFor() const override {
    for (const std::string& why :
         {missing(nodes_, "NodeQOS"), missing(pods_, "PodQOS"),
          missing(actions_, "AvoidanceActions"), missing(policies_, "InterferencePolicies")})
      if (!why.empty()) return why;
    return "";
  }
  void lead() override { told_.clear(); }

 private:
  void changed() {
    told_.clear();
    if (!desk_.rules.changed) return;
    desk_.caches.nodes.each(
        [this](std::string_view name, const api::Node&) { desk_.rules.changed(name); });
  }

  NodeRules::Extensions extensionsOf(const api::Node& node) {
    AllRules all;
    gather(nodes_, all.nodes);
    gather(pods_, all.pods);
    gather(actions_, all.actions);
    gather(policies_, all.policies);
    const JoinedRules joined = joinRules(all, node.meta.labels);
    for (const RuleTrouble& one : joined.troubles) tell(all, one);
    NodeRules::Extensions out;
    if (!joined.crane.empty())
      out[std::string(api::kCraneExtension)].text = json::write(toJson(joined.crane));
    if (joined.policy)
      out[std::string(api::kInterferenceExtension)].text = json::write(toJson(*joined.policy));
    return out;
  }

  // Once for each content, and not once per node.
  void tell(const AllRules& all, const RuleTrouble& one) {
    if (!told_.insert(one.kind + "/" + one.name + ": " + one.text).second) return;
    const auto warn = [&](const auto& objects, const api::Kind& of) {
      if (const auto found = objects.find(one.name); found != objects.end())
        desk_.warn(api::refTo(of, found->second->meta), one.reason, one.text);
    };
    if (one.kind == "NodeQOS") warn(all.nodes, kind::kNodeQos);
    if (one.kind == "PodQOS") warn(all.pods, kind::kPodQos);
    if (one.kind == "AvoidanceAction") warn(all.actions, kind::kAvoidanceAction);
    if (one.kind == "InterferencePolicy") warn(all.policies, kind::kInterferencePolicy);
  }

  Desk& desk_;
  client::Informer<api::NodeQos> nodes_;
  client::Informer<api::PodQos> pods_;
  client::Informer<api::AvoidanceAction> actions_;
  client::Informer<api::InterferencePolicy> policies_;
  std::set<std::string> told_;
};

}  // namespace

ControllerInfo controllers::interference() {
  return {.name = "interference",
          .make = makeController<InterferenceController>,
          .access = {{kind::kNodeQos, kFollow},
                     {kind::kPodQos, kFollow},
                     {kind::kAvoidanceAction, kFollow},
                     {kind::kInterferencePolicy, kFollow}},
          .after = "noderesource",
          .gate = kGate};
}

}  // namespace mangrove::manager
