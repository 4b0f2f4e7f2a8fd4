#pragma once
// How a profile's wishes and the defaults become one list per extension point, by Kubernetes'
// rules: plugins that are enabled at a point and by default come first in the user's order, then
// the other defaults, then the user's own; "*" among the disabled drops the defaults of that point.
//
// Pure functions, any thread.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "placement/cycle/profile.h"

namespace mangrove::placement {

struct PluginWishes {
  struct Point {
    std::vector<ProfileConfig::Enabled> enabled;
    std::vector<std::string> disabled;
  };
  std::map<std::string, Point, std::less<>> points;  // "multiPoint" too
};

std::span<const std::string_view> pointNames();  // without multiPoint
bool implements(std::string_view plugin, std::string_view point);
std::vector<ProfileConfig::Enabled> defaultMultiPoint();
std::map<std::string, std::vector<ProfileConfig::Enabled>, std::less<>> mergePoints(
    const PluginWishes& wishes);

}  // namespace mangrove::placement
