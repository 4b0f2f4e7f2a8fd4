#include <algorithm>
#include <map>
#include <set>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "placement/plugins/volumes/volume_base.h"
#include "placement/plugins/volumes/volumes.h"

namespace mangrove::placement {

namespace {

// ---- VolumeRestrictions

bool excludes(const api::Volume& a, const api::Volume& b) {
  using Source = api::Volume::Source;
  if (a.source != b.source || a.id != b.id.view()) return false;
  const bool bothRead = a.readOnly && b.readOnly;
  switch (a.source) {
    case Source::kAwsDisk:
      return true;
    case Source::kGceDisk:
    case Source::kIscsi:
      return !bothRead;
    case Source::kRbd:
      return !bothRead && a.pool == b.pool &&
             std::any_of(a.monitors.begin(), a.monitors.end(), [&](Interned monitor) {
               return std::find(b.monitors.begin(), b.monitors.end(), monitor) != b.monitors.end();
             });
    default:
      return false;
  }
}

class VolumeRestrictions final : public VolumePlugin {
 public:
  using VolumePlugin::VolumePlugin;
  std::string_view name() const override { return "VolumeRestrictions"; }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    if (why == 1)
      return {
          "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod "
          "access mode"};
    return {"node(s) had no available disk"};
  }
  // Pods on other nodes decide as well when a claim is for one pod alone.
  uint64_t outside(const PodPlan& plan, const NodeTable& table) const override {
    return 2 * VolumePlugin::outside(plan, table) + (usedAlone(*plan.cls) ? 1 : 0);
  }

 protected:
  Verdict verdict(const PodClass& cls, Row row) const override {
    for (const PodPtr& pod : cluster_.table.info(row).pods)
      for (const auto& theirs : pod->cls->spec->volumes)
        for (const auto& ours : cls.spec->volumes)
          if (excludes(ours, theirs)) return {Code::kUnschedulable, 0, 0};
    return usedAlone(cls) ? Verdict{Code::kUnschedulable, 0, 1} : Verdict{};
  }

 private:
  // A claim that one pod at a time may use, and another one does.
  bool usedAlone(const PodClass& cls) const {
    if (!hasVolumes(cls)) return false;
    std::set<std::string> alone;
    for (const std::string& key : claimsOf(cls)) {
      const auto claim = storage().claims.find(key);
      if (claim && std::any_of(claim->accessModes.begin(), claim->accessModes.end(),
                               [](Interned mode) { return mode == "ReadWriteOncePod"; }))
        alone.insert(key);
    }
    if (alone.empty()) return false;
    bool used = false;
    cluster_.eachPod([&](const PodPtr& pod) {
      if (used || pod->row == kNoRow || pod->cls->ns != cls.ns) return;
      for (const std::string& key : claimsOf(*pod->cls)) used = used || alone.contains(key);
    });
    return used;
  }
};

// ---- NodeVolumeLimits

class NodeVolumeLimits final : public VolumePlugin {
 public:
  using VolumePlugin::VolumePlugin;
  std::string_view name() const override { return "NodeVolumeLimits"; }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) exceed max volume count"};
  }

 protected:
  Verdict verdict(const PodClass& cls, Row row) const override {
    const auto wanted = csiVolumes(storage(), cls);
    if (wanted.empty()) return {};
    const auto csi = storage().nodes.find(node(row).meta.name.view());
    if (!csi) return {};
    std::map<std::string, std::set<std::string>> used;
    for (const PodPtr& pod : cluster_.table.info(row).pods)
      for (const auto& [driver, handle] : csiVolumes(storage(), *pod->cls))
        used[driver].insert(handle);
    addAttached(node(row).meta.name.view(), used);
    for (const auto& [driver, handle] : wanted) used[driver].insert(handle);
    for (const auto& driver : csi->drivers) {
      const bool asked = std::any_of(wanted.begin(), wanted.end(), [&](const auto& volume) {
        return volume.first == driver.name.view();
      });
      if (asked && driver.allocatableCount &&
          used[driver.name.str()].size() > static_cast<size_t>(*driver.allocatableCount))
        return {Code::kUnschedulable, 0, 0};
    }
    return {};
  }

 private:
  void addAttached(std::string_view nodeName,
                   std::map<std::string, std::set<std::string>>& used) const {
    for (const auto& [key, attachment] : storage().attachments) {
      if (attachment->nodeName.view() != nodeName) continue;
      const auto volume = storage().volumes.find(attachment->volumeName.view());
      if (volume && !volume->csiDriver.empty())
        used[volume->csiDriver.str()].insert(volume->csiHandle.str());
    }
  }
};

// ---- VolumeZone

class VolumeZone final : public VolumePlugin {
 public:
  using VolumePlugin::VolumePlugin;
  std::string_view name() const override { return "VolumeZone"; }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) had no available volume zone"};
  }

 protected:
  Verdict verdict(const PodClass& cls, Row row) const override {
    for (const std::string& key : claimsOf(cls))
      if (const auto volume = volumeOf(storage(), key); volume && !inZone(*volume, node(row)))
        return {Code::kUnresolvable, 0, 0};
    return {};
  }

 private:
  static bool inZone(const api::PersistentVolume& volume, const api::Node& node) {
    constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
        {api::label::kZone, api::label::kOldZone},
        {api::label::kRegion, api::label::kOldRegion},
        {api::label::kOldZone, api::label::kZone},
        {api::label::kOldRegion, api::label::kRegion}};
    const bool zoned = std::any_of(std::begin(kKeys), std::end(kKeys), [&](const auto& key) {
      return node.meta.labels.has(key.first);
    });
    if (!zoned) return true;
    for (const auto& [key, twin] : kKeys) {
      const auto wanted = volume.meta.labels.get(key);
      if (!wanted) continue;
      auto have = node.meta.labels.get(key);
      if (!have) have = node.meta.labels.get(twin);
      if (!have || !contains(*wanted, *have)) return false;
    }
    return true;
  }
  // "a__b" is a set of two.
  static bool contains(std::string_view set, std::string_view value) {
    for (size_t start = 0; start <= set.size();) {
      const size_t end = std::min(set.find("__", start), set.size());
      if (set.substr(start, end - start) == value) return true;
      start = end + 2;
    }
    return false;
  }
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeVolumeRestrictions(const json::Value&, PluginHandle handle) {
  return std::make_unique<VolumeRestrictions>(handle.cluster);
}
Result<std::unique_ptr<Plugin>> makeNodeVolumeLimits(const json::Value&, PluginHandle handle) {
  return std::make_unique<NodeVolumeLimits>(handle.cluster);
}
Result<std::unique_ptr<Plugin>> makeVolumeZone(const json::Value&, PluginHandle handle) {
  return std::make_unique<VolumeZone>(handle.cluster);
}

}  // namespace mangrove::placement
