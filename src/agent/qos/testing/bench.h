#pragma once
// A small machine with both halves of the agent: eight CPUs, cgroup v1 by files, a service and a
// batch pod whose usage the test sets.
//
//   EnforceBench bench;
//   bench.slo(R"("resourceUsedThresholdWithBE":{"enable":true})");
//   bench.use(6, 4, 2);  bench.start();  bench.seconds(3);
//   bench.read("cpu", bench.kBe, "cpu.cfs_quota_us")
//
// For tests.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "agent/qos/enforcer.h"
#include "agent/testing/scene.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent::testing {

class EnforceBench {
 public:
  static const std::string kBe, kLs, kBePod, kLsPod, kBeContainer, kLsContainer;

  explicit EnforceBench(std::vector<std::unique_ptr<Strategy>> strategies = {});

  // The spec of the NodeSLO, members only; before start() or while running.
  void slo(const std::string& members);
  void pod(const std::string& name, const std::string& uid, const std::string& qos,
           const std::string& kubeQos, const std::string& annotations = "{}",
           const std::string& resources = "{}", const std::string& labels = "");
  void node(const std::string& labels, const std::string& annotations = "{}");
  void topology(const std::string& annotations);

  // Cores used by the machine, the service and the batch pod, from now on.
  void use(double node, double service, double batch) { rates_ = {node, service, batch}; }
  void throttle(double share) { throttled_ = share; }
  void start();
  void seconds(int count);

  std::string read(const std::string& controller, const std::string& cgroup,
                   const std::string& file) const;
  void write(const std::string& controller, const std::string& cgroup, const std::string& file,
             const std::string& text);
  bool gate(const std::string& setting) { return gates.set(setting).has_value(); }

  kernel::FakeRoot fs;
  FeatureGates gates;
  AuditLog audit;
  Scene scene;
  std::unique_ptr<Enforcer> enforcer;
  ApplyReport last;
  std::vector<Ousting> evicted;
  bool refuse = false;  // evictions: the budget is spent

 private:
  void makeMachine();
  void advance();
  void say(const std::string& kind, const std::string& json);
  int nextVersion() { return version_++; }

  std::vector<std::unique_ptr<Strategy>> strategies_;
  std::array<double, 3> rates_{}, totals_{100, 40, 20};
  double throttled_ = 0, periods_ = 0, throttles_ = 0;
  int version_ = 20;
  bool running_ = false;
  bool hasSlo_ = false, hasNode_ = false;
};

}  // namespace mangrove::agent::testing
