#include "descheduler/plugins/empty_nodes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/os/log.h"
#include "descheduler/migration/filter.h"
#include "descheduler/plan/emptying.h"
#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

// Of so many with the fewest pods what they lose is looked at.
constexpr size_t kWeighed = 64;

struct Occupied {
  const api::Node* node = nullptr;
  Pods pods;  // that would have to leave
};

class Emptier {
 public:
  Emptier(const MakeRoomArgs& args, Round& round)
      : args_(args), round_(round), left_(static_cast<size_t>(args.budget)) {
    for (const UnderWay& move : round.underWay) {
      leaving_.insert(move.pod);
      awaited_.insert(move.target);
    }
  }

  void run() {
    const std::vector<Occupied> nodes = survey();
    for (const Occupied& one : weighed(nodes)) {
      if (empty_.size() >= static_cast<size_t>(args_.emptyNodes)) return;
      const bool whole = one.pods.size() <= left_ && !awaited_.contains(one.node->meta.name.str());
      if (whole && mayAllLeave(one.pods)) empty(one);
    }
  }

 private:
  // Counts the empty ones; the others with the fewest pods first.
  std::vector<Occupied> survey() {
    std::vector<Occupied> out;
    for (const api::Node* node : round_.nodes) {
      if (node->spec.unschedulable) continue;
      Occupied one{node, {}};
      for (const api::Pod* pod : round_.look.activeOn(node->meta.name.view()))
        if (!leaving_.contains(pod) && !nodeBringsItBack(*pod)) one.pods.push_back(pod);
      const bool awaits = awaited_.contains(node->meta.name.str());
      if (one.pods.empty() && !awaits) empty_.insert(node->meta.name.view());
      if (!one.pods.empty() && one.pods.size() <= left_) out.push_back(std::move(one));
    }
    std::stable_sort(out.begin(), out.end(), [](const Occupied& a, const Occupied& b) {
      return a.pods.size() < b.pods.size();
    });
    if (out.size() > kWeighed) out.resize(kWeighed);
    return out;
  }

  std::vector<Occupied> weighed(const std::vector<Occupied>& nodes) const {
    std::vector<std::vector<MovablePod>> lose;
    for (const Occupied& one : nodes) {
      std::vector<AtStake> pods;
      for (const api::Pod* pod : one.pods) pods.push_back({pod, {}, {}});
      lose.push_back(movablePods(pods, round_.look.now()));
    }
    std::vector<Occupied> out;
    for (const size_t n : emptyingOrder(lose, left_)) out.push_back(nodes[n]);
    return out;
  }

  bool mayAllLeave(const Pods& pods) {
    return std::all_of(pods.begin(), pods.end(), [&](const api::Pod* pod) {
      return placement::gangIdOf(*pod).empty() && args_.choice.takes(*pod) &&
             round_.evictor.permits(*pod);
    });
  }

  // Nobody moves onto a node that is or becomes empty.
  void empty(const Occupied& one) {
    const auto found = round_.foresight->landings(
        one.pods, [&](const api::Pod&, std::string_view node) { return !empty_.contains(node); });
    if (!found) {
      for (const api::Pod* pod : one.pods) round_.evictor.tellStays(*pod, found.error().text());
      return;
    }
    const std::string reason = fmt::format("empties node {}", one.node->meta.name.view());
    if (args_.dryRun)
      log.info("dry run: would move {} pods: {}", one.pods.size(), reason);
    else if (!round_.evictor.evictTogether(one.pods, *found, MakeRoom::kName, reason))
      return round_.foresight->takeBack();
    empty_.insert(one.node->meta.name.view());
    left_ -= one.pods.size();
    awaited_.insert(found->begin(), found->end());
  }

  const MakeRoomArgs& args_;
  Round& round_;
  size_t left_;                        // of the budget
  std::set<const api::Pod*> leaving_;  // by moves that are under way
  std::set<std::string> awaited_;      // nodes to which pods are on their way
  std::set<std::string_view> empty_;
};

}  // namespace

void emptyNodes(const MakeRoomArgs& args, Round& round) {
  Emptier(args, round).run();
}

}  // namespace mangrove::descheduler
