#include "descheduler/plugins/anti_affinity.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/select/label_selector.h"
#include "descheduler/order/pod_order.h"

namespace mangrove::descheduler {
namespace {

struct Placed {
  const api::Pod* pod;
  const api::Node* node;
};

// A required term of one pod, compiled: whom it does not want within which domain.
struct Term {
  api::Selector unwanted = api::Selector::nothing();
  Interned topologyKey;
  bool everyNamespace = false;
  std::set<std::string, std::less<>> namespaces;

  bool reaches(std::string_view ns) const { return everyNamespace || namespaces.contains(ns); }
};

// matchLabelKeys narrow the term to pods with the same value, mismatchLabelKeys to others.
void narrow(api::Selector& selector, const api::Pod& pod, const std::vector<Interned>& keys,
            api::Operator op) {
  for (Interned key : keys) {
    const auto value = pod.meta.labels.get(key.view());
    if (!value) continue;
    if (auto made = api::Requirement::make(key.view(), op, {*value}))
      selector.add(std::move(*made));
  }
}

Term compileTerm(const api::Pod& pod, const api::PodAffinityTerm& term) {
  Term out;
  out.unwanted = api::compile(term.selector).value_or(api::Selector::nothing());
  out.topologyKey = term.topologyKey;
  if (!out.unwanted.matchesNothing()) {
    narrow(out.unwanted, pod, term.matchLabelKeys, api::Operator::kIn);
    narrow(out.unwanted, pod, term.mismatchLabelKeys, api::Operator::kNotIn);
  }
  for (Interned ns : term.namespaces) out.namespaces.insert(ns.str());
  const auto& selected = term.namespaceSelector;
  out.everyNamespace =
      selected && api::compile(*selected).value_or(api::Selector::nothing()).matchesEverything();
  if (out.namespaces.empty() && !selected) out.namespaces.insert(pod.meta.ns.str());
  return out;
}

bool shareDomain(const api::Node& a, const api::Node& b, Interned key) {
  const auto here = a.meta.labels.get(key.view());
  return here && here == b.meta.labels.get(key.view());
}

bool isTroubled(const Placed& who, const std::vector<Placed>& others) {
  for (const api::PodAffinityTerm& one : who.pod->spec->affinity->antiPod.required) {
    const Term term = compileTerm(*who.pod, one);
    const bool found = std::any_of(others.begin(), others.end(), [&](const Placed& other) {
      return other.pod != who.pod && term.reaches(other.pod->meta.ns.view()) &&
             shareDomain(*who.node, *other.node, term.topologyKey) &&
             term.unwanted.matches(other.pod->meta.labels);
    });
    if (found) return true;
  }
  return false;
}

std::vector<Placed> everybody(const Round& round) {
  std::vector<Placed> out;
  for (const api::Node* node : round.nodes) {
    for (const api::Pod* pod : round.look.activeOn(node->meta.name.view())) {
      if (!pod->meta.isDeleting()) out.push_back({pod, node});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Placed& a, const Placed& b) {
    return rankOf(*a.pod) < rankOf(*b.pod);
  });
  return out;
}

}  // namespace

Result<> ViolatingAntiAffinity::run(Round& round) {
  std::vector<Placed> staying = everybody(round);
  for (const Placed& who : std::vector<Placed>(staying)) {
    if (who.pod->spec->affinity->antiPod.required.empty() || !args_.scope.takes(*who.pod)) continue;
    if (!isTroubled(who, staying)) continue;
    if (!round.evictor.permits(*who.pod) || !round.evictor.permitsNow(*who.pod)) continue;
    if (!round.evictor.evict(*who.pod, kName,
                             "its anti-affinity does not want a neighbour it has")) {
      continue;
    }
    std::erase_if(staying, [&](const Placed& one) { return one.pod == who.pod; });
  }
  return {};
}

}  // namespace mangrove::descheduler
