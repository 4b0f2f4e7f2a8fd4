#include "descheduler/plugins/make_room.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/pod/pod_requests.h"
#include "base/number/elapsed.h"
#include "base/os/log.h"
#include "descheduler/plugins/empty_nodes.h"
#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr size_t kDrafts = 16;  // nodes whose draft is proven, the best first

bool isWaiting(const api::Pod& pod, WallTime now, Duration patience) {
  if (!pod.nodeName.empty() || pod.meta.isDeleting() || api::isTerminated(pod)) return false;
  const api::Condition* scheduled = api::findCondition(pod.status.conditions, "PodScheduled");
  return scheduled != nullptr && scheduled->status == api::Truth::kFalse &&
         elapsed(scheduled->lastTransitionTime, now) >= patience;
}

std::string namesOf(const Pods& pods) {
  std::string first = api::keyOf(pods.front()->meta).text();
  return pods.size() == 1 ? first : fmt::format("{} and {} more", first, pods.size() - 1);
}

}  // namespace

std::vector<Pods> waitingIn(const Look& look, const MakeRoomArgs& args) {
  std::map<std::string, Pods> groups;
  for (const api::Pod* pod : look.pods()) {
    const std::string key = api::keyOf(pod->meta).text(), gang = placement::gangIdOf(*pod);
    const bool named = args.whom.contains(key) || (!gang.empty() && args.whom.contains(gang));
    if (!args.whom.empty() && !named) continue;
    if (!isWaiting(*pod, look.now(), named ? Duration::zero() : args.patience)) continue;
    groups[gang.empty() ? "pod " + key : "gang " + gang].push_back(pod);
  }
  std::vector<Pods> out;
  for (auto& [name, pods] : groups) out.push_back(std::move(pods));
  // Whoever matters most is served first.
  std::stable_sort(out.begin(), out.end(), [](const Pods& a, const Pods& b) {
    return a.front()->spec->priority.value_or(0) > b.front()->spec->priority.value_or(0);
  });
  return out;
}

// A plan for one waiting pod or gang: who leaves, and the proof that all get their places.
class MakeRoom::Planner {
 public:
  Planner(const MakeRoomArgs& args, Round& round, const Pods& waiting)
      : args_(args), round_(round), waiting_(waiting) {}

  // True: the plan stands in the trial, and found() are its targets.
  bool plan() {
    if (prove({})) {
      round_.foresight->takeBack();  // there is room; the scheduler will find it
      return false;
    }
    for (const api::Pod* pod : waiting_)
      if (!serve(*pod)) return false;
    return !leaving_.empty() && leaveOutWhatCanBe() && prove(leaving_);
  }
  const Pods& leaving() const { return leaving_; }
  const std::vector<std::string>& found() const { return found_; }

 private:
  bool prove(const Pods& leaving, size_t served = SIZE_MAX) {
    Pods coming = waiting_;
    coming.resize(std::min(served, coming.size()));
    const auto where = round_.foresight->rearranged(leaving, coming);
    if (where) found_ = *where;
    return where.has_value();
  }

  // Also one of several that come: with those before it, and who leaves for them already.
  bool serve(const api::Pod& pod) {
    const size_t served = ++served_;
    if (tried(leaving_, served)) return true;
    std::vector<RoomNode> rooms;
    std::vector<Pods> there;
    const Scale scale = scaleOf(pod);
    for (const api::Node* node : round_.nodes) addNode(*node, pod, scale, rooms, there);
    const size_t left = static_cast<size_t>(args_.budget) - leaving_.size();
    size_t tries = 0;
    for (const RoomDraft& draft : draftRoom(rooms, scale.of(api::podRequests(pod)), left)) {
      if (++tries > kDrafts) break;
      Pods more = leaving_;
      for (const size_t i : draft.pods) more.push_back(there[draft.node][i]);
      if (!tried(more, served)) continue;
      leaving_ = std::move(more);
      return true;
    }
    return false;
  }
  bool tried(const Pods& leaving, size_t served) {
    if (!prove(leaving, served)) return false;
    round_.foresight->takeBack();
    return true;
  }

  // What a search by requests took too many of, the scheduler's rules may do without.
  bool leaveOutWhatCanBe() {
    for (size_t i = 0; i < leaving_.size();) {
      Pods fewer = leaving_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (tried(fewer, SIZE_MAX))
        leaving_ = std::move(fewer);
      else
        ++i;
    }
    return !leaving_.empty();
  }

  static Scale scaleOf(const api::Pod& pod) {
    std::set<std::string> names;
    for (const auto& entry : api::podRequests(pod)) names.emplace(entry.name.view());
    return Scale(names);
  }

  void addNode(const api::Node& node, const api::Pod& pod, const Scale& scale,
               std::vector<RoomNode>& rooms, std::vector<Pods>& there) {
    if (!admits(node, pod)) return;
    RoomNode room{scale.of(round_.fit.room(node).free), {}};
    Pods pods;
    std::vector<AtStake> movable;
    for (const api::Pod* other : round_.look.activeOn(node.meta.name.view())) {
      if (std::find(leaving_.begin(), leaving_.end(), other) != leaving_.end()) {
        add(room.free, scale.of(api::podRequests(*other)));
        continue;
      }
      if (!mayLeave(*other, pod)) continue;
      const Loads asked = scale.of(api::podRequests(*other));
      movable.push_back({other, asked, asked});
      pods.push_back(other);
    }
    room.pods = movablePods(movable, round_.look.now());
    rooms.push_back(std::move(room));
    there.push_back(std::move(pods));
  }
  // Nobody makes room for one that matters less.
  bool mayLeave(const api::Pod& other, const api::Pod& pod) const {
    return other.spec->priority.value_or(0) <= pod.spec->priority.value_or(0) &&
           placement::gangIdOf(other).empty() && args_.choice.takes(other) &&
           round_.evictor.permits(other);
  }

  const MakeRoomArgs& args_;
  Round& round_;
  Pods waiting_;
  Pods leaving_;
  size_t served_ = 0;
  std::vector<std::string> found_;  // of those that leave, then of those that come
};

void MakeRoom::serve(Round& round, const Pods& waiting, const std::string& whom) {
  Planner planner(args_, round, waiting);
  if (!planner.plan()) return;
  const Pods& leaving = planner.leaving();
  const auto& found = planner.found();
  const std::string reason = fmt::format("makes room for {} on {}", whom, found[leaving.size()]);
  if (args_.dryRun) {
    for (size_t i = 0; i < leaving.size(); ++i)
      log.info("dry run: would move {} to {}: {}", api::keyOf(leaving[i]->meta).text(), found[i],
               reason);
    return;
  }
  const std::vector<std::string> targets(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(leaving.size()));
  if (!round.evictor.evictTogether(leaving, targets, kName, reason)) round.foresight->takeBack();
}

// Who waits comes before what might be wanted one day.
Result<> MakeRoom::run(Round& round) {
  if (args_.paused) return {};
  if (round.foresight == nullptr)
    return invalid("moves are not proven here, want provenMoves of the MigrationController");
  for (const Pods& waiting : waitingIn(round.look, args_)) serve(round, waiting, namesOf(waiting));
  for (const Shape& shape : args_.shapes) {
    Pods pods;
    for (const auto& pod : shape.pods) pods.push_back(pod.get());
    serve(round, pods, "shape " + shape.name);
  }
  if (args_.emptyNodes > 0) emptyNodes(args_, round);
  return {};
}

}  // namespace mangrove::descheduler
