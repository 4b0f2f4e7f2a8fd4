#include "agent/series/history.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"

namespace mangrove::agent {
namespace {

uint32_t slotsFor(Duration span, Duration step) {
  return static_cast<uint32_t>(span / step) + 1;
}

// Falls back to memory, which cannot fail but for want of memory.
Shelf openShelf(const HistoryOptions& options, const char* name, ShelfShape shape, MonoTime now,
                std::vector<std::string>& troubles) {
  if (!options.dir.empty()) {
    auto kept = Shelf::open(options.dir + "/" + name + ".series", shape, options.bootId, now);
    if (kept) return *std::move(kept);
    troubles.push_back(kept.error().text());
  }
  auto inMemory = Shelf::open("", shape, options.bootId, now);
  CHECK(inMemory, "{}", inMemory.error().text());
  return *std::move(inMemory);
}

}  // namespace

History::History(HistoryOptions options, Shelf node, Shelf numa, Shelf pods, Shelf containers,
                 Shelf hostApps, Shelf groups, Shelf gpus)
    : options_(std::move(options)),
      node_(std::move(node)),
      numa_(std::move(numa)),
      pods_(std::move(pods)),
      containers_(std::move(containers)),
      hostApps_(std::move(hostApps)),
      groups_(std::move(groups)),
      gpus_(std::move(gpus)),
      nodeTrack_(node_.track(kNodeSubject)) {}

History History::open(const HistoryOptions& options, MonoTime now) {
  std::vector<std::string> troubles;
  std::error_code error;
  if (!options.dir.empty()) std::filesystem::create_directories(options.dir, error);
  const auto shelf = [&](const char* name, Duration span, uint32_t columns) {
    return openShelf(options, name, {slotsFor(span, options.step), columns}, now, troubles);
  };
  const uint32_t podColumns = pod_column::kCount + (options.hotPages ? 1 : 0);
  History history(options, shelf("node", options.nodeSpan, node_column::kCount),
                  shelf("numa", options.podSpan, numa_column::kCount),
                  shelf("pods", options.podSpan, podColumns),
                  shelf("containers", options.containerSpan, container_column::kCount),
                  shelf("host-apps", options.podSpan, podColumns),
                  shelf("groups", options.podSpan, group_column::kCount),
                  shelf("gpus", options.podSpan, gpu_column::kCount));
  history.troubles_ = std::move(troubles);
  return history;
}

bool History::begin(MonoTime at) {
  const auto newest = node_.newest();
  const auto number = [&](MonoTime time) { return time.time_since_epoch() / options_.step; };
  if (newest && (number(at) == number(*newest) || at - *newest < options_.step / 4)) return false;
  for (size_t kind = 0; kind < kHistoryKinds; ++kind)
    if (long_[kind]) long_[kind]->follow(*fine(static_cast<HistoryKind>(kind)).shelf, at);
  for (Shelf* shelf : {&node_, &numa_, &pods_, &containers_, &hostApps_, &groups_, &gpus_})
    shelf->begin(at);
  return true;
}

History::Fine History::fine(HistoryKind kind) const {
  switch (kind) {
    case HistoryKind::kNode:
      return {"node", options_.nodeSpan, &node_};
    case HistoryKind::kNuma:
      return {"numa", options_.podSpan, &numa_};
    case HistoryKind::kPods:
      return {"pods", options_.podSpan, &pods_};
    case HistoryKind::kHostApps:
      return {"host-apps", options_.podSpan, &hostApps_};
    case HistoryKind::kGpus:
      break;
  }
  return {"gpus", options_.podSpan, &gpus_};
}

void History::lengthen(HistoryKind kind, Duration window) {
  constexpr uint32_t kNodeSlots = 1440, kOtherSlots = 360;
  const Fine fine = this->fine(kind);
  std::optional<LongShelf>& longer = long_[static_cast<size_t>(kind)];
  if (window <= fine.span) return longer.reset();
  const LongShape shape =
      longShape(window, kind == HistoryKind::kNode ? kNodeSlots : kOtherSlots, fine.span);
  if (longer && longer->step() == shape.step && longer->shelf().shape().slots >= shape.slots)
    return;
  longer.reset();
  // Times of a slot are whole: whatever the file has of another boot or shape is emptied.
  const MonoTime now = fine.shelf->newest().value_or(MonoTime::min());
  longer.emplace(openShelf(options_, (std::string(fine.name) + "-long").c_str(),
                           {shape.slots, fine.shelf->shape().columns}, now, troubles_),
                 shape.step);
}

void History::remember(Duration node, Duration others) {
  lengthen(HistoryKind::kNode, std::max(node, others));
  for (HistoryKind kind :
       {HistoryKind::kNuma, HistoryKind::kPods, HistoryKind::kHostApps, HistoryKind::kGpus})
    lengthen(kind, others);
}

const Shelf& History::over(HistoryKind kind, Duration window) const {
  const Fine fine = this->fine(kind);
  const auto& longer = long_[static_cast<size_t>(kind)];
  return window > fine.span && longer ? longer->shelf() : *fine.shelf;
}

Duration History::stepOver(HistoryKind kind, Duration window) const {
  const bool isFine = &over(kind, window) == fine(kind).shelf;
  return isFine ? options_.step : long_[static_cast<size_t>(kind)]->step();
}

void History::forget() {
  for (Shelf* shelf : {&node_, &numa_, &pods_, &containers_, &hostApps_, &groups_, &gpus_})
    shelf->forget();
  for (auto& one : long_)
    if (one) one->forget();
}

size_t History::bytes() const {
  size_t all = 0;
  for (const auto& one : long_) all += one ? one->shelf().bytes() : 0;
  return all + node_.bytes() + numa_.bytes() + pods_.bytes() + containers_.bytes() +
         hostApps_.bytes() + groups_.bytes() + gpus_.bytes();
}

}  // namespace mangrove::agent
