#include "placement/reservation/owners.h"

#include <algorithm>

namespace mangrove::placement {
namespace {

constexpr std::string_view kPodApiVersion = "v1";

bool agrees(std::string_view wanted, std::string_view found) {
  return wanted.empty() || wanted == found;
}

bool isObject(const api::ObjectRef& wanted, const api::ObjectMeta& pod) {
  return agrees(wanted.uid, pod.uid.str()) && agrees(wanted.name, pod.name) &&
         agrees(wanted.ns, pod.ns.view()) && agrees(wanted.apiVersion, kPodApiVersion);
}

bool isOwner(const api::ControllerReference& wanted, const api::OwnerReference& owner) {
  return wanted.controller.value_or(owner.controller) == owner.controller &&
         agrees(wanted.uid, owner.uid.str()) && agrees(wanted.name, owner.name) &&
         agrees(wanted.kind, owner.kind.view()) &&
         agrees(wanted.apiVersion, owner.apiVersion.view());
}

// A pod that nobody owns has no controller, not even one without any wish.
bool isControlled(const api::ControllerReference& wanted, const api::ObjectMeta& pod) {
  return agrees(wanted.ns, pod.ns.view()) &&
         std::ranges::any_of(*pod.owners,
                             [&](const auto& owner) { return isOwner(wanted, owner); });
}

}  // namespace

Result<OwnerTerms> OwnerTerms::compile(const std::vector<api::ReservationOwner>& owners) {
  OwnerTerms out;
  for (const api::ReservationOwner& owner : owners) {
    Term term{owner.object, owner.controller, std::nullopt};
    if (owner.labelSelector) {
      auto labels = api::compile(*owner.labelSelector);
      if (!labels) return labels.error().in("owners[{}].labelSelector", out.terms_.size());
      term.labels = *std::move(labels);
    }
    out.terms_.push_back(std::move(term));
  }
  return out;
}

bool OwnerTerms::holds(const Term& term, const api::Pod& pod) {
  return (!term.object || isObject(*term.object, pod.meta)) &&
         (!term.controller || isControlled(*term.controller, pod.meta)) &&
         (!term.labels || term.labels->matches(pod.meta.labels));
}

bool OwnerTerms::match(const api::Pod& pod) const {
  return std::ranges::any_of(terms_, [&](const Term& term) { return holds(term, pod); });
}

bool OwnerTerms::selects(const api::Labels& labels) const {
  return std::ranges::any_of(
      terms_, [&](const Term& term) { return term.labels && term.labels->matches(labels); });
}

}  // namespace mangrove::placement
