#include "agent/devices/gpu_health.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace mangrove::agent {
namespace {

constexpr std::array<uint64_t, 6> kProgramsErrors = {13, 31, 43, 45, 68, 109};
// Uncorrectable memory errors, failed row remapping, NVLink, a card that fell off the bus, a dead
// GSP: they come again until somebody resets or replaces the card.
constexpr std::array<uint64_t, 9> kLasting = {48, 62, 64, 74, 79, 92, 95, 119, 120};
constexpr Duration kShort = std::chrono::minutes(5);
constexpr Duration kLong = std::chrono::hours(1);

bool has(auto& list, uint64_t xid) {
  return std::find(list.begin(), list.end(), xid) != list.end();
}

}  // namespace

bool isProgramsError(uint64_t xid) {
  return has(kProgramsErrors, xid);
}

Duration timeoutOf(uint64_t xid) {
  return has(kLasting, xid) ? kLong : kShort;
}

void GpuHealth::error(const std::string& uuid, uint64_t xid, MonoTime now) {
  if (isProgramsError(xid)) return;
  Error& known = errors_[uuid];
  const MonoTime until = now + timeoutOf(xid);
  if (until >= known.until) known = {xid, until};
}

GpuVerdict GpuHealth::verdict(const std::string& uuid, bool answers, MonoTime now) const {
  if (!answers) return {false, "DeviceDoesNotAnswer", "the library cannot reach the device"};
  if (unheard_.contains(uuid))
    return {false, "DeviceHealthCheckNotSupported", "the device does not tell of its errors"};
  for (const std::string& key : {uuid, std::string()}) {
    const auto it = errors_.find(key);
    if (it != errors_.end() && now < it->second.until)
      return {false, "XidCriticalError", fmt::format("XID {}", it->second.xid)};
  }
  return {};
}

}  // namespace mangrove::agent
