#include "placement/plugins/elasticquota/line.h"

#include <algorithm>
#include <utility>

namespace mangrove::placement {

namespace {

// Uses on trial, as long as it lives.
class Seats {
 public:
  Seats() = default;
  ~Seats() {
    for (const auto& [place, request, kind] : taken_)
      place.ledger->use(place.id, *request, -1, kind, QuotaLedger::Meant::kTrial);
  }
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  void take(const QuotaPlace& place, const std::shared_ptr<const Amounts>& request, PodKind kind) {
    place.ledger->use(place.id, *request, +1, kind, QuotaLedger::Meant::kTrial);
    taken_.emplace_back(place, request, kind);
  }
  bool empty() const { return taken_.empty(); }

 private:
  std::vector<std::tuple<QuotaPlace, std::shared_ptr<const Amounts>, PodKind>> taken_;
};

}  // namespace

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

void QuotaLine::put(const api::Uid& uid, bool alone) {
  erase(uid);
  const QuotaPod* pod = desk_.book().podOf(uid);
  const QuotaPlace place = pod ? desk_.book().placeOf(uid) : QuotaPlace();
  if (!place) return;
  settle();
  Group& group = groupFor(place, *pod, alone);
  group.judgedAt = place.ledger->now();
  const Turn turn{-static_cast<int64_t>(pod->priority), pod->created, uid};
  group.pods.insert(turn);
  where_[uid] = {&group, turn, alone};
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
  put(uid, true);
  if (const auto now = where_.find(uid); now != where_.end()) now->second.group->judgedAt = 0;
  again_ = true;
}

void QuotaLine::drop(const Standing& standing) {
  Group& group = *standing.group;
  group.pods.erase(standing.turn);
  if (!group.pods.empty()) return;
  const auto at = groups_.find({group.place.ledger, group.place.id});
  std::erase_if(at->second, [&](const auto& one) { return one.get() == &group; });
  if (at->second.empty()) groups_.erase(at);
}

void QuotaLine::erase(const api::Uid& uid) {
  const auto at = where_.find(uid);
  if (at == where_.end()) return;
  drop(at->second);
  where_.erase(at);
}

void QuotaLine::settle() {
  if (!std::exchange(stale_, false)) return;
  std::vector<std::pair<api::Uid, bool>> all;
  for (const auto& [uid, standing] : where_) all.emplace_back(uid, standing.alone);
  groups_.clear();
  where_.clear();
  relief_.clear();
  for (const auto& [uid, alone] : all) {
    put(uid, alone);
    if (const auto at = where_.find(uid); at != where_.end()) at->second.group->judgedAt = 0;
  }
}

std::vector<api::Uid> QuotaLine::callable() {
  desk_.book().trees();  // as they are now
  settle();
  bool relieved = std::exchange(again_, false);
  for (const auto& [id, tree] : desk_.book().trees())
    if (uint64_t& seen = relief_[tree.get()]; seen != tree->relief()) {
      seen = tree->relief();
      relieved = true;
    }
  if (!relieved || where_.empty()) return {};
  std::vector<Group*> all;
  for (const auto& [place, groups] : groups_)
    for (const auto& group : groups) all.push_back(group.get());
  return call(std::move(all));
}

std::vector<api::Uid> QuotaLine::callableIn(const QuotaPlace& place) {
  if (stale_ || !place) return {};
  const auto at = groups_.find({place.ledger, place.id});
  if (at == groups_.end()) return {};
  std::vector<Group*> all;
  for (const auto& group : at->second) all.push_back(group.get());
  return call(std::move(all));
}

// Of all kinds whose way up has eased the first in line is judged, the most important first; who has
// room sits down, and the next of its kind is judged beside it.
std::vector<api::Uid> QuotaLine::call(std::vector<Group*> candidates) {
  std::erase_if(candidates, [](Group* group) {
    return group->place.ledger->easedAt(group->place.id) <= group->judgedAt;
  });
  std::set<std::pair<Turn, Group*>> line;
  for (Group* group : candidates) line.emplace(*group->pods.begin(), group);
  std::vector<api::Uid> called;
  Seats seats;
  while (!line.empty()) {
    const auto [turn, group] = line.extract(line.begin()).value();
    const bool refused = desk_.isRefused({group->place, group->request, group->kind});
    // Beside others that may not come after all a refusal says nothing about later.
    if (refused && seats.empty()) group->judgedAt = group->place.ledger->now();
    if (refused) continue;
    seats.take(group->place, group->request, group->kind);
    called.push_back(std::get<api::Uid>(turn));
    if (const auto next = group->pods.upper_bound(turn); next != group->pods.end())
      line.emplace(*next, group);
  }
  for (const api::Uid& uid : called) erase(uid);
  again_ = again_ || !called.empty();
  return called;
}

}  // namespace mangrove::placement
