#pragma once
// The claims of a pod and what stands behind them: the questions all volume plugins share.
//
// Pure functions of the storage objects; owner thread.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/cluster/cluster.h"

namespace mangrove::placement {

// "ns/name" of every claim of the pod, ephemeral ones included.
std::vector<std::string> claimsOf(const PodClass& cls);
bool hasVolumes(const PodClass& cls);

std::shared_ptr<const api::PersistentVolume> volumeOf(const Storage& storage,
                                                      const std::string& claim);
// nullptr: no class.
std::shared_ptr<const api::StorageClass> classOf(const Storage& storage,
                                                 const api::PersistentVolumeClaim& claim);
bool isBound(const api::PersistentVolumeClaim& claim);
// Waits until its pod has a node.
bool waitsForPod(const Storage& storage, const api::PersistentVolumeClaim& claim);
// The node a provisioner was told to use; "" when none.
std::string selectedNode(const api::PersistentVolumeClaim& claim);

bool reaches(const api::PersistentVolume& volume, const api::Node& node);
// Bound claims of a pod that keep it from every node there is: those whose volume none of them
// reaches, else all of them when no node reaches all of their volumes. Empty: no such conflict.
std::vector<std::string> conflictingClaims(const Storage& storage, const PodClass& cls,
                                           const NodeTable& table);
// The smallest free volume that satisfies the claim on that node and is not `taken`; nullptr when
// there is none.
std::shared_ptr<const api::PersistentVolume> findStatic(
    const Storage& storage, const std::string& key, const api::PersistentVolumeClaim& claim,
    const api::Node& node, const std::set<std::string, std::less<>>& taken = {});
enum class Provision : uint8_t { kYes, kNotHere, kNoRoom };
Provision canProvision(const Storage& storage, const api::PersistentVolumeClaim& claim,
                       const api::Node& node);

// What every claim that is not bound yet would get on the node: the smallest wish chooses first,
// and no volume serves two claims.
struct OpenClaims {
  struct Match {
    std::string claim;                                    // ns/name
    std::shared_ptr<const api::PersistentVolume> volume;  // nullptr: provisioned there
  };
  std::vector<Match> matches;
  Provision answer = Provision::kYes;
};
OpenClaims matchOpenClaims(const Storage& storage, const std::vector<std::string>& claims,
                           const api::Node& node);

// Attachable volumes of a pod: (driver, handle), each once.
std::vector<std::pair<std::string, std::string>> csiVolumes(const Storage& storage,
                                                            const PodClass& cls);

}  // namespace mangrove::placement
