#include "agent/devices/inventory.h"

#include <algorithm>
#include <tuple>

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

bool isHex(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// "pci0000:5d"
bool isRootBus(std::string_view part) {
  if (!part.starts_with("pci")) return false;
  const Halves halves = cut(part.substr(3), ':');
  return halves.found && isHex(halves.before) && isHex(halves.after);
}

}  // namespace

Inventory merged(Inventory a, const Inventory& b) {
  a.devices.insert(a.devices.end(), b.devices.begin(), b.devices.end());
  a.labels.insert(b.labels.begin(), b.labels.end());
  a.annotations.insert(b.annotations.begin(), b.annotations.end());
  const auto key = [](const api::DeviceInfo& d) {
    return std::tuple(d.type.view(), d.minor.value_or(-1), std::string_view(d.id));
  };
  std::sort(a.devices.begin(), a.devices.end(),
            [&](const auto& x, const auto& y) { return key(x) < key(y); });
  for (api::DeviceInfo& device : a.devices)
    std::sort(device.conditions.begin(), device.conditions.end(),
              [](const auto& x, const auto& y) { return x.type.view() < y.type.view(); });
  return a;
}

api::Condition healthCondition(bool healthy, std::string_view reason, std::string_view message) {
  api::Condition condition;
  condition.type = Interned(kConditionHealthy);
  condition.status = healthy ? api::Truth::kTrue : api::Truth::kFalse;
  condition.reason = Interned(reason);
  condition.message = api::Text(message);
  return condition;
}

std::string pcieIdOf(std::string_view sysfsPath) {
  for (std::string_view part : split(sysfsPath, '/'))
    if (isRootBus(part)) return std::string(part);
  return "";
}

int numaNodeOf(std::string_view text) {
  return std::max(0, parseInt<int>(trim(text)).value_or(0));
}

}  // namespace mangrove::agent
