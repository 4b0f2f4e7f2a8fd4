#include "agent/collect/pod_book.h"

#include <algorithm>

#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

std::string normalised(std::string_view id) {
  std::string out(id);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace

std::string cgroupUid(const api::Pod& pod) {
  if (api::isMirror(pod))
    if (auto hash = pod.meta.annotations.get(api::annotation::kStaticPodHash))
      return std::string(*hash);
  return pod.meta.uid.str();
}

void PodBook::put(PodPtr pod) {
  const std::string uid(pod->meta.uid.str());
  Entry& slot = pods_[uid];
  if (slot.pod) byCgroup_.erase(normalised(cgroupUid(*slot.pod)));
  byCgroup_[normalised(cgroupUid(*pod))] = pod;
  // Most changes of a pod are of its status.
  if (!slot.pod || !(slot.pod->meta.annotations == pod->meta.annotations))
    slot.said = std::make_shared<const PodSaid>(decodeSaid(*pod));
  slot.pod = std::move(pod);
  ++version_;
}

void PodBook::remove(std::string_view uid) {
  auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  byCgroup_.erase(normalised(cgroupUid(*it->second.pod)));
  pods_.erase(it);
  ++version_;
}

bool PodBook::replace(std::vector<PodPtr> pods) {
  if (pods.empty()) return false;
  pods_.clear();
  byCgroup_.clear();
  for (PodPtr& pod : pods) put(std::move(pod));
  ++version_;
  return true;
}

PodPtr PodBook::find(std::string_view uid) const {
  auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : it->second.pod;
}

PodSaidPtr PodBook::saidBy(const api::Pod& pod) const {
  auto it = pods_.find(pod.meta.uid.str());
  return it == pods_.end() || it->second.pod.get() != &pod ? nullptr : it->second.said;
}

PodPtr PodBook::findByCgroup(std::string_view id) const {
  auto it = byCgroup_.find(normalised(id));
  return it == byCgroup_.end() ? nullptr : it->second;
}

}  // namespace mangrove::agent
