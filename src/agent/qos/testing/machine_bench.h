#pragma once
// A captured machine of test/machines with both halves of the agent on it, whose pods come, go and
// use what the test says.
//
//   MachineBench bench(sourceDir + "/test/machines/v2-2socket-smt");
//   bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true})");
//   bench.pod({.name = "web", .tier = "burstable", .qos = "LS"});
//   bench.start();  bench.use("web", 4);  bench.seconds(2);
//   bench.writes()                                   // lines, one per write since the last call
//
// For tests and conversation scripts.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/qos/enforcer.h"
#include "agent/testing/scene.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent::testing {

struct SimPod {
  std::string name;
  std::string tier = "burstable";  // guaranteed, burstable, besteffort
  std::string qos = "";            // label; "": none
  std::string resources = "{}";
  std::string annotations = "{}";
  std::string labels = "";  // further members: ,"a":"b"
  int64_t priority = 5500;
};

class MachineBench {
 public:
  explicit MachineBench(const std::string& machineDir,
                        std::vector<std::unique_ptr<Strategy>> strategies = {});

  void slo(const std::string& members);
  void node(const std::string& labels = "{}", const std::string& annotations = "{}");
  void topology(const std::string& annotations);
  // Makes its cgroups the first time; later calls change the object.
  void pod(const SimPod& pod);
  void remove(const std::string& name);
  void use(const std::string& name, double cores) { at(name).cores = cores; }
  void hold(const std::string& name, int64_t bytes) { at(name).memory = bytes; }
  void systemUses(double cores) { system_ = cores; }
  // So much of the quota's periods its container is out of CPU time.
  void throttle(const std::string& name, double share) { at(name).throttled = share; }
  // From now on CPUs are counted one by one, and with them NUMA nodes: usage is spread over the
  // CPUs that a container may use.
  void countEachCpu() { eachCpu_ = true; }
  bool gate(const std::string& setting) { return gates.set(setting).has_value(); }
  void threads(const std::string& name, const std::string& ids);  // of its container

  void start();
  void seconds(int count);
  void killAndRestart();
  void leave() { enforcer->leave("test"); }
  // Oldest first, with times in seconds since the start and names instead of cgroups.
  std::vector<std::string> writes();

  // "BE", a pod's name, "<name>/c" its container, else a cgroup; the file by its v1 name.
  std::string read(const std::string& where, const std::string& resource) const;
  void write(const std::string& where, const std::string& resource, const std::string& text);
  std::string cgroupOf(const std::string& where) const;

  kernel::FakeRoot fs;
  FeatureGates gates;
  AuditLog audit;
  std::unique_ptr<Scene> scene;
  std::unique_ptr<Enforcer> enforcer;
  DeedTools tools;
  EnforcerOptions options;  // before start()
  std::vector<Ousting> evicted;
  bool refuse = false;  // evictions: the budget is spent
  ApplyReport last;

 private:
  struct Sim {
    SimPod spec;
    std::string uid;
    double cores = 0, total = 10;
    int64_t memory = 0;
    double throttled = 0, throttles = 0;
  };
  Sim& at(const std::string& name);
  std::string pathOf(const std::string& where, const std::string& resource) const;
  void addControls(const std::string& cgroup);
  void make(const Sim& sim);
  void advance();
  void count(const std::string& cgroup, double seconds, int64_t memory, double throttles = 0);
  std::string eachCpu();
  void say(const std::string& kind, const std::string& json);
  void join();
  std::string shortName(const std::string& cgroup) const;

  kernel::CgroupLayout layout_{kernel::CgroupDriver::kSystemd};
  std::unique_ptr<kernel::Hierarchies> trees_;
  std::vector<std::unique_ptr<Strategy>> strategies_;
  std::map<std::string, Sim> pods_;
  double system_ = 0, total_ = 100, periods_ = 0;
  CpuSet online_;
  std::map<int, double> perCpu_;  // seconds
  bool eachCpu_ = false;
  int64_t cpus_ = 0, memory_ = 0;
  int version_ = 20, next_ = 10;
  uint64_t told_ = 0;
  bool running_ = false, hasNode_ = false;
  WallTime began_{};
};

}  // namespace mangrove::agent::testing
