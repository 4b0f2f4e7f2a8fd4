#include "placement/explain/shape.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "placement/cycle/transaction.h"

namespace mangrove::placement {
namespace {

std::string keyOf(const PodInfo& pod) {
  return fmt::format("{}/{}", pod.pod->meta.ns.view(), pod.pod->meta.name.view());
}

// Placing many of a kind, and making room for one more, on a cluster that is as it was afterwards.
class ShapeTrial {
 public:
  ShapeTrial(Engine& engine, Profile& profile, const api::Pod& pod)
      : cluster_(engine.cluster()), profile_(profile), pod_(pod), trial_(engine.cluster()) {}

  ShapeAnswer run(size_t most) {
    std::map<std::string, size_t> byNode;
    while (answer_.fits < most) {
      const auto row = place(another());
      if (!row) break;
      answer_.fits++;
      byNode[cluster_.table.info(*row).name.str()]++;
    }
    answer_.more = answer_.fits == most;
    answer_.byNode.assign(byNode.begin(), byNode.end());
    std::stable_sort(answer_.byNode.begin(), answer_.byNode.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (!answer_.more) lookForMoves();
    return std::move(answer_);
  }

 private:
  PodPtr another() {
    auto copy = std::make_shared<api::Pod>(pod_);
    copy->meta.uid = api::Uid(fmt::format("00000000-0000-4000-9000-{:012x}", ++number_));
    copy->nodeName = Interned();
    return cluster_.makeInfo(std::move(copy));
  }

  // Where it went; nullopt: nowhere, and the answer says why.
  std::optional<Row> place(const PodPtr& pod, Row notOn = kNoRow) {
    Cycle cycle(profile_, cluster_, pod);
    const auto placed = cycle.run();
    if (!placed) {
      if (answer_.message.empty()) answer_.message = cycle.diagnosis().message();
      return std::nullopt;
    }
    if (placed->row == notOn || trial_.place(profile_, pod, placed->row)) return std::nullopt;
    return placed->row;
  }

  // The fewest that must leave the row so that one more fits; empty: not even all of them.
  std::vector<PodPtr> leavers(Row row, PlanState& state) {
    const size_t mark = trial_.mark();
    std::vector<PodPtr> there;
    for (const PodPtr& pod : cluster_.table.info(row).pods)
      if (!pod->assumed && !pod->cls->isDaemon) there.push_back(pod);
    for (const PodPtr& pod : there) trial_.takeAway(pod);
    std::vector<PodPtr> out;
    if (state.evaluate(row).fits()) {
      std::sort(there.begin(), there.end(),
                [](const PodPtr& a, const PodPtr& b) { return isMoreImportant(*a, *b); });
      for (const PodPtr& pod : there) {
        trial_.putBack(pod);
        if (state.evaluate(row).fits()) continue;
        trial_.takeAway(pod);
        out.push_back(pod);
      }
    }
    trial_.rollbackTo(mark);
    return out;
  }

  // Whether all of them find another place once the new one has theirs.
  bool canMove(const std::vector<PodPtr>& leaving, Row row) {
    const size_t mark = trial_.mark();
    std::vector<ShapeAnswer::Move> moves;
    for (const PodPtr& pod : leaving) trial_.takeAway(pod);
    bool all = !trial_.place(profile_, another(), row);
    for (const PodPtr& pod : leaving) {
      if (!all) break;
      auto copy = std::make_shared<api::Pod>(*pod->pod);
      copy->meta.uid = api::Uid(fmt::format("00000000-0000-4000-9000-{:012x}", ++number_));
      copy->nodeName = Interned();
      const auto to = place(cluster_.makeInfo(std::move(copy)), row);
      all = to.has_value();
      if (to)
        moves.push_back({keyOf(*pod), cluster_.table.info(row).name.str(),
                         cluster_.table.info(*to).name.str()});
    }
    trial_.rollbackTo(mark);
    if (!all) return false;
    answer_.moves = std::move(moves);
    answer_.movesOn = cluster_.table.info(row).name.str();
    return true;
  }

  void lookForMoves() {
    const PodPtr one = another();
    PlanState& state = profile_.compiled(one->cls);
    state.refresh();
    struct Way {
      Row row;
      std::vector<PodPtr> leaving;
    };
    std::vector<Way> ways;
    for (Row row : cluster_.table.liveRows()) {
      std::vector<PodPtr> leaving = leavers(row, state);
      if (!leaving.empty() && leaving.size() <= kMostMoves)
        ways.push_back({row, std::move(leaving)});
    }
    std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) {
      return a.leaving.size() < b.leaving.size();
    });
    for (const Way& way : ways)
      if (canMove(way.leaving, way.row)) return;
  }

  Cluster& cluster_;
  Profile& profile_;
  const api::Pod& pod_;
  Transaction trial_;
  ShapeAnswer answer_;
  int64_t number_ = 0;
};

}  // namespace

ShapeAnswer tryShape(Engine& engine, Profile& profile, const api::Pod& pod, size_t most) {
  return ShapeTrial(engine, profile, pod).run(most);
}

}  // namespace mangrove::placement
