// LoadPass and gangs that move whole: every member's target stays below its bound with all of them.
#include "api/pod/pod_requests.h"
#include "base/os/log.h"
#include "descheduler/plugins/load_pass.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");
}

struct LoadPass::Member {
  Loads atWork;                   // what its target must bear
  const PodLoad* here = nullptr;  // on the source that is relieved; nullptr: it stands elsewhere
  bool isProd = false;
};

// One that stands where nobody looks now is taken for what it asks for.
LoadPass::Member LoadPass::memberOf(const NodeLoad& source, const api::Pod& pod) const {
  const auto find = [&](const NodeLoad& node) -> const PodLoad* {
    for (const PodLoad& load : node.pods)
      if (load.pod->meta.uid == pod.meta.uid) return load.isMeasured ? &load : nullptr;
    return nullptr;
  };
  if (const PodLoad* load = find(source)) return {load->atWork(), load, load->isProd};
  for (const NodeLoad* target : targets_)
    if (const PodLoad* load = find(*target)) return {load->atWork(), nullptr, load->isProd};
  Loads asked = view_.scale.of(api::podRequests(*pod.spec));
  if (const auto pods = view_.scale.indexOf("pods")) asked[*pods] = 1;
  return {std::move(asked), nullptr, false};
}

void LoadPass::giveRoomBack(const std::vector<Member>& members,
                            const std::vector<NodeLoad*>& targets) {
  for (size_t i = 0; i < targets.size(); ++i) {
    subtract(targets[i]->usage, members[i].atWork);
    if (members[i].isProd) subtract(targets[i]->prodUsage, members[i].atWork);
  }
}

// False, and nothing is taken: one of the targets would not bear all that come to it.
bool LoadPass::takeRoom(const std::vector<Member>& members, const std::vector<NodeLoad*>& targets) {
  bool bear = true;
  for (size_t i = 0; i < targets.size(); ++i) {
    bear = bear && holds(*targets[i], members[i].atWork);
    add(targets[i]->usage, members[i].atWork);
    if (members[i].isProd) add(targets[i]->prodUsage, members[i].atWork);
  }
  if (!bear) giveRoomBack(members, targets);
  return bear;
}

void LoadPass::moveWhole(NodeLoad& source, const Pods& gang) {
  if (view_.args.dryRun) return;
  Foresight& foresight = *view_.round.foresight;
  const auto welcome = [&](const api::Pod& pod, std::string_view node) {
    const auto target = byNode_.find(node);
    return target != byNode_.end() && holds(*target->second, memberOf(source, pod).atWork);
  };
  const auto found = foresight.landings(gang, welcome);
  if (!found) {
    log.debug("a gang of {} stays: {}", gang.size(), found.error().text());
    for (const api::Pod* pod : gang) view_.round.evictor.tellStays(*pod, found.error().text());
    return;
  }
  std::vector<Member> members;
  std::vector<NodeLoad*> targets;
  for (size_t i = 0; i < gang.size(); ++i) {
    members.push_back(memberOf(source, *gang[i]));
    targets.push_back(byNode_.at((*found)[i]));
  }
  if (!takeRoom(members, targets)) return foresight.takeBack();
  if (!view_.round.evictor.evictTogether(gang, *found, view_.plugin, reasonFor(source))) {
    giveRoomBack(members, targets);
    return foresight.takeBack();
  }
  for (const Member& member : members)
    if (member.here != nullptr) account(source, *member.here);
  flush(source);  // what was held lies below it in the trial and cannot be taken back any more
}

}  // namespace mangrove::descheduler
