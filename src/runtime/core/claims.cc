#include "runtime/core/claims.h"

#include <algorithm>

#include "api/wire/write.h"

namespace mangrove::runtime {

namespace {

using Claim = api::PersistentVolumeClaim;
using Volume = api::PersistentVolume;
using Do = ClaimStep::Do;
using ClaimPtr = std::shared_ptr<const Claim>;
using VolumePtr = std::shared_ptr<const Volume>;
constexpr std::string_view kStorage = "storage";

bool refersTo(const Volume& volume, const Claim& claim) {
  const auto& ref = volume.claimRef;
  return ref && ref->ns == claim.meta.ns.view() && ref->name == claim.meta.name.view() &&
         (ref->uid.empty() || ref->uid == claim.meta.uid.str());
}

std::string_view modeOf(const Interned& mode) {
  return mode.view().empty() ? "Filesystem" : mode.view();
}

bool fits(const Volume& volume, const Claim& claim) {
  if (volume.claimRef || volume.meta.isDeleting()) return false;
  const std::string_view wanted = claim.storageClassName ? claim.storageClassName->view() : "";
  if (volume.storageClassName.view() != wanted) return false;
  if (modeOf(volume.volumeMode) != modeOf(claim.volumeMode)) return false;
  if (volume.capacity.amount(kStorage) < claim.requests.amount(kStorage)) return false;
  for (const auto& mode : claim.accessModes)
    if (std::find(volume.accessModes.begin(), volume.accessModes.end(), mode) ==
        volume.accessModes.end())
      return false;
  if (!claim.selector) return true;
  return api::compile(*claim.selector)
      .value_or(api::Selector::nothing())
      .matches(volume.meta.labels);
}

class Planning {
 public:
  Planning(const ClaimList& claims, const VolumeList& volumes, const ClassList& classes,
           const ClaimInUse& inUse)
      : claims_(claims), volumes_(volumes), classes_(classes), inUse_(inUse) {}

  std::vector<ClaimStep> make() {
    for (const auto& claim : claims_) {
      protect(claim->meta, kClaimProtection, inUse_(claim->meta.ns.view(), claim->meta.name.view()),
              claim, nullptr);
      if (!claim->meta.isDeleting()) forClaim(claim);
    }
    for (const auto& volume : volumes_) {
      protect(volume->meta, kVolumeProtection, claimOf(*volume) != nullptr, nullptr, volume);
      if (!volume->meta.isDeleting()) forVolume(volume);
    }
    return std::move(steps_);
  }

 private:
  void add(Do what, ClaimPtr claim, VolumePtr volume, std::string phase = "") {
    steps_.push_back({what, std::move(claim), std::move(volume), std::move(phase), {}});
  }

  // Held by a finalizer from the start, let go when it is to be deleted and nobody uses it.
  void protect(const api::ObjectMeta& meta, std::string_view finalizer, bool isUsed, ClaimPtr claim,
               VolumePtr volume) {
    std::vector<std::string> others;
    for (Interned one : meta.finalizers)
      if (one.view() != finalizer) others.push_back(one.str());
    const bool isHeld = others.size() < meta.finalizers.size();
    if (isHeld ? !meta.isDeleting() || isUsed : meta.isDeleting()) return;
    if (!isHeld) others.emplace_back(finalizer);
    steps_.push_back({Do::kFinalizers, std::move(claim), std::move(volume), "", std::move(others)});
  }

  ClaimPtr claimOf(const Volume& volume) const {
    const auto found = std::find_if(claims_.begin(), claims_.end(),
                                    [&](const auto& claim) { return refersTo(volume, *claim); });
    return found == claims_.end() ? nullptr : *found;
  }

  VolumePtr volumeNamed(std::string_view name) const {
    for (const auto& volume : volumes_)
      if (volume->meta.name.view() == name) return volume;
    return nullptr;
  }

  VolumePtr volumeFor(const Claim& claim) const {
    for (const auto& volume : volumes_)
      if (refersTo(*volume, claim) && !volume->meta.isDeleting()) return volume;
    return nullptr;
  }

  VolumePtr smallestFit(const Claim& claim) const {
    VolumePtr best;
    for (const auto& volume : volumes_) {
      const bool taken = std::find(taken_.begin(), taken_.end(), volume.get()) != taken_.end();
      if (taken || !fits(*volume, claim)) continue;
      if (!best || volume->capacity.amount(kStorage) < best->capacity.amount(kStorage))
        best = volume;
    }
    return best;
  }

  bool isOurs(const Claim& claim) const {
    const std::string_view wanted = claim.storageClassName ? claim.storageClassName->view() : "";
    return std::any_of(classes_.begin(), classes_.end(), [&](const auto& one) {
      return one->meta.name.view() == wanted && one->provisioner.view() == kLocalProvisioner;
    });
  }

  void forClaim(const ClaimPtr& claim) {
    if (!claim->volumeName.view().empty()) return finishBinding(claim);
    if (VolumePtr volume = volumeFor(*claim)) return add(Do::kBindClaim, claim, volume);
    if (VolumePtr volume = smallestFit(*claim)) {
      taken_.push_back(volume.get());
      return add(Do::kReserve, claim, volume);
    }
    add(isOurs(*claim) ? Do::kProvision : Do::kWaitForClass, claim, nullptr);
  }

  void finishBinding(const ClaimPtr& claim) {
    VolumePtr volume = volumeNamed(claim->volumeName.view());
    if (!volume) return;
    if (!volume->claimRef) return add(Do::kReserve, claim, volume);
    if (refersTo(*volume, *claim) && claim->phase.view() != "Bound")
      add(Do::kClaimBound, claim, volume);
  }

  void forVolume(const VolumePtr& volume) {
    const char* phase = "Available";
    if (volume->claimRef) {
      const ClaimPtr owner = claimOf(*volume);
      // A volume that waits for a claim that was never there is not left behind by one.
      const bool awaited = !owner && volume->claimRef->uid.empty();
      phase = owner ? "Bound" : awaited ? "Available" : "Released";
      if (!owner && !awaited && reclaims(*volume)) return add(Do::kReclaim, nullptr, volume);
    }
    if (volume->phase.view() != phase) add(Do::kVolumePhase, nullptr, volume, phase);
  }

  bool reclaims(const Volume& volume) const {
    const bool ours = volume.meta.annotations.get(kProvisionedBy).value_or("") == kLocalProvisioner;
    return ours && volume.reclaimPolicy.view() == "Delete" &&
           !inUse_(volume.claimRef->ns, volume.claimRef->name);
  }

  const ClaimList& claims_;
  const VolumeList& volumes_;
  const ClassList& classes_;
  const ClaimInUse& inUse_;
  std::vector<const Volume*> taken_;
  std::vector<ClaimStep> steps_;
};

}  // namespace

std::vector<ClaimStep> planClaims(const ClaimList& claims, const VolumeList& volumes,
                                  const ClassList& classes, const ClaimInUse& inUse) {
  return Planning(claims, volumes, classes, inUse).make();
}

std::string localVolumeName(const Claim& claim) {
  return "pvc-" + std::string(claim.meta.uid.str());
}

json::Object localVolume(const Claim& claim, const std::string& path,
                         std::string_view reclaimPolicy) {
  json::Object ref{{"apiVersion", "v1"},
                   {"kind", "PersistentVolumeClaim"},
                   {"namespace", claim.meta.ns.view()},
                   {"name", claim.meta.name.view()},
                   {"uid", claim.meta.uid.str()}};
  json::Object spec{
      {"capacity", json::Object{{kStorage, api::toJson(claim.requests.amount(kStorage))}}},
      {"accessModes", api::toJson(claim.accessModes)},
      {"persistentVolumeReclaimPolicy", reclaimPolicy},
      {"storageClassName", claim.storageClassName ? claim.storageClassName->view() : ""},
      {"volumeMode", "Filesystem"},
      {"hostPath", json::Object{{"path", path}, {"type", "DirectoryOrCreate"}}},
      {"claimRef", std::move(ref)}};
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolume"},
          {"metadata",
           json::Object{{"name", localVolumeName(claim)},
                        {"annotations", json::Object{{kProvisionedBy, kLocalProvisioner}}}}},
          {"spec", std::move(spec)}};
}

}  // namespace mangrove::runtime
