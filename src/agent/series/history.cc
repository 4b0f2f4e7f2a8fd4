#include "agent/series/history.h"

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
      nodeTrack_(node_.track("node")) {}

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
  for (Shelf* shelf : {&node_, &numa_, &pods_, &containers_, &hostApps_, &groups_, &gpus_})
    shelf->begin(at);
  return true;
}

void History::forget() {
  for (Shelf* shelf : {&node_, &numa_, &pods_, &containers_, &hostApps_, &groups_, &gpus_})
    shelf->forget();
}

size_t History::bytes() const {
  return node_.bytes() + numa_.bytes() + pods_.bytes() + containers_.bytes() + hostApps_.bytes() +
         groups_.bytes() + gpus_.bytes();
}

}  // namespace mangrove::agent
