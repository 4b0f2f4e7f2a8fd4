#include "agent/qos/evict/watermarks.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include "base/text/strings.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

constexpr std::array kMetrics = {metric::kMemory,   metric::kDisk, metric::kInodes,
                                 metric::kDiskUtil, metric::kLoad, metric::kCpu,
                                 metric::kPressure};

std::optional<double> numberAt(const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

Result<Watermark> parseOne(const json::Value& value) {
  const json::Object* one = value.if_object();
  if (one == nullptr) return invalid("watermarks: want objects with metric, watermark, target");
  Watermark out;
  if (const json::Value* name = one->if_contains("metric"); name && name->is_string())
    out.metric = std::string(name->get_string());
  if (std::find(kMetrics.begin(), kMetrics.end(), out.metric) == kMetrics.end())
    return invalid("watermarks: metric '{}': want one of {}", out.metric, join(kMetrics, ", "));
  const auto mark = numberAt(*one, "watermark"), target = numberAt(*one, "target");
  if (!mark || !target || *target >= *mark || *target < 0)
    return invalid("watermarks: {}: want 0 <= target < watermark", out.metric);
  out.watermark = *mark;
  out.target = *target;
  const double seconds = numberAt(*one, "durationSeconds").value_or(0);
  if (seconds < 0 || seconds > 86400)
    return invalid("watermarks: {}: durationSeconds {}: want 0 to 86400", out.metric, seconds);
  out.duration = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return out;
}

int32_t priorityOf(const api::Pod& pod) {
  return pod.spec->priority.value_or(0);
}

}  // namespace

std::vector<Watermark> defaultWatermarks() {
  using std::chrono::seconds;
  return {{std::string(metric::kMemory), 90, 85, seconds(5)},
          {std::string(metric::kDisk), 90, 85, seconds(30)},
          {std::string(metric::kInodes), 90, 85, seconds(30)},
          {std::string(metric::kLoad), 3, 2, seconds(60)}};
}

Result<std::vector<Watermark>> parseWatermarks(std::string_view text) {
  auto value = json::parse(text);
  if (!value) return value.error().in("watermarks");
  if (!value->is_array()) return invalid("watermarks: want a list");
  std::vector<Watermark> out;
  for (const json::Value& one : value->get_array()) {
    auto mark = parseOne(one);
    if (!mark) return pass(mark.error());
    out.push_back(*std::move(mark));
  }
  return out;
}

bool WatermarkTimer::over(const Watermark& mark, std::optional<double> value, MonoTime now) {
  if (!value || *value < mark.watermark) {
    since_.erase(mark.metric);
    return false;
  }
  const MonoTime since = since_.emplace(mark.metric, now).first->second;
  return now - since >= mark.duration;
}

std::vector<const WatermarkPod*> watermarkVictims(const Watermark& mark, double value,
                                                  std::span<const WatermarkPod> pods) {
  std::vector<const WatermarkPod*> order;
  for (const WatermarkPod& pod : pods) order.push_back(&pod);
  std::stable_sort(order.begin(), order.end(), [](const WatermarkPod* a, const WatermarkPod* b) {
    const auto rank = [](const WatermarkPod& one) {
      // Who leaves already is counted before anybody is asked.
      return std::tuple(!one.leaving, priorityOf(*one.pod), -one.share.value_or(0));
    };
    if (rank(*a) != rank(*b)) return rank(*a) < rank(*b);
    return a->pod->status.startTime > b->pod->status.startTime;
  });
  std::vector<const WatermarkPod*> out;
  double estimate = value;
  for (const WatermarkPod* one : order) {
    if (estimate <= mark.target) break;
    if (one->share && *one->share <= 0) continue;  // frees nothing
    if (!one->leaving) out.push_back(one);
    if (!one->share) break;
    estimate -= *one->share;
  }
  return out;
}

std::optional<double> loadOf(std::string_view loadavg) {
  const std::string first(trim(loadavg.substr(0, loadavg.find(' '))));
  char* end = nullptr;
  const double load = std::strtod(first.c_str(), &end);
  if (first.empty() || *end != '\0' || load < 0) return std::nullopt;
  return load;
}

std::map<std::string, int64_t> busyOf(std::string_view diskstats) {
  constexpr size_t kName = 2, kBusy = 12;
  std::map<std::string, int64_t> out;
  std::string last;
  for (std::string_view line : split(diskstats, '\n')) {
    std::vector<std::string_view> words;
    for (std::string_view word : splitTrimmed(line, ' '))
      if (!word.empty()) words.push_back(word);
    if (words.size() <= kBusy) continue;
    const std::string name(words[kName]);
    // A partition follows its disk and begins with the disk's name.
    if (!last.empty() && name.size() > last.size() && name.starts_with(last)) continue;
    last = name;
    out[name] = parseInt<int64_t>(words[kBusy]).value_or(0);
  }
  return out;
}

}  // namespace mangrove::agent
