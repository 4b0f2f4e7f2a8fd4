#include "placement/testing/oracle_volumes.h"

#include <algorithm>
#include <set>

#include "api/select/label_selector.h"
#include "api/wire/names.h"

namespace mangrove::placement::oracle {

namespace {

using Place = World::Place;
using Source = api::Volume::Source;

std::vector<std::string> claimKeys(const api::Pod& pod) {
  std::vector<std::string> out;
  for (const auto& volume : pod.spec->volumes) {
    if (volume.source == Source::kClaim) out.push_back(pod.meta.ns.str() + "/" + volume.id.str());
    if (volume.source == Source::kEphemeral)
      out.push_back(pod.meta.ns.str() + "/" + pod.meta.name.str() + "-" + volume.name.str());
  }
  return out;
}

bool bound(const api::PersistentVolumeClaim& claim) {
  return !claim.volumeName.empty() && (claim.phase.empty() || claim.phase == "Bound");
}

const api::StorageClass* classFor(const World& world, const api::PersistentVolumeClaim& claim) {
  const std::string name = claim.storageClassName ? claim.storageClassName->str() : "";
  return world.storage->classes.find(name).get();
}

std::string podRefusal(const World& world, const api::Pod& pod) {
  for (const auto& key : claimKeys(pod)) {
    const auto claim = world.storage->claims.find(key);
    if (!claim) return "not found";
    if (claim->meta.isDeleting() || claim->phase == "Lost") return "lost";
    const auto* cls = classFor(world, *claim);
    if (!bound(*claim) && !(cls && cls->waitsForConsumer)) return "unbound immediate";
  }
  return "";
}

// ---- VolumeRestrictions

bool disksClash(const api::Pod& pod, const api::Pod& other) {
  for (const auto& a : pod.spec->volumes)
    for (const auto& b : other.spec->volumes) {
      if (a.source != b.source || a.id != b.id) continue;
      if (a.source == Source::kAwsDisk) return true;
      if (a.source == Source::kGceDisk && !(a.readOnly && b.readOnly)) return true;
    }
  return false;
}

bool onePodClaimInUse(const World& world, const api::Pod& pod) {
  for (const auto& key : claimKeys(pod)) {
    const auto claim = world.storage->claims.find(key);
    if (!claim || !std::count(claim->accessModes.begin(), claim->accessModes.end(),
                              Interned("ReadWriteOncePod")))
      continue;
    for (const Place& place : world.places)
      for (const api::Pod* other : place.pods)
        for (const auto& used : claimKeys(*other))
          if (used == key) return true;
  }
  return false;
}

// ---- NodeVolumeLimits

using Attached = std::set<std::pair<std::string, std::string>>;

void addVolumes(const World& world, const api::Pod& pod, Attached& out) {
  for (const auto& key : claimKeys(pod)) {
    const auto claim = world.storage->claims.find(key);
    if (!claim) continue;
    const auto volume = bound(*claim) ? world.storage->volumes.find(claim->volumeName.view())
                                      : std::shared_ptr<const api::PersistentVolume>();
    if (volume && !volume->csiDriver.empty())
      out.insert({volume->csiDriver.str(), volume->csiHandle.str()});
    const auto* cls = classFor(world, *claim);
    if (!volume && cls) out.insert({cls->provisioner.str(), key});
  }
}

bool tooMany(const World& world, const api::Pod& pod, const Place& place) {
  const auto csi = world.storage->nodes.find(place.node->meta.name.view());
  if (!csi) return false;
  Attached used, wanted;
  for (const api::Pod* other : place.pods) addVolumes(world, *other, used);
  for (const auto& [key, attachment] : world.storage->attachments) {
    const auto volume = world.storage->volumes.find(attachment->volumeName.view());
    if (volume && attachment->nodeName.view() == place.node->meta.name.view())
      used.insert({volume->csiDriver.str(), volume->csiHandle.str()});
  }
  addVolumes(world, pod, wanted);
  used.insert(wanted.begin(), wanted.end());
  for (const auto& driver : csi->drivers) {
    const auto mine = [&](const auto& volume) { return volume.first == driver.name.view(); };
    if (driver.allocatableCount && std::any_of(wanted.begin(), wanted.end(), mine) &&
        std::count_if(used.begin(), used.end(), mine) > *driver.allocatableCount)
      return true;
  }
  return false;
}

// ---- VolumeBinding

bool servesFrom(const World& world, const api::PersistentVolume& volume, const std::string& key,
                const api::PersistentVolumeClaim& claim, const api::Node& node) {
  if (volume.meta.isDeleting() ||
      volume.capacity.amount("storage") < claim.requests.amount("storage"))
    return false;
  if (volume.nodeAffinity && !api::NodeTerms(*volume.nodeAffinity).match(node.meta)) return false;
  if (volume.claimRef && !(volume.claimRef->ns == claim.meta.ns.view() &&
                           volume.claimRef->name == claim.meta.name.view()))
    return false;
  if (!volume.claimRef && volume.phase != "Available") return false;
  const auto promised = world.storage->promised.find(volume.meta.name.view());
  if (promised != world.storage->promised.end() && promised->second != key) return false;
  if (!claim.storageClassName || volume.storageClassName != *claim.storageClassName) return false;
  if (claim.selector && !api::compile(*claim.selector)->matches(volume.meta.labels)) return false;
  return std::all_of(claim.accessModes.begin(), claim.accessModes.end(), [&](Interned mode) {
    return std::count(volume.accessModes.begin(), volume.accessModes.end(), mode) > 0;
  });
}

std::string provisionRefusal(const World& world, const api::PersistentVolumeClaim& claim,
                             const api::Node& node) {
  const auto* cls = classFor(world, claim);
  const std::string_view none = "node(s) didn't find available persistent volumes to bind";
  if (cls->provisioner.empty() || cls->provisioner == "kubernetes.io/no-provisioner")
    return std::string(none);
  bool allowed = cls->allowedTopologies.empty();
  for (const auto& term : cls->allowedTopologies)
    allowed = allowed || api::NodeTerm(term).matches(node.meta.name, node.meta.labels);
  if (!allowed) return std::string(none);
  const auto driver = world.storage->drivers.find(cls->provisioner.view());
  if (!driver || !driver->storageCapacity) return "";
  for (const auto& [key, capacity] : world.storage->capacities)
    if (capacity->storageClassName.view() == cls->meta.name.view() && capacity->nodeTopology &&
        api::compile(*capacity->nodeTopology)->matches(node.meta.labels) && capacity->capacity &&
        claim.requests.amount("storage") <= *capacity->capacity)
      return "";
  return "node(s) did not have enough free storage";
}

std::string bindingRefusal(const World& world, const api::Pod& pod, const api::Node& node) {
  std::vector<std::string> open;
  for (const auto& key : claimKeys(pod)) {
    const auto claim = world.storage->claims.find(key);
    if (!bound(*claim)) {
      open.push_back(key);
      continue;
    }
    const auto volume = world.storage->volumes.find(claim->volumeName.view());
    if (!volume) return "lost volume";
    if (volume->nodeAffinity && !api::NodeTerms(*volume->nodeAffinity).match(node.meta))
      return "node(s) didn't match PersistentVolume's node affinity";
  }
  // The smallest wish first, each takes the smallest volume that is left.
  std::stable_sort(open.begin(), open.end(), [&](const auto& a, const auto& b) {
    return world.storage->claims.find(a)->requests.amount("storage") <
           world.storage->claims.find(b)->requests.amount("storage");
  });
  open.erase(std::unique(open.begin(), open.end()), open.end());
  std::set<std::string> gone;
  for (const auto& key : open) {
    const auto claim = world.storage->claims.find(key);
    if (const auto told = claim->meta.annotations.get(api::annotation::kSelectedNode)) {
      if (*told != node.meta.name.view()) return "told another node";
      if (auto why = provisionRefusal(world, *claim, node); !why.empty()) return why;
      continue;
    }
    std::shared_ptr<const api::PersistentVolume> best;
    bool made = false;  // for this claim
    for (const auto& [name, volume] : world.storage->volumes) {
      if (gone.contains(name) || !servesFrom(world, *volume, key, *claim, node) || made) continue;
      made = volume->claimRef.has_value();
      if (made || !best || volume->capacity.amount("storage") < best->capacity.amount("storage"))
        best = volume;
    }
    if (best) {
      gone.insert(best->meta.name.str());
      continue;
    }
    if (auto why = provisionRefusal(world, *claim, node); !why.empty()) return why;
  }
  return "";
}

// ---- VolumeZone

bool wrongZone(const World& world, const api::Pod& pod, const api::Node& node) {
  for (const auto& key : claimKeys(pod)) {
    const auto claim = world.storage->claims.find(key);
    if (!bound(*claim)) continue;
    const auto volume = world.storage->volumes.find(claim->volumeName.view());
    const auto wanted = volume->meta.labels.get(api::label::kZone);
    const auto have = node.meta.labels.get(api::label::kZone);
    if (wanted && have &&
        ("__" + std::string(*wanted) + "__").find("__" + std::string(*have) + "__") ==
            std::string::npos)
      return true;
  }
  return false;
}

}  // namespace

std::string volumeRefusal(const World& world, const api::Pod& pod, const Place& place) {
  if (!world.storage || pod.spec->volumes.empty()) return "";
  if (auto why = podRefusal(world, pod); !why.empty()) return why;
  for (const api::Pod* other : place.pods)
    if (disksClash(pod, *other)) return "node(s) had no available disk";
  if (onePodClaimInUse(world, pod)) return "ReadWriteOncePod";
  if (tooMany(world, pod, place)) return "node(s) exceed max volume count";
  if (auto why = bindingRefusal(world, pod, *place.node); !why.empty()) return why;
  return wrongZone(world, pod, *place.node) ? "node(s) had no available volume zone" : "";
}

}  // namespace mangrove::placement::oracle
