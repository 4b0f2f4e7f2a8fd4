#pragma once
// The pods' part of the cgroup tree, kept up to date: which pods and containers have a cgroup. It
// is listed once and then followed by inotify, with a full look every ten seconds in case something
// was missed. Names come from the directories; who they belong to, from the PodBook.
//
//   CgroupMirror mirror(machine, reader);
//   mirror.refresh(clock.mono(), {.onPodGone = …});
//   for (MirroredPod& pod : mirror.pods()) pod.meter.sample(…);
//
// One owner, no locks.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/cgroup_meter.h"
#include "agent/collect/pod_book.h"
#include "agent/series/shelf.h"
#include "kernel/dir_watch.h"

namespace mangrove::agent {

struct MirroredContainer {
  std::string id;  // without the runtime in front
  CgroupMeter meter;
  uint64_t serial = 0;  // no other pod or container ever has it
  std::optional<Shelf::Id> track = {};
  // When memory was read last, counted in slots.
  uint64_t memorySlot = 0;
  // From the pod's status; empty for a sandbox or while the status does not name it yet.
  std::string name = {};
  std::string fullId = {};  // "containerd://…"
};

struct MirroredPod {
  std::string id;  // as in the directory's name
  kernel::PodTier tier;
  CgroupMeter meter;
  uint64_t serial = 0;
  std::vector<MirroredContainer> containers = {};
  PodPtr pod = nullptr;  // null: no API object seen (yet)
  PodSaidPtr said = nullptr;
  std::optional<Shelf::Id> track = {};
  std::string subject = {};  // in the history: the id with "-"
  MonoTime since{};          // when we saw it first
  int watch = -1;
  bool listed = false;  // containers were listed and nothing changed since
};

class CgroupMirror {
 public:
  // Between full looks at all directories.
  static constexpr Duration kRescan = std::chrono::seconds(10);

  explicit CgroupMirror(const Machine& machine) : machine_(machine) {}

  struct Changes {
    size_t podsAdded = 0, podsGone = 0;
    size_t containersAdded = 0, containersGone = 0;
    bool any() const { return podsAdded + podsGone + containersAdded + containersGone > 0; }
  };
  // Follows what happened since the last call. `gone` is told of each pod and container that left.
  using GoneFn = std::function<void(const MirroredPod&, const MirroredContainer*)>;
  Changes refresh(MonoTime now, const GoneFn& gone);
  // Names pods and containers; cheap when the book did not change and nothing was added.
  void name(const PodBook& book);
  // After the layout of the tree became known or changed.
  void restart();

  std::vector<std::unique_ptr<MirroredPod>>& pods() { return pods_; }
  const std::vector<std::unique_ptr<MirroredPod>>& pods() const { return pods_; }
  uint64_t overflows() const { return overflows_; }

 private:
  struct Tier {
    kernel::PodTier tier;
    std::string cgroup;
    int watch = -1;
    bool listed = false;
  };
  void makeTiers();
  void noteEvents();
  void listTier(Tier& tier, Changes& changes, const GoneFn& gone, MonoTime now);
  void listPod(MirroredPod& pod, Changes& changes, const GoneFn& gone);
  void addPod(const Tier& tier, const std::string& name, const std::string& id, MonoTime now);
  void forget(size_t index, Changes& changes, const GoneFn& gone);
  std::string treePath(std::string_view cgroup) const;

  const Machine& machine_;
  kernel::DirWatch watch_;
  std::vector<Tier> tiers_;
  std::vector<std::unique_ptr<MirroredPod>> pods_;
  std::map<int, MirroredPod*> podOfWatch_;
  MonoTime lastFull_ = MonoTime::min();
  uint64_t namedVersion_ = ~uint64_t{0};
  bool unnamed_ = false;
  uint64_t overflows_ = 0;
  uint64_t serial_ = 0;
};

}  // namespace mangrove::agent
