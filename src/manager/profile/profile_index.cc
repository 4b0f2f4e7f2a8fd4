#include "manager/profile/profile_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mangrove::manager {

size_t ProfileIndex::AnchorHash::operator()(const Anchor& anchor) const {
  const size_t flags = (anchor.ofNamespace ? 1 : 0) + (anchor.anyValue ? 2 : 0);
  return std::hash<Interned>()(anchor.key) ^ (std::hash<Interned>()(anchor.value) >> 7) ^ flags;
}

std::vector<ProfileIndex::Group> ProfileIndex::groupsOf(const Profile& profile) {
  std::vector<Group> groups;
  const auto add = [&](const api::Selector& selector, bool ofNamespace) {
    for (const api::Requirement& r : selector.requirements()) {
      using api::Operator;
      const bool valued = r.op() == Operator::kIn || r.op() == Operator::kEquals ||
                          r.op() == Operator::kDoubleEquals;
      Group group;
      if (valued)
        for (Interned value : r.values()) group.push_back({ofNamespace, false, r.key(), value});
      else if (r.op() == Operator::kExists)
        group.push_back({ofNamespace, true, r.key(), Interned()});
      if (!group.empty()) groups.push_back(std::move(group));
    }
  };
  add(profile.pods, false);
  if (profile.spec.namespaceSelector) add(profile.namespaces, true);
  return groups;
}

uint64_t ProfileIndex::costOf(const Group& group, const Counts& counts) {
  uint64_t cost = 0;
  for (const Anchor& anchor : group) cost += counts.at(anchor);
  return cost;
}

void ProfileIndex::hang(uint32_t place, const Counts& counts) {
  const std::vector<Group> groups = groupsOf(*profiles_[place]);
  const auto rarest = std::min_element(
      groups.begin(), groups.end(),
      [&](const Group& a, const Group& b) { return costOf(a, counts) < costOf(b, counts); });
  if (rarest == groups.end()) return always_.push_back(place);
  for (const Anchor& anchor : *rarest) hanging_[anchor].push_back(place);
}

ProfileIndex::ProfileIndex(Profiles profiles) : profiles_(std::move(profiles)) {
  std::sort(profiles_.begin(), profiles_.end(), [](const auto& a, const auto& b) {
    return std::tie(a->precedence, a->name) < std::tie(b->precedence, b->name);
  });
  Counts counts;
  for (const auto& profile : profiles_)
    for (const Group& group : groupsOf(*profile))
      for (const Anchor& anchor : group) ++counts[anchor];
  for (uint32_t place = 0; place < profiles_.size(); ++place)
    if (profiles_[place]->trouble.empty()) hang(place, counts);
}

void ProfileIndex::collect(bool ofNamespace, const api::Labels& labels,
                           std::vector<uint32_t>& out) const {
  const auto take = [&](const Anchor& anchor) {
    const auto found = hanging_.find(anchor);
    if (found != hanging_.end()) out.insert(out.end(), found->second.begin(), found->second.end());
  };
  for (const auto& [key, value] : labels) {
    take({ofNamespace, false, key, value});
    take({ofNamespace, true, key, Interned()});
  }
}

std::vector<uint32_t> ProfileIndex::candidatePlaces(const api::Labels* ns,
                                                    const api::Labels& pod) const {
  std::vector<uint32_t> places = always_;
  collect(false, pod, places);
  if (ns != nullptr) collect(true, *ns, places);
  std::sort(places.begin(), places.end());  // a profile hangs under several values of one key
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

std::vector<const Profile*> ProfileIndex::matching(const api::Labels* ns,
                                                   const api::Labels& pod) const {
  std::vector<const Profile*> out;
  if (profiles_.empty()) return out;
  for (uint32_t place : candidatePlaces(ns, pod))
    if (profiles_[place]->selects(ns, pod)) out.push_back(profiles_[place].get());
  return out;
}

size_t ProfileIndex::candidates(const api::Labels* ns, const api::Labels& pod) const {
  return candidatePlaces(ns, pod).size();
}

}  // namespace mangrove::manager
