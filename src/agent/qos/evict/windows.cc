#include "agent/qos/evict/windows.h"

#include <algorithm>

namespace mangrove::agent {
namespace {

struct Seen {
  const Shelf* shelf = nullptr;
  Shelf::Id track{};
  Duration step{};
};

// The coarse series begins when its window is first asked for: until it reaches back further than the
// seconds do, these know more.
Seen seenOver(const History& history, MonoTime at, Duration window) {
  const Seen fine{&history.node(), history.nodeTrack(), history.options().step};
  const Shelf& coarse = history.over(HistoryKind::kNode, window);
  const auto track = coarse.find(kNodeSubject);
  if (&coarse == fine.shelf || !track) return fine;
  const auto spanOf = [&](const Shelf& shelf, Shelf::Id id) {
    return shelf.window(id, node_column::kCpu, at - window, at).span();
  };
  const Duration step = history.stepOver(HistoryKind::kNode, window);
  const bool knowsMore = spanOf(coarse, *track) > spanOf(*fine.shelf, fine.track);
  return knowsMore ? Seen{&coarse, *track, step} : fine;
}

}  // namespace

double cpuAverage(const History& history, MonoTime at, Duration window) {
  const Seen seen = seenOver(history, at, window);
  return seen.shelf->average(seen.track, node_column::kCpu, at - window, at).value_or(0);
}

std::optional<BeAverage> beAverage(const History& history, MonoTime at, Duration window) {
  const Seen seen = seenOver(history, at, window);
  const auto over = [&](uint32_t column) {
    return seen.shelf->aggregate(seen.track, column, at - window, at);
  };
  const auto usage = over(node_column::kBeUsage), request = over(node_column::kBeRequest);
  const auto limit = over(node_column::kBeLimit);
  if (!usage || !request || !limit) return std::nullopt;
  const auto milli = [](double v) { return MilliCpu{static_cast<int64_t>(v)}; };
  const auto count = static_cast<int64_t>(std::min({usage->count, request->count, limit->count}));
  return BeAverage{count * (seen.step / history.options().step),
                   {milli(usage->avg), milli(request->avg), milli(limit->avg)}};
}

}  // namespace mangrove::agent
