#pragma once
// The observing tick: reads the machine once, writes the history, and makes a Look of it.
//
//   Collector collector(machine, clock, history, {.period = 1s});
//   collector.setSlo(spec);
//   const Look& look = collector.tick(book);
//
// Owner thread only. A tick never fails: what cannot be read is absent from the Look and counted
// in stats().

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/collect/best_effort.h"
#include "agent/collect/cgroup_mirror.h"
#include "agent/collect/cpi.h"
#include "agent/collect/io_meter.h"
#include "agent/collect/node_meter.h"
#include "agent/collect/reader.h"
#include "agent/collect/yarn_meter.h"
#include "agent/look.h"
#include "agent/series/history.h"

namespace mangrove::agent {

struct CollectorOptions {
  Duration period = std::chrono::seconds(1);
  ReaderOptions reader = {};
  // Container memory is read every so many slots, spread over the containers: memory.stat is the
  // dearest file of all, and the pod's is read every time.
  uint32_t containerMemoryEvery = 5;
  bool pressure = false;  // per pod and container; the node's is always read
  Duration pressureInterval = std::chrono::seconds(10);
  bool coldPages = false;
  Duration coldInterval = std::chrono::seconds(5);
  bool storage = false;  // disks, volumes and mounts, with the machine's interval
  bool gpus = false;     // by NVIDIA's library
  bool resctrl = false;
  Duration resctrlInterval = std::chrono::seconds(10);
  bool yarn = false;  // processes of YARN's containers, inside the pods of NodeManagers
  Duration yarnInterval = std::chrono::seconds(10);
  bool cpi = false;
  Duration cpiInterval = std::chrono::seconds(60);
  Duration cpiWindow = std::chrono::seconds(10);
  Duration machineInterval = std::chrono::seconds(60);  // CPUs are looked at again
  Duration numaInterval = std::chrono::seconds(10);     // pods' memory per NUMA node
  Duration ioInterval = std::chrono::seconds(10);       // disks and interfaces
};

struct CollectorStats {
  uint64_t ticks = 0;
  uint64_t slots = 0;  // ticks that went into the history
  MeterTroubles troubles;
  ReaderStats reader;
  size_t openFiles = 0;
  size_t pods = 0, containers = 0;
  uint64_t podsSeen = 0, podsGone = 0;
  uint64_t watchOverflows = 0;
  uint64_t machineFailures = 0;  // CPUs could not be read again
  uint64_t machineReads = 0;
  uint64_t storageReads = 0, storageFailures = 0;
};

class Collector {
 public:
  Collector(Machine& machine, Clock& clock, History& history, CollectorOptions options);

  const Look& tick(const PodBook& book);
  const Look& look() const { return look_; }
  // nullptr: no NodeSLO; host applications are then none.
  void setSlo(std::shared_ptr<const api::NodeSlo> slo);
  void useClaims(const ClaimVolumes* claims) { look_.claims = claims; }
  // What host applications are charged with their page cache counts for the system's rest, as the
  // NodeMetric's policy says.
  void countAppsWithCache(bool yes) { appsWithCache_ = yes; }
  // Containers whose counters are read at every tick (ContainerLook::lately), where there are any.
  void watchCounters(std::set<std::string, std::less<>> ids) { cpi_.watch(std::move(ids)); }
  CollectorStats stats() const;
  const CollectorOptions& options() const { return options_; }

 private:
  // True once per `every`, counted from the start.
  struct Every {
    MonoTime next = MonoTime::min();
    bool due(MonoTime now, Duration every);
  };
  struct HostApp {
    api::HostApplication spec;
    CgroupMeter meter;
    bool insidePods = false;
    Shelf::Id track = 0;
  };

  void refreshMachine(MonoTime now);
  bool isWithinPods(std::string_view dir) const;
  static std::vector<CgroupMeter> podRoots(const Machine& machine);
  std::optional<kernel::NumaStat> podsNumaStat(const std::string& cgroup);
  void followCgroups(const PodBook& book, MonoTime now);
  void readNode(bool slot);
  void readPods(bool slot);
  void readPod(MirroredPod& pod, bool slot, PodLook& out);
  void readContainers(MirroredPod& pod, bool slot, std::vector<ContainerLook>& out);
  void readHostApps(bool slot);
  void readSystem();
  void readNumaSystem();
  void readYarn();
  void readResctrl();
  void readPodResctrl();
  void readStorage();
  void readGpuUse();
  Usage usageOf(const CgroupSample& sample);
  void remember();
  void rememberPods();
  void rememberGroups();
  void nameSubject(MirroredPod& pod);

  Machine& machine_;
  Clock& clock_;
  History& history_;
  CollectorOptions options_;
  Reader reader_;
  NodeMeter node_;
  IoMeter io_;
  CgroupMirror mirror_;
  std::vector<CgroupMeter> allPods_;  // the directories below which all pods are
  BestEffortMeter bestEffort_;
  CpiMeter cpi_;
  CgroupMeter root_;  // for the machine's cold pages
  std::vector<HostApp> hostApps_;
  struct ResctrlGroup {
    std::string name;
    std::optional<kernel::ResctrlMonitor> monitor;
  };
  std::vector<ResctrlGroup> resctrlGroups_;
  std::vector<ResctrlLook> resctrl_;
  std::map<std::string, kernel::ResctrlMonitor> podMonitors_;  // by group
  std::vector<PodResctrlLook> podResctrl_;
  std::shared_ptr<const api::NodeSlo> slo_;

  Look look_;
  std::vector<PodLook> podLooks_;
  std::vector<std::vector<ContainerLook>> containerLooks_;
  std::vector<HostAppLook> appLooks_;
  std::vector<double> slotCpu_;     // of podLooks_, for the history
  std::vector<double> appSlotCpu_;  // of appLooks_
  std::optional<double> podsSlotCpu_;
  std::vector<std::optional<Bytes>> podsNuma_;
  struct YarnPod {
    YarnMeter meter;
    std::vector<api::YarnUse> uses;
  };
  std::map<uint64_t, YarnPod> yarn_;  // by the pod's serial
  Every yarnDue_;
  Every machineDue_, pressureDue_, coldDue_, resctrlDue_, numaDue_, ioDue_;
  bool pressureNow_ = false, coldNow_ = false;
  std::optional<Bytes> cold_;
  kernel::BlockDevices blocks_;
  bool layoutKnown_ = false;
  bool appsWithCache_ = false;
  std::string machineTrouble_;  // said once
  CollectorStats stats_;
};

}  // namespace mangrove::agent
