#include "placement/config/merge.h"

#include <algorithm>
#include <array>

#include "placement/plugins/registry.h"

namespace mangrove::placement {

namespace {

using Enabled = ProfileConfig::Enabled;

constexpr std::array<std::string_view, 12> kPoints = {
    "preEnqueue", "queueSort", "preFilter", "filter",  "postFilter", "preScore",
    "score",      "reserve",   "permit",    "preBind", "bind",       "postBind"};

const Enabled* find(const std::vector<Enabled>& list, std::string_view name) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const Enabled& e) { return e.name == name; });
  return at == list.end() ? nullptr : &*at;
}

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

const PluginWishes::Point& pointOf(const PluginWishes& wishes, std::string_view name) {
  static const PluginWishes::Point kNothing;
  const auto at = wishes.points.find(name);
  return at == wishes.points.end() ? kNothing : at->second;
}

// Defaults without what the user disabled; a default that the user enables again keeps its place
// and takes the user's weight.
std::vector<Enabled> multiPoint(const PluginWishes::Point& user) {
  std::vector<Enabled> out;
  if (!contains(user.disabled, "*"))
    for (const Enabled& plugin : defaultMultiPoint()) {
      if (const Enabled* own = find(user.enabled, plugin.name))
        out.push_back({plugin.name, own->weight != 0 ? own->weight : plugin.weight});
      else if (!contains(user.disabled, plugin.name))
        out.push_back(plugin);
    }
  for (const Enabled& plugin : user.enabled)
    if (!find(out, plugin.name)) out.push_back(plugin);
  return out;
}

std::vector<Enabled> mergePoint(std::string_view point, const PluginWishes::Point& user,
                                const std::vector<Enabled>& multi) {
  std::vector<Enabled> overriding, rest, own;
  const bool noDefaults = contains(user.disabled, "*");
  for (const Enabled& plugin : user.enabled) {
    const Enabled* fallback = noDefaults ? nullptr : find(multi, plugin.name);
    if (!fallback || !implements(plugin.name, point)) {
      own.push_back(plugin);
      continue;
    }
    overriding.push_back({plugin.name, plugin.weight != 0 ? plugin.weight : fallback->weight});
  }
  if (!noDefaults)
    for (const Enabled& plugin : multi)
      if (implements(plugin.name, point) && !contains(user.disabled, plugin.name) &&
          !find(user.enabled, plugin.name))
        rest.push_back(plugin);
  overriding.insert(overriding.end(), rest.begin(), rest.end());
  overriding.insert(overriding.end(), own.begin(), own.end());
  return overriding;
}

}  // namespace

std::span<const std::string_view> pointNames() {
  return kPoints;
}

bool implements(std::string_view plugin, std::string_view point) {
  const auto at = std::find(kPoints.begin(), kPoints.end(), point);
  for (const PluginEntry& entry : pluginEntries())
    if (entry.name == plugin)
      return at != kPoints.end() && (entry.points & (1u << (at - kPoints.begin())));
  return false;
}

std::map<std::string, std::vector<Enabled>, std::less<>> mergePoints(const PluginWishes& wishes) {
  std::map<std::string, std::vector<Enabled>, std::less<>> out;
  const auto multi = multiPoint(pointOf(wishes, "multiPoint"));
  for (auto point : kPoints) {
    auto merged = mergePoint(point, pointOf(wishes, point), multi);
    if (!merged.empty()) out[std::string(point)] = std::move(merged);
  }
  return out;
}

}  // namespace mangrove::placement
