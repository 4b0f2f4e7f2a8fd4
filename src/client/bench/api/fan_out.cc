#include "client/bench/api/fan_out.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text/strings.h"
#include "client/bench/api/objects.h"

namespace mangrove::client {

namespace {

constexpr auto kLongest = std::chrono::seconds(60);

int64_t nanos() {
  return realClock().mono().time_since_epoch().count();
}

class Watchers {
 public:
  Watchers(const FanOutPlan& plan, std::string from) : plan_(plan), from_(std::move(from)) {
    millis_.reserve(static_cast<size_t>(plan.watchers * plan.writes));
  }
  ~Watchers() { watches_.clear(); }

  void open(const Clients& clients) {
    for (int64_t i = 0; i < plan_.watchers; ++i) {
      WatchRequest request{.kind = kind::kPod, .ns = plan_.ns, .query = {}};
      request.query.resourceVersion = from_;
      request.bookmarks = false;
      WatchHandler handler;
      handler.onOpen = [this] { note([this] { opened_ += 1; }); };
      handler.onEvents = [this](std::string lines) { return arrived(lines); };
      handler.onEnd = [this](Result<> end) {
        note([&] {
          ended_ += 1;
          if (!end && failure_.empty()) failure_ = end.error().text();
        });
      };
      watches_.push_back(clients[static_cast<size_t>(i) % clients.size()]->watch(
          std::move(request), std::move(handler)));
    }
  }
  bool allOpen() {
    return await([this] { return opened_ == plan_.watchers; });
  }
  bool allArrived() {
    return await(
        [this] { return millis_.size() == static_cast<size_t>(plan_.watchers * plan_.writes); });
  }
  std::vector<double> takeMillis() {
    std::lock_guard lock(mutex_);
    return std::move(millis_);
  }
  std::string failure() {
    std::lock_guard lock(mutex_);
    return fmt::format("{} of {} watches opened, {} ended{}{}", opened_, plan_.watchers, ended_,
                       failure_.empty() ? "" : ": ", failure_);
  }

 private:
  template <class Change>
  void note(Change change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_one();
  }
  bool arrived(const std::string& lines) {
    const int64_t now = nanos();
    std::lock_guard lock(mutex_);
    for (int64_t sent : sentMoments(lines))
      millis_.push_back(static_cast<double>(now - sent) / 1e6);
    if (millis_.size() % 64 == 0 || millis_.size() + 64 > millis_.capacity()) changed_.notify_one();
    return true;
  }
  template <class Until>
  bool await(Until until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLongest, [&] { return until() || ended_ > 0; }) && ended_ == 0;
  }

  const FanOutPlan& plan_;
  std::string from_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t opened_ = 0, ended_ = 0;
  std::string failure_;
  std::vector<double> millis_;
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace

std::vector<int64_t> sentMoments(std::string_view lines) {
  static const std::string marker = fmt::format("\"{}\":\"", kSentAnnotation);
  // Books of managed fields name the annotation too, as "f:…", with no text behind it.
  std::vector<int64_t> moments;
  for (size_t at = lines.find(marker); at != lines.npos; at = lines.find(marker, at)) {
    at += marker.size();
    const size_t end = lines.find('"', at);
    if (end == lines.npos) break;
    if (auto value = parseInt<int64_t>(lines.substr(at, end - at))) moments.push_back(*value);
  }
  return moments;
}

Result<LoadResult> runFanOut(const Clients& clients, const ProcessProbe& probe,
                             const FanOutPlan& plan) {
  auto page = clients[0]->list(kind::kPod, plan.ns, {.limit = 1});
  if (!page) return pass(page.error());
  Watchers watchers(plan, page->resourceVersion);
  watchers.open(clients);
  if (!watchers.allOpen()) return fail(Code::kTimeout, "fan-out: {}", watchers.failure());
  const CpuReading before = probe.cpu();
  const MonoTime from = realClock().mono();
  LoadResult writes = runLoad(clients, probe, {plan.writes, plan.inFlight, false}, [&](int64_t i) {
    return patchPod(plan.ns, i % plan.pods, std::to_string(nanos()));
  });
  if (writes.failed > 0) return fail(Code::kUnavailable, "fan-out: {}", writes.firstFailure);
  if (!watchers.allArrived()) return fail(Code::kTimeout, "fan-out: {}", watchers.failure());
  LoadResult result;
  result.seconds = std::chrono::duration<double>(realClock().mono() - from).count();
  const CpuReading after = probe.cpu();
  result.used = {
      after.serverSeconds - before.serverSeconds, after.clientSeconds - before.clientSeconds,
      after.machineSeconds - before.machineSeconds, after.machineTotal - before.machineTotal};
  result.millis = watchers.takeMillis();
  result.counted = static_cast<int64_t>(result.millis.size());
  std::sort(result.millis.begin(), result.millis.end());
  return result;
}

}  // namespace mangrove::client
