#include "placement/plugins/elasticquota/line.h"

#include <algorithm>
#include <utility>

#include "placement/plugins/elasticquota/seats.h"

namespace mangrove::placement {

QuotaLine::Group& QuotaLine::groupFor(const QuotaPlace& place, const QuotaPod& pod, bool alone) {
  Groups& here = groups_[{place.ledger, place.id}];
  for (const auto& group : here)
    if (!alone && !group->alone && group->kind == pod.kind &&
        (group->request == pod.request || *group->request == *pod.request))
      return *group;
  here.push_back(std::make_unique<Group>());
  Group& made = *here.back();
  made.place = place;
  made.request = pod.request;
  made.kind = pod.kind;
  made.alone = alone;
  return made;
}

void QuotaLine::judged(Group& group, QuotaId refusedBy) {
  group.judgedAt = group.place.ledger->now();
  const QuotaId before = std::exchange(group.refusedBy, refusedBy);
  if (const auto at = byRefuser_.find({group.place.ledger, before}); at != byRefuser_.end())
    if (before != refusedBy && at->second.erase(&group) > 0 && at->second.empty())
      byRefuser_.erase(at);
  byRefuser_[{group.place.ledger, refusedBy}].insert(&group);
}

void QuotaLine::judgeAgain(Group& group) {
  group.judgedAt = 0;
  again_.insert(&group);
}

void QuotaLine::judgeAgain(const api::Uid& uid) {
  if (const auto at = where_.find(uid); at != where_.end()) judgeAgain(*at->second.group);
}

void QuotaLine::put(const api::Uid& uid, QuotaId refusedBy, bool alone) {
  erase(uid);
  const QuotaPod* pod = desk_.book().podOf(uid);
  const QuotaPlace place = pod ? desk_.book().placeOf(uid) : QuotaPlace();
  if (!place) return;
  settle();
  Group& group = groupFor(place, *pod, alone);
  judged(group, refusedBy);
  const Turn turn{-static_cast<int64_t>(pod->priority), pod->created, uid};
  group.pods.insert(turn);
  where_[uid] = {&group, turn, alone};
  desk_.book().setInLine(uid, true);
}

void QuotaLine::seen(const api::Uid& uid) {
  const auto at = where_.find(uid);
  if (at == where_.end() || stale_) return;
  const QuotaPod* pod = desk_.book().podOf(uid);
  if (pod == nullptr) return erase(uid);
  const Group& group = *at->second.group;
  const bool same = group.place == desk_.book().placeOf(uid) && group.kind == pod->kind &&
                    (group.request == pod->request || *group.request == *pod->request);
  if (same) return;
  put(uid, kRootId, true);
  judgeAgain(uid);
}

void QuotaLine::drop(const Standing& standing) {
  Group& group = *standing.group;
  group.pods.erase(standing.turn);
  if (!group.pods.empty()) return;
  again_.erase(&group);
  const auto refused = byRefuser_.find({group.place.ledger, group.refusedBy});
  refused->second.erase(&group);
  if (refused->second.empty()) byRefuser_.erase(refused);
  const auto at = groups_.find({group.place.ledger, group.place.id});
  std::erase_if(at->second, [&](const auto& one) { return one.get() == &group; });
  if (at->second.empty()) groups_.erase(at);
}

void QuotaLine::erase(const api::Uid& uid) {
  if (!desk_.book().mayBeInLine(uid)) return;
  const auto at = where_.find(uid);
  if (at == where_.end()) return;
  desk_.book().setInLine(uid, false);
  drop(at->second);
  where_.erase(at);
}

void QuotaLine::settle() {
  if (!std::exchange(stale_, false)) return;
  std::vector<std::pair<api::Uid, bool>> all;
  for (const auto& [uid, standing] : where_) all.emplace_back(uid, standing.alone);
  again_.clear();
  byRefuser_.clear();
  groups_.clear();
  where_.clear();
  looks_.clear();
  for (const auto& [uid, alone] : all) {
    put(uid, kRootId, alone);
    judgeAgain(uid);
  }
}

std::vector<api::Uid> QuotaLine::callable() {
  const auto& trees = desk_.book().trees();  // as they are now
  settle();
  if (where_.empty()) return {};
  std::unordered_set<Group*> eased = std::exchange(again_, {});
  for (const auto& [id, tree] : trees) {
    Look& last = looks_[tree.get()];
    if (std::exchange(last.relief, tree->relief()) == tree->relief()) continue;
    tree->eachEased(last.moment, [&](QuotaId quota) {
      if (const auto at = byRefuser_.find({tree.get(), quota}); at != byRefuser_.end())
        eased.insert(at->second.begin(), at->second.end());
    });
    last.moment = tree->now();
  }
  return call({eased.begin(), eased.end()});
}

std::vector<api::Uid> QuotaLine::callableIn(const QuotaPlace& place) {
  if (stale_ || !place) return {};
  const auto at = groups_.find({place.ledger, place.id});
  if (at == groups_.end()) return {};
  std::vector<Group*> all;
  for (const auto& group : at->second) all.push_back(group.get());
  return call(std::move(all));
}

// Of all kinds whose refusal has eased the first in line is judged, the most important first; who
// has room sits down, and the next of its kind is judged beside it.
std::vector<api::Uid> QuotaLine::call(std::vector<Group*> candidates) {
  std::erase_if(candidates, [](Group* group) {
    return group->place.ledger->easedAt(group->refusedBy) <= group->judgedAt;
  });
  std::set<std::pair<Turn, Group*>> line;
  for (Group* group : candidates) line.emplace(*group->pods.begin(), group);
  std::vector<api::Uid> called;
  Seats seats;
  while (!line.empty()) {
    const auto [turn, group] = line.extract(line.begin()).value();
    const QuotaDesk::Asked asked{group->place, group->request, group->kind};
    const auto refusal = desk_.verdict(asked);
    if (refusal || desk_.objection(asked)) {
      // Beside others that may not come after all a refusal says nothing about later.
      if (seats.empty())
        judged(*group, refusal ? refusal->quota : kRootId);
      else
        judgeAgain(*group);
      continue;
    }
    seats.take(asked);
    called.push_back(std::get<api::Uid>(turn));
    if (const auto next = group->pods.upper_bound(turn); next != group->pods.end())
      line.emplace(*next, group);
  }
  for (const api::Uid& uid : called) erase(uid);
  return called;
}

}  // namespace mangrove::placement
