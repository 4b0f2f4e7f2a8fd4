#include "agent/qos/resctrl/monitors.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace mangrove::agent {
namespace {

constexpr int64_t kForOthers = 4;

int rankOf(std::string_view group) {
  return group == "BE" ? 0 : group == "LS" ? 1 : 2;
}

}  // namespace

size_t monitorsLeft(int64_t rmids, size_t control) {
  return static_cast<size_t>(
      std::max<int64_t>(rmids - static_cast<int64_t>(control) - kForOthers, 0));
}

std::vector<size_t> monitored(std::span<const MonitorCandidate> pods, size_t most) {
  std::vector<size_t> out(pods.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = i;
  std::sort(out.begin(), out.end(), [&](size_t a, size_t b) {
    return std::tuple(rankOf(pods[a].group), pods[a].serial) <
           std::tuple(rankOf(pods[b].group), pods[b].serial);
  });
  out.resize(std::min(out.size(), most));
  std::sort(out.begin(), out.end());
  return out;
}

std::string monitorGroup(std::string_view group, std::string_view uid) {
  return fmt::format("{}/mon_groups/{}", group, uid);
}

}  // namespace mangrove::agent
