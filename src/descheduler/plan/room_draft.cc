#include "descheduler/plan/room_draft.h"

#include <algorithm>

#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {
namespace {

constexpr uint64_t kSearch = 20'000;  // steps for one node

Loads missingOn(const RoomNode& node, const Loads& needs) {
  Loads out = needs;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = needs[i] <= 0 ? 0 : std::max<int64_t>(0, needs[i] - node.free[i]);
  return out;
}

struct Judged {
  RoomDraft draft;
  Loss loss;
  bool operator<(const Judged& other) const {
    if (draft.pods.size() != other.draft.pods.size())
      return draft.pods.size() < other.draft.pods.size();
    return loss < other.loss;
  }
};

Judged judgedOf(size_t node, const std::vector<CoverMove>& moves, const RoomNode& from) {
  Judged out;
  out.draft.node = node;
  for (const CoverMove& move : moves) {
    out.draft.pods.push_back(move.pod);
    out.loss.add(from.pods[move.pod]);
  }
  return out;
}

}  // namespace

std::vector<RoomDraft> draftRoom(std::span<const RoomNode> nodes, const Loads& needs,
                                 size_t budget) {
  const Room anywhere(needs.size(), kUnlimited);
  std::vector<Judged> found;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const HotSource source{missingOn(nodes[n], needs), nodes[n].pods};
    const size_t least = fewestThatCover(source);
    if (least == 0 || least == kNever || least > budget) continue;
    const MinimalPlan plan = minimalPlan(
        std::span(&source, 1), std::span(&anywhere, 1), [](size_t, size_t, size_t) { return true; },
        kSearch);
    if (plan.moves.empty() || plan.moves.size() > budget) continue;
    found.push_back(judgedOf(n, plan.moves, nodes[n]));
  }
  std::stable_sort(found.begin(), found.end());
  std::vector<RoomDraft> out;
  for (Judged& one : found) out.push_back(std::move(one.draft));
  return out;
}

}  // namespace mangrove::descheduler
