#pragma once
// Which PersistentVolume belongs to which claim, as steps that bring the objects there: volumes
// that somebody made are found by class, size, modes and labels; for our own class one is made.
//
//   for (const ClaimStep& step : planClaims(claims, volumes, classes, inUse)) …
//
// Pure, level-triggered: each call says what is missing now; nothing when all is in order.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/storage.h"
#include "json/value.h"

namespace mangrove::runtime {

inline constexpr std::string_view kLocalProvisioner = "mangrove.io/local";
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";

// What is deleted while pods use it, or while a claim has it, stays until they are gone.
inline constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
inline constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";

struct ClaimStep {
  enum class Do {
    kProvision,     // make a directory and a volume for the claim
    kReserve,       // write the claim into the volume
    kBindClaim,     // write the volume into the claim
    kClaimBound,    // the claim's status
    kVolumePhase,   // the volume's status: `phase`
    kReclaim,       // the volume's claim is gone: directory and volume go too
    kWaitForClass,  // nothing fits and nobody makes one: told once as an Event
    kFinalizers,    // claim or volume get the list `finalizers`: it is held while it is used
  };
  Do what = Do::kProvision;
  std::shared_ptr<const api::PersistentVolumeClaim> claim;  // null for volumes alone
  std::shared_ptr<const api::PersistentVolume> volume;      // null for kProvision
  std::string phase;
  std::vector<std::string> finalizers;
};

using ClaimList = std::vector<std::shared_ptr<const api::PersistentVolumeClaim>>;
using VolumeList = std::vector<std::shared_ptr<const api::PersistentVolume>>;
using ClassList = std::vector<std::shared_ptr<const api::StorageClass>>;
// Whether a pod that is here uses the claim; its data stays as long.
using ClaimInUse = std::function<bool(std::string_view ns, std::string_view claim)>;

std::vector<ClaimStep> planClaims(const ClaimList& claims, const VolumeList& volumes,
                                  const ClassList& classes, const ClaimInUse& inUse);

// The volume that is made for a claim of our class, with its data at `path`.
json::Object localVolume(const api::PersistentVolumeClaim& claim, const std::string& path,
                         std::string_view reclaimPolicy);
std::string localVolumeName(const api::PersistentVolumeClaim& claim);

}  // namespace mangrove::runtime
