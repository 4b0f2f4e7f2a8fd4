#pragma once
// Batch work under control, for benchmarks: the agent's own suppression formulas once a second and,
// for Mangrove's profile, the sentinel beside them; without an API server in between.
//
//   GovernedBatch governed(pods, BatchProfile::kMangrove);    // until it goes out of scope

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/bench/pod_cgroups.h"
#include "agent/pressure/sentinel.h"
#include "agent/qos/cpu_suppress/damper.h"

namespace mangrove::agent {

enum class BatchProfile {
  kMangrove,   // quota of 95 % while services wait, the group in the idle class: as in `up`
  kKubelet,    // the same with the idle class on pods only
  kReference,  // cpuset, 65 %
};

class GovernedBatch {
 public:
  GovernedBatch(const PodCgroups& pods, BatchProfile profile);
  ~GovernedBatch();

 private:
  void run();
  void tick();
  void byQuota(MilliCpu budget, MonoTime now);
  void byCpuset(MilliCpu budget);
  double used(const std::string& cgroup) const;  // CPU seconds
  double machineUsed() const;
  std::string file(std::string_view resource, const std::string& cgroup) const;
  SentinelOrders orders() const;

  struct Seen {
    MonoTime at = MonoTime::min();
    double machine = 0, pods = 0, services = 0;
  };
  const PodCgroups& pods_;
  BatchProfile profile_;
  int64_t cpus_;
  kernel::SysRoot root_;
  Damper damper_;
  Seen seen_;
  std::unique_ptr<Sentinel> sentinel_;
  std::mutex mutex_;
  std::condition_variable bell_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mangrove::agent
