#include "agent/qos/resctrl/bandwidth.h"

#include <algorithm>

#include "base/number/quantity.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kLeastDistance = 15;  // percent between the marks
// Below this share of the traffic best-effort work is not whose doing it is.
constexpr double kPartOfIt = 0.1;

Result<int64_t> percentAt(const json::Object& from, std::string_view key, int64_t otherwise) {
  const json::Value* value = from.if_contains(key);
  if (value == nullptr) return otherwise;
  if (!value->is_int64() || value->get_int64() < 1 || value->get_int64() > 100)
    return invalid("{}: {}: want a number from 1 to 100", kBandwidthAnnotation, key);
  return value->get_int64();
}

}  // namespace

Result<BandwidthMarks> parseBandwidthMarks(std::string_view text) {
  auto value = json::parse(text);
  if (!value) return value.error().in("{}", kBandwidthAnnotation);
  const json::Object* top = value->if_object();
  const json::Value* amount = top ? top->if_contains("perDomain") : nullptr;
  auto bytes = amount && amount->is_string()
                   ? Quantity::parse(std::string_view(amount->get_string()))
                   : Result<Quantity>(Quantity());
  if (!bytes || bytes->value() <= 0)
    return invalid("{}: perDomain: want bytes per second of one cache domain, such as \"40G\"",
                   kBandwidthAnnotation);
  BandwidthMarks out;
  out.perDomain = static_cast<double>(bytes->value());
  auto high = percentAt(*top, "highPercent", out.highPercent);
  if (!high) return pass(high.error());
  auto low = percentAt(*top, "lowPercent", std::min(out.lowPercent, *high - kLeastDistance));
  if (!low) return pass(low.error());
  if (*low < 1 || *high - *low < kLeastDistance)
    return invalid(
        "{}: lowPercent {} and highPercent {}: want them {} apart, or limits would swing",
        kBandwidthAnnotation, *low, *high, kLeastDistance);
  out.highPercent = *high;
  out.lowPercent = *low;
  return out;
}

int64_t BandwidthGovernor::next(MonoTime at, const BandwidthRound& round,
                                const BandwidthMarks& marks) {
  const int64_t least = std::min(round.least, round.ceiling);
  const int64_t present = std::clamp(round.present, least, round.ceiling);
  const double percent = round.total * 100 / marks.perDomain;
  const bool hasRoom = percent < static_cast<double>(marks.lowPercent);
  if (!hasRoom) roomSince_ = MonoTime::min();
  if (percent >= static_cast<double>(marks.highPercent)) {
    const bool isOurs = round.bestEffort >= round.total * kPartOfIt;
    return isOurs ? std::max(least, present - round.step) : present;
  }
  if (!hasRoom) return present;
  if (roomSince_ == MonoTime::min()) roomSince_ = at;
  if (at - roomSince_ < kHold) return present;
  roomSince_ = at;
  return std::min(round.ceiling, present + round.step);
}

std::optional<double> TrafficMeter::rate(const std::string& name, MonoTime at, uint64_t bytes) {
  auto [found, isNew] = seen_.try_emplace(name, bytes, at);
  const auto [before, when] = found->second;
  found->second = {bytes, at};
  if (isNew || at <= when || bytes < before) return std::nullopt;
  return static_cast<double>(bytes - before) / std::chrono::duration<double>(at - when).count();
}

}  // namespace mangrove::agent
