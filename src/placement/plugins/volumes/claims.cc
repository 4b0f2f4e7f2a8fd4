#include "placement/plugins/volumes/claims.h"

#include <algorithm>

#include "api/wire/names.h"

namespace mangrove::placement {

namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

std::string_view classNameOf(const api::PersistentVolumeClaim& claim) {
  if (const auto old = claim.meta.annotations.get(api::annotation::kOldStorageClass)) return *old;
  return claim.storageClassName ? claim.storageClassName->view() : std::string_view();
}

std::string_view modeOf(Interned mode) {
  return mode.empty() ? "Filesystem" : mode.view();
}

bool isFree(const Storage& storage, const std::string& key, const api::PersistentVolumeClaim& claim,
            const api::PersistentVolume& volume) {
  if (volume.meta.isDeleting()) return false;
  if (volume.claimRef)
    return volume.claimRef->ns == claim.meta.ns.view() &&
           volume.claimRef->name == claim.meta.name.view() &&
           (volume.claimRef->uid.empty() || volume.claimRef->uid == claim.meta.uid.str());
  const auto promised = storage.promised.find(volume.meta.name.view());
  if (promised != storage.promised.end() && promised->second != key) return false;
  return volume.phase.empty() || volume.phase == "Available";
}

bool serves(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  if (volume.storageClassName.view() != classNameOf(claim)) return false;
  if (modeOf(volume.volumeMode) != modeOf(claim.volumeMode)) return false;
  if (volume.capacity.amount("storage") < claim.requests.amount("storage")) return false;
  if (claim.selector) {
    const auto selector = api::compile(*claim.selector);
    if (!selector || !selector->matches(volume.meta.labels)) return false;
  }
  return std::all_of(claim.accessModes.begin(), claim.accessModes.end(), [&](Interned mode) {
    return std::find(volume.accessModes.begin(), volume.accessModes.end(), mode) !=
           volume.accessModes.end();
  });
}

bool hasRoom(const Storage& storage, const api::StorageClass& cls,
             const api::PersistentVolumeClaim& claim, const api::Node& node) {
  const auto driver = storage.drivers.find(cls.provisioner.view());
  if (!driver || !driver->storageCapacity) return true;
  const Quantity wanted = claim.requests.amount("storage");
  for (const auto& [key, capacity] : storage.capacities) {
    if (capacity->storageClassName.view() != cls.meta.name.view() || !capacity->nodeTopology)
      continue;
    const auto selector = api::compile(*capacity->nodeTopology);
    if (!selector || !selector->matches(node.meta.labels)) continue;
    const auto& limit =
        capacity->maximumVolumeSize ? capacity->maximumVolumeSize : capacity->capacity;
    if (limit && wanted <= *limit) return true;
  }
  return false;
}

}  // namespace

bool hasVolumes(const PodClass& cls) {
  return !cls.spec->volumes.empty();
}

std::vector<std::string> claimsOf(const PodClass& cls) {
  std::vector<std::string> out;
  for (const auto& volume : cls.spec->volumes) {
    if (volume.source == api::Volume::Source::kClaim)
      out.push_back(cls.ns.str() + "/" + volume.id.str());
    else if (volume.source == api::Volume::Source::kEphemeral)
      out.push_back(cls.ns.str() + "/" + cls.podName.str() + "-" + volume.name.str());
  }
  return out;
}

bool isBound(const api::PersistentVolumeClaim& claim) {
  return !claim.volumeName.empty() && (claim.phase.empty() || claim.phase == "Bound");
}

std::shared_ptr<const api::PersistentVolume> volumeOf(const Storage& storage,
                                                      const std::string& claim) {
  const auto found = storage.claims.find(claim);
  return found && isBound(*found) ? storage.volumes.find(found->volumeName.view()) : nullptr;
}

std::shared_ptr<const api::StorageClass> classOf(const Storage& storage,
                                                 const api::PersistentVolumeClaim& claim) {
  return storage.classes.find(classNameOf(claim));
}

bool waitsForPod(const Storage& storage, const api::PersistentVolumeClaim& claim) {
  const auto cls = classOf(storage, claim);
  return cls && cls->waitsForConsumer;
}

std::string selectedNode(const api::PersistentVolumeClaim& claim) {
  return std::string(claim.meta.annotations.get(api::annotation::kSelectedNode).value_or(""));
}

bool reaches(const api::PersistentVolume& volume, const api::Node& node) {
  return !volume.nodeAffinity || api::NodeTerms(*volume.nodeAffinity).match(node.meta);
}

std::vector<std::string> conflictingClaims(const Storage& storage, const PodClass& cls,
                                           const NodeTable& table) {
  struct Bound {
    std::string claim;
    api::NodeTerms terms;
    bool reached = false;
  };
  std::vector<Bound> bound;
  for (std::string& key : claimsOf(cls)) {
    const auto claim = storage.claims.find(key);
    const auto volume = claim && isBound(*claim) ? volumeOf(storage, key) : nullptr;
    if (volume && volume->nodeAffinity)
      bound.push_back({std::move(key), api::NodeTerms(*volume->nodeAffinity)});
  }
  for (Row row : table.liveRows()) {
    size_t here = 0;
    for (Bound& one : bound)
      if (one.terms.match(table.node(row).meta)) {
        one.reached = true;
        here++;
      }
    if (here == bound.size()) return {};
  }
  std::vector<std::string> all, lost;
  for (const Bound& one : bound) {
    all.push_back(one.claim);
    if (!one.reached) lost.push_back(one.claim);
  }
  return lost.empty() ? all : lost;
}

std::shared_ptr<const api::PersistentVolume> findStatic(
    const Storage& storage, const std::string& key, const api::PersistentVolumeClaim& claim,
    const api::Node& node, const std::set<std::string, std::less<>>& taken) {
  std::shared_ptr<const api::PersistentVolume> best;
  for (const auto& [name, volume] : storage.volumes) {
    if (taken.contains(name)) continue;
    if (!isFree(storage, key, claim, *volume) || !serves(*volume, claim)) continue;
    if (!reaches(*volume, node)) continue;
    if (volume->claimRef) return volume;  // made for this claim
    if (!best || volume->capacity.amount("storage") < best->capacity.amount("storage"))
      best = volume;
  }
  return best;
}

Provision canProvision(const Storage& storage, const api::PersistentVolumeClaim& claim,
                       const api::Node& node) {
  const auto cls = classOf(storage, claim);
  if (!cls || cls->provisioner.empty() || cls->provisioner == kNoProvisioner)
    return Provision::kNotHere;
  if (!cls->allowedTopologies.empty() &&
      std::none_of(cls->allowedTopologies.begin(), cls->allowedTopologies.end(),
                   [&](const auto& term) {
                     return api::NodeTerm(term).matches(node.meta.name, node.meta.labels);
                   }))
    return Provision::kNotHere;
  return hasRoom(storage, *cls, claim, node) ? Provision::kYes : Provision::kNoRoom;
}

OpenClaims matchOpenClaims(const Storage& storage, const std::vector<std::string>& claims,
                           const api::Node& node) {
  std::vector<std::pair<std::string, std::shared_ptr<const api::PersistentVolumeClaim>>> open;
  for (const std::string& key : claims) {
    const auto claim = storage.claims.find(key);
    const bool seen =
        std::any_of(open.begin(), open.end(), [&](const auto& one) { return one.first == key; });
    if (claim && !isBound(*claim) && !seen) open.emplace_back(key, claim);
  }
  std::stable_sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
    return a.second->requests.amount("storage") < b.second->requests.amount("storage");
  });
  OpenClaims out;
  std::set<std::string, std::less<>> taken;
  for (const auto& [key, claim] : open) {
    const std::string told = selectedNode(*claim);
    if (!told.empty() && told != node.meta.name.view()) out.answer = Provision::kNotHere;
    auto volume = told.empty() ? findStatic(storage, key, *claim, node, taken) : nullptr;
    if (volume)
      taken.insert(volume->meta.name.str());
    else if (out.answer == Provision::kYes)
      out.answer = canProvision(storage, *claim, node);
    if (out.answer != Provision::kYes) return out;
    out.matches.push_back({key, std::move(volume)});
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> csiVolumes(const Storage& storage,
                                                            const PodClass& cls) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& key : claimsOf(cls)) {
    const auto claim = storage.claims.find(key);
    if (!claim) continue;
    if (const auto volume = volumeOf(storage, key)) {
      if (!volume->csiDriver.empty())
        out.emplace_back(volume->csiDriver.str(), volume->csiHandle.str());
    } else if (const auto kind = classOf(storage, *claim); kind && !kind->provisioner.empty()) {
      out.emplace_back(kind->provisioner.str(), key);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace mangrove::placement
