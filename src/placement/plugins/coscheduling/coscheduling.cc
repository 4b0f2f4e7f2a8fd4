#include "placement/plugins/coscheduling/coscheduling.h"

#include "placement/plugins/coscheduling/coscheduling_plugin.h"

namespace mangrove::placement {

Coscheduling::Coscheduling(PluginHandle handle, GangArgs args)
    : cluster_(handle.cluster),
      pods_(handle.pods),
      deeds_(handle.deeds),
      profile_(std::move(handle.profile)),
      book_(args),
      clock_(handle.clock),
      kept_(args.backfill) {
  for (const auto& [key, group] : cluster_.podGroups) book_.put(*group);
}

// ---- what there is ----------------------------------------------------------------------------

void Coscheduling::podSeen(const PodObject& before, const PodObject& after) {
  const api::Pod& pod = after ? *after : *before;
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang && api::gangNameOf(pod.meta.labels, pod.meta.annotations).empty()) return;
  const std::string id = gang ? gang->id : gangIdOf(pod);
  const std::string groupBefore = gang ? gang->group->id : "";
  const bool wasReady =
      gang ? book_.isReady(*gang) : book_.find(id) && book_.isReady(*book_.find(id));
  const bool wasSatisfied = gang && book_.isSatisfied(*gang);
  note(pod, after && isOurs(pod), id);
  const Gang* now = book_.find(id);
  if (kept_.isOn()) forgetHead(groupBefore, now);
  if (now && !wasSatisfied && book_.isSatisfied(*now)) activateAll(*now);
  if (!now || !book_.isReady(*now) || book_.isSatisfied(*now)) return;
  // Enough are there for the first time, or who stood in line for them is gone.
  if (!wasReady)
    becameReady(*now);
  else if (now->group->representative.empty())
    activateOne(*now);
}

void Coscheduling::note(const api::Pod& pod, bool ours, const std::string& id) {
  if (ours) {
    book_.see(pod);
    served_.insert(id);
  } else {
    book_.remove(pod.meta.uid);
    if (!book_.find(id)) served_.erase(id);
  }
  unreported_.insert(id);
}

// Who is not ready any more, or gone, keeps nothing from others.
void Coscheduling::forgetHead(const std::string& group, const Gang* gang) {
  if (!group.empty() && (!gang || gang->group->id != group || !book_.isReady(*gang)))
    letOthersPass(group);
}

void Coscheduling::podGroupChanged(std::string_view key) {
  const std::string id(key);
  const Gang* before = book_.find(id);
  const bool wasReady = before && before->settings && book_.isReady(*before);
  unreported_.insert(id);
  if (const auto group = cluster_.podGroups.find(key))
    book_.put(*group);
  else
    book_.removeGroup(id);
  const Gang* gang = book_.find(id);
  if (!gang || !gang->settings || !book_.isReady(*gang)) return;
  wasReady ? activateOne(*gang) : becameReady(*gang);
}

// One that stands in line may have been told that members are missing; no event wakes it.
void Coscheduling::becameReady(const Gang& gang) {
  const api::Uid representative = gang.group->representative;
  if (representative.empty()) return activateOne(gang);
  if (pods_) pods_->activate(representative);
}

// Nobody has to wait for others any more: those who were kept out go one by one.
void Coscheduling::activateAll(const Gang& gang) {
  if (!pods_) return;
  std::vector<api::Uid> members;
  for (const GangMember* member : book_.pending(gang)) members.push_back(member->uid);
  for (const api::Uid& uid : members) pods_->activate(uid);
}

// Lets one member stand in line, unless somebody does, or the whole group is on its way.
void Coscheduling::activateOne(const Gang& gang) {
  if (!pods_ || (turn_ && turn_->group == gang.group->id)) return;
  const api::Uid representative = gang.group->representative;
  if (!representative.empty()) return;
  for (const GangMember* member : book_.pending(gang)) {
    pods_->activate(member->uid);
    if (!gang.group->representative.empty()) return;
  }
}

Result<std::unique_ptr<Plugin>> makeCoscheduling(const json::Value& value, PluginHandle handle) {
  auto args = readGangArgs(value);
  if (!args) return pass(args.error());
  return std::make_unique<Coscheduling>(std::move(handle), std::move(*args));
}

}  // namespace mangrove::placement
