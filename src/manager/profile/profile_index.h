#pragma once
// All profiles of the cluster, arranged so that admitting a pod does not look at each of them:
// every profile hangs under its rarest anchor (one label it insists on, of the pod or of the
// namespace), and a pod looks only under the labels it and its namespace have.
//
//   auto index = std::make_shared<const ProfileIndex>(std::move(profiles));
//   for (const Profile* profile : index->matching(namespaceLabels, pod.meta.labels)) …
//
// Immutable: build a new one when a profile changes and share it. Any thread.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/select/labels.h"
#include "manager/profile/profile.h"

namespace mangrove::manager {

class ProfileIndex {
 public:
  ProfileIndex() = default;
  using Profiles = std::vector<std::shared_ptr<const Profile>>;
  explicit ProfileIndex(Profiles profiles);

  // In the order in which they are applied: by precedence, then by name; later ones win. `ns` is
  // null when the namespace is unknown.
  std::vector<const Profile*> matching(const api::Labels* ns, const api::Labels& pod) const;

  size_t size() const { return profiles_.size(); }
  bool empty() const { return profiles_.empty(); }
  const Profiles& all() const { return profiles_; }
  // How many profiles a pod with these labels is compared with; what tests and the benchmark watch.
  size_t candidates(const api::Labels* ns, const api::Labels& pod) const;

 private:
  // One label that a profile insists on; value 0 (the empty text) stands for "any value".
  struct Anchor {
    bool ofNamespace = false;
    bool anyValue = false;
    Interned key, value;
    bool operator==(const Anchor&) const = default;
  };
  struct AnchorHash {
    size_t operator()(const Anchor& anchor) const;
  };
  using Counts = std::unordered_map<Anchor, uint32_t, AnchorHash>;
  using Group = std::vector<Anchor>;  // any one of them must hold: the values of one requirement

  static std::vector<Group> groupsOf(const Profile& profile);
  static uint64_t costOf(const Group& group, const Counts& counts);
  void hang(uint32_t place, const Counts& counts);
  void collect(bool ofNamespace, const api::Labels& labels, std::vector<uint32_t>& out) const;
  std::vector<uint32_t> candidatePlaces(const api::Labels* ns, const api::Labels& pod) const;

  Profiles profiles_;             // sorted
  std::vector<uint32_t> always_;  // places of profiles without an anchor
  std::unordered_map<Anchor, std::vector<uint32_t>, AnchorHash> hanging_;
};

}  // namespace mangrove::manager
