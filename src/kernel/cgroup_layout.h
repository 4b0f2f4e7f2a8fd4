#pragma once
// Where pods and containers are in the cgroup tree, in the two layouts that kubelets use, and back
// from a directory's name to what it belongs to.
//
//   CgroupLayout layout(CgroupDriver::kSystemd);
//   layout.podDir(PodTier::kBurstable, uid)          // kubepods.slice/kubepods-burstable.slice/…
//   layout.containerDir(pod, "containerd://abc")     // …/cri-containerd-abc.scope
//   layout.podOf("kubepods-burstable-pod12_34.slice")  // "12_34": systemd has no "-" in names
//
// Paths are relative to the root of a hierarchy, without a leading slash. A value; pure functions,
// any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::kernel {

enum class CgroupDriver : uint8_t { kSystemd, kCgroupfs };
std::string_view driverName(CgroupDriver driver);  // "systemd", "cgroupfs"

// The three branches under which kubelets put pods.
enum class PodTier : uint8_t { kGuaranteed, kBurstable, kBestEffort };

// Where best-effort pods are. Weights and the idle class decide between neighbours only: inside of
// kubepods best-effort work is behind other pods, beside it behind everything on the machine. A
// kubelet knows the first alone; who makes the tree himself may choose.
enum class BestEffortPlace : uint8_t { kInside, kBeside };

class CgroupLayout {
 public:
  // Beside is a place of the cgroupfs driver only: slices of systemd nest by their names.
  explicit CgroupLayout(CgroupDriver driver, BestEffortPlace bestEffort = BestEffortPlace::kInside)
      : driver_(driver),
        bestEffort_(driver == CgroupDriver::kCgroupfs ? bestEffort : BestEffortPlace::kInside) {}
  CgroupDriver driver() const { return driver_; }
  BestEffortPlace bestEffort() const { return bestEffort_; }

  // The directories below which all pods are: one, or two where best-effort pods are beside.
  std::vector<std::string> roots() const;
  std::string root() const {
    return tierDir(PodTier::kGuaranteed);
  }  // of all pods but those beside
  std::string tierDir(PodTier tier) const;
  std::string podDir(PodTier tier, std::string_view uid) const;
  // `id` as Kubernetes writes it: "<runtime>://<id>". An unknown runtime is an error.
  Result<std::string> containerDir(std::string_view podDir, std::string_view id) const;

  // From the last part of a path. Pod ids come as they are in the name: with "_" for "-" under
  // systemd; samePod compares. Names of something else are errors.
  Result<std::string> podOf(std::string_view name) const;
  Result<std::string> containerOf(std::string_view name) const;
  // The same for readers of a live tree, where pouch's names count as well.
  Result<std::string> anyContainerOf(std::string_view name) const;

 private:
  CgroupDriver driver_;
  BestEffortPlace bestEffort_;
};

// The sandbox among the directories of a pod: the only one that is no known container. `known` are
// container ids without the runtime in front. Of CRI-O's names only those without ".scope" are
// sandboxes. An error when there is none or more than one; "" when no container is known yet. The
// answer has the runtime in front where the name tells it: "containerd://<id>".
Result<std::string> sandboxOf(const CgroupLayout& layout, std::span<const std::string> names,
                              std::span<const std::string> known);

// True when a directory's pod id and a pod's uid are the same but for "-" and "_".
bool samePod(std::string_view idOfDir, std::string_view uid);

// Joins parts of a path and cleans it: no empty parts, no leading or trailing slash, "." and ".."
// resolved within.
std::string joinPath(std::initializer_list<std::string_view> parts);

}  // namespace mangrove::kernel
