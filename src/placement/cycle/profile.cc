#include "placement/cycle/profile.h"

#include <algorithm>

namespace mangrove::placement {

namespace {

// Shapes kept with their columns; 64 in turn are more than any deployment storm has, and on
// 100 000 nodes they take about 100 MB at most. As many classes may have counters of their own,
// which hear of every pod.
constexpr size_t kMaxShapes = 64;
// Classes without counters are small.
constexpr size_t kMaxPlans = 4096;

}  // namespace

const std::vector<ProfileConfig::Enabled>& ProfileConfig::at(std::string_view point) const {
  static const std::vector<Enabled> kNone;
  const auto found = points.find(point);
  return found == points.end() ? kNone : found->second;
}

Profile::Profile(ProfileConfig config, PluginHandle handle)
    : config_(std::move(config)), cluster_(handle.cluster), handle_(std::move(handle)) {
  handle_.profile = config_.schedulerName;
}

Profile::~Profile() {
  plans_.clear();
  for (auto& plugin : plugins_)
    if (auto* listener = plugin->listener()) cluster_.unlisten(*listener);
}

Result<std::unique_ptr<Profile>> Profile::make(ProfileConfig config,
                                               std::span<const PluginEntry> known,
                                               PluginHandle handle) {
  std::unique_ptr<Profile> profile(new Profile(std::move(config), handle));
  if (auto made = profile->makePlugins(known); !made) return pass(made.error());
  profile->layOut();
  return profile;
}

Result<> Profile::makePlugins(std::span<const PluginEntry> known) {
  static const json::Value kNoArgs;
  for (const auto& [point, enabled] : config_.points)
    for (const auto& wanted : enabled) {
      if (find(wanted.name)) continue;
      const auto entry = std::find_if(known.begin(), known.end(),
                                      [&](const auto& e) { return e.name == wanted.name; });
      if (entry == known.end())
        return invalid("{}: no plugin '{}' in this version", point, wanted.name);
      const auto args = config_.args.find(wanted.name);
      auto plugin = entry->make(args == config_.args.end() ? kNoArgs : args->second, handle_);
      if (!plugin) return plugin.error().in("arguments of plugin {}", wanted.name);
      (*plugin)->setSlot(plugins_.size());
      if (auto* listener = (*plugin)->listener()) cluster_.listen(*listener);
      plugins_.push_back(std::move(*plugin));
    }
  return {};
}

Plugin* Profile::find(std::string_view name) const {
  for (const auto& plugin : plugins_)
    if (plugin->name() == name) return plugin.get();
  return nullptr;
}

std::vector<Plugin*> Profile::enabledAt(std::string_view point) const {
  std::vector<Plugin*> out;
  for (const auto& enabled : config_.at(point))
    if (Plugin* plugin = find(enabled.name)) out.push_back(plugin);
  return out;
}

void Profile::layOut() {
  layout_.slots = plugins_.size();
  const auto noteClusterWide = [&](Plugin* plugin) {
    auto& all = layout_.clusterWide;
    if (plugin->clusterWide() && std::find(all.begin(), all.end(), plugin) == all.end())
      all.push_back(plugin);
  };
  for (Plugin* plugin : enabledAt("filter")) {
    if (!plugin->nodeLocal() && !plugin->clusterWide()) continue;
    layout_.filters.push_back({plugin, plugin->nodeLocal(), plugin->clusterWide()});
    noteClusterWide(plugin);
  }
  for (const auto& enabled : config_.at("score")) {
    Plugin* plugin = find(enabled.name);
    if (!plugin || (!plugin->nodeLocal() && !plugin->clusterWide())) continue;
    layout_.scores.push_back(
        {plugin, plugin->nodeLocal(), plugin->clusterWide(), std::max(1, enabled.weight)});
    noteClusterWide(plugin);
  }
  const auto transactional = [&](std::string_view point, std::vector<Transactional*>& out) {
    for (Plugin* plugin : enabledAt(point))
      if (auto* part = plugin->transactional()) out.push_back(part);
  };
  for (Plugin* plugin : enabledAt("reserve"))
    if (plugin->transactional()) reserve_.push_back(plugin);
  for (Plugin* plugin : enabledAt("permit"))
    if (plugin->transactional()) permit_.push_back(plugin);
  transactional("preBind", preBind_);
  transactional("postBind", postBind_);
  preEnqueue_ = enabledAt("preEnqueue");
  for (Plugin* plugin : enabledAt("preFilter")) {
    if (plugin->prepares()) preFilter_.push_back(plugin);
    if (auto* part = plugin->suggesting()) suggesting_.push_back(part);
  }
  for (const auto& plugin : plugins_) {
    layout_.all.push_back(plugin.get());
    if (auto* part = plugin->transforming()) layout_.transforming.push_back(part);
    if (plugin->groupWise()) groupWise_.push_back(plugin.get());
    if (auto* feed = plugin->podFeed()) feeds_.push_back(feed);
  }
  for (Plugin* plugin : layout_.all) plugin->meet(layout_.all);
  for (Plugin* plugin : enabledAt("bind"))
    if (auto* binder = plugin->binder()) binders_.push_back(binder);
  for (Plugin* plugin : enabledAt("postFilter")) {
    const bool isDefault = plugin->name() == "DefaultPreemption";
    preempts_ = preempts_ || isDefault;
    if (isDefault || plugin->roomMaking()) postFilter_.push_back(plugin);
  }
  // Its plugin has checked them already.
  if (const auto args = config_.args.find("DefaultPreemption"); args != config_.args.end())
    if (auto read = readPreemptionArgs(args->second)) preemptionArgs_ = *read;
}

PlanState& Profile::compiled(const ClassPtr& cls) {
  auto& slot = plans_[cls->id];
  if (slot) {
    slot->lastUse = slot->shared()->lastUse = ++uses_;
    return *slot;
  }
  auto& columns = columns_[cls->shape->id];
  if (!columns) columns = std::make_shared<RowColumns>(cluster_.table);
  slot = std::make_unique<PlanState>(layout_, cluster_, cls, columns);
  PlanState& state = *slot;
  state.lastUse = columns->lastUse = ++uses_;
  evictPlans();
  return state;
}

namespace {

// The use before which everything must go so that three quarters of `most` stay; 0: all may stay. A
// quarter at a time: when every pod is a class of its own, looking for the oldest one with each
// would cost more than compiling it.
uint64_t oldestToKeep(std::vector<uint64_t> uses, size_t most) {
  if (uses.size() <= most) return 0;
  const auto cut = uses.begin() + static_cast<long>(uses.size() - most * 3 / 4);
  std::nth_element(uses.begin(), cut, uses.end());
  return *cut;
}

}  // namespace

void Profile::evictPlans() {
  if (columns_.size() <= kMaxShapes && ++compiledSince_ < kMaxShapes / 4) return;
  compiledSince_ = 0;
  std::vector<uint64_t> shapes, counting, all;
  for (const auto& [id, columns] : columns_) shapes.push_back(columns->lastUse);
  for (const auto& [id, plan] : plans_) {
    all.push_back(plan->lastUse);
    if (plan->hasParts()) counting.push_back(plan->lastUse);
  }
  const uint64_t shape = oldestToKeep(std::move(shapes), kMaxShapes);
  const uint64_t part = oldestToKeep(std::move(counting), kMaxShapes);
  const uint64_t plan = oldestToKeep(std::move(all), kMaxPlans);
  std::erase_if(plans_, [&](const auto& entry) {
    const PlanState& state = *entry.second;
    return state.lastUse < plan || state.shared()->lastUse < shape ||
           (state.hasParts() && state.lastUse < part);
  });
  std::erase_if(columns_, [&](const auto& entry) { return entry.second->lastUse < shape; });
}

}  // namespace mangrove::placement
