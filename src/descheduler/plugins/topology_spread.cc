#include "descheduler/plugins/topology_spread.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "api/select/label_selector.h"
#include "descheduler/order/pod_order.h"

namespace mangrove::descheduler {
namespace {

// A constraint as it holds in one namespace: equal ones of many pods are one.
struct Constraint {
  std::string ns;
  int64_t maxSkew = 1;
  Interned topologyKey;
  api::Selector selector;
  const api::Pod* of =
      nullptr;  // one of the pods that ask for it: its node rules decide on domains
  bool honorAffinity = true;
  bool honorTaints = false;

  bool isSame(const Constraint& other) const {
    return ns == other.ns && maxSkew == other.maxSkew && topologyKey == other.topologyKey &&
           selector == other.selector && honorAffinity == other.honorAffinity &&
           honorTaints == other.honorTaints;
  }
};

struct Domain {
  Nodes nodes;
  Pods pods;  // who would go first is last
};
using Domains = std::map<std::string, Domain, std::less<>>;

api::Selector selectorOf(const api::Pod& pod, const api::SpreadConstraint& constraint) {
  api::Selector out = api::compile(constraint.selector).value_or(api::Selector::nothing());
  for (Interned key : constraint.matchLabelKeys) {
    const auto value = pod.meta.labels.get(key.view());
    if (!value || out.matchesNothing()) continue;
    if (auto made = api::Requirement::make(key.view(), api::Operator::kIn, {*value})) {
      out.add(std::move(*made));
    }
  }
  return out;
}

bool isEligible(const api::Node& node, const Constraint& constraint) {
  if (constraint.honorAffinity && !isWantedBy(*constraint.of, node)) return false;
  return !constraint.honorTaints || toleratesAll(*constraint.of, node);
}

Domains domainsOf(const Round& round, const Constraint& constraint) {
  Domains out;
  for (const api::Node* node : round.nodes) {
    const auto value = node->meta.labels.get(constraint.topologyKey.view());
    if (!value || !isEligible(*node, constraint)) continue;
    Domain& domain = out[std::string(*value)];
    domain.nodes.push_back(node);
    for (const api::Pod* pod : round.look.activeOn(node->meta.name.view())) {
      const bool counts = pod->meta.ns.view() == constraint.ns && !pod->meta.isDeleting();
      if (counts && constraint.selector.matches(pod->meta.labels)) domain.pods.push_back(pod);
    }
  }
  return out;
}

bool isTied(const api::Pod& pod) {
  return !pod.spec->nodeSelector.empty() || pod.spec->affinity->node.required.has_value();
}

// Last: who may go, is bound to no node by its own wish, and ranks lowest.
void orderForLeaving(Pods& pods, Evictor& evictor) {
  std::set<const api::Pod*> permitted;
  for (const api::Pod* pod : pods) {
    if (evictor.permits(*pod)) permitted.insert(pod);
  }
  std::stable_sort(pods.begin(), pods.end(), [&](const api::Pod* a, const api::Pod* b) {
    const bool goesA = permitted.contains(a), goesB = permitted.contains(b);
    if (goesA != goesB) return !goesA;
    if (isTied(*a) != isTied(*b)) return isTied(*a);
    return rankOf(*b) < rankOf(*a);
  });
}

class Balance {
 public:
  Balance(Round& round, const Constraint& constraint, bool nodeFit)
      : round_(round), constraint_(constraint), nodeFit_(nodeFit) {
    for (auto& [value, domain] : domainsOf(round, constraint))
      domains_.push_back(std::move(domain));
  }

  void run(std::set<const api::Pod*>& gone) {
    std::vector<size_t> sizes;
    for (Domain& domain : domains_) {
      std::erase_if(domain.pods, [&](const api::Pod* pod) { return gone.contains(pod); });
      orderForLeaving(domain.pods, round_.evictor);
      sizes.push_back(domain.pods.size());
    }
    for (const Move& move : movesToBalance(sizes, constraint_.maxSkew)) carryOut(move, gone);
  }

 private:
  void carryOut(const Move& move, std::set<const api::Pod*>& gone) {
    Pods& from = domains_[move.from].pods;
    for (size_t i = 0; i < move.pods && !from.empty(); ++i) {
      const api::Pod* pod = from.back();
      from.pop_back();
      if (leaves(*pod, domains_[move.to])) gone.insert(pod);
    }
  }
  bool leaves(const api::Pod& pod, const Domain& to) {
    if (nodeFit_ && !round_.fit.fitsAny(pod, to.nodes)) return false;
    if (!round_.evictor.permits(pod) || !round_.evictor.permitsNow(pod)) return false;
    return round_.evictor.evict(pod, ViolatingTopologySpread::kName,
                                fmt::format("its spread over {} differs by more than {}",
                                            constraint_.topologyKey.view(), constraint_.maxSkew));
  }

  Round& round_;
  const Constraint& constraint_;
  bool nodeFit_;
  std::vector<Domain> domains_;
};

std::vector<Constraint> constraintsOf(const Round& round, const TopologySpreadArgs& args) {
  std::vector<Constraint> out;
  const auto add = [&](const api::Pod& pod, const api::SpreadConstraint& said) {
    if (said.isHard ? !args.hard : !args.soft) return;
    Constraint one{pod.meta.ns.str(),     said.maxSkew, said.topologyKey,
                   selectorOf(pod, said), &pod,         said.honorNodeAffinity,
                   said.honorNodeTaints};
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const Constraint& other) { return one.isSame(other); });
    if (!known) out.push_back(std::move(one));
  };
  for (const api::Node* node : round.nodes) {
    for (const api::Pod* pod : round.look.activeOn(node->meta.name.view())) {
      if (!args.scope.takes(*pod)) continue;
      for (const api::SpreadConstraint& said : pod->spec->spread) add(*pod, said);
    }
  }
  return out;
}

void add(std::vector<Move>& moves, size_t from, size_t to) {
  const auto same = std::find_if(moves.begin(), moves.end(),
                                 [&](const Move& one) { return one.from == from && one.to == to; });
  if (same != moves.end()) ++same->pods;
  if (same == moves.end()) moves.push_back({from, to, 1});
}

}  // namespace

std::vector<Move> movesToBalance(std::vector<size_t> sizes, int64_t maxSkew) {
  std::vector<Move> out;
  const auto skew = static_cast<size_t>(std::max<int64_t>(maxSkew, 1));  // 0 would never end
  while (!sizes.empty()) {
    const auto [least, most] = std::pair(std::min_element(sizes.begin(), sizes.end()),
                                         std::max_element(sizes.begin(), sizes.end()));
    if (*most - *least <= skew) break;
    --*most;
    ++*least;
    add(out, static_cast<size_t>(most - sizes.begin()), static_cast<size_t>(least - sizes.begin()));
  }
  return out;
}

Result<> ViolatingTopologySpread::run(Round& round) {
  std::set<const api::Pod*> gone;
  for (const Constraint& constraint : constraintsOf(round, args_)) {
    Balance(round, constraint, args_.nodeFit).run(gone);
  }
  return {};
}

}  // namespace mangrove::descheduler
