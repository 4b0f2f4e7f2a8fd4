#pragma once
// The product's scheduler in a simulated cluster: the engine behind its one ingress, and a server
// that accepts every binding at once. One owner.
//
//   Placer placer(policy, start);
//   placer.configure();  placer.addNode(node);  placer.addPod(pod);
//   for (Placed& one : placer.schedule()) …         // who goes where

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "placement/engine/engine.h"
#include "placement/engine/ingress.h"
#include "sim/policy.h"
#include "sim/trace.h"

namespace mangrove::sim {

struct Placed {
  std::shared_ptr<const api::Pod> pod;  // with its node
  std::string node;
};

class Placer final : private placement::Effects {
 public:
  using PodPtr = std::shared_ptr<const api::Pod>;
  using NodePtr = std::shared_ptr<const api::Node>;

  Placer(const Policy& policy, WallTime start, uint64_t seed);
  Result<> configure();

  void moveTo(WallTime now);
  void node(const NodePtr& before, const NodePtr& after) { ingress_.node(before, after); }
  void pod(const PodPtr& before, const PodPtr& after) { ingress_.pod(before, after); }
  void metric(std::string_view node, const std::shared_ptr<const api::NodeMetric>& metric) {
    ingress_.nodeMetric(node, metric);
  }
  // Everybody who is ready.
  std::vector<Placed> schedule();
  std::vector<PodPtr> takeVictims() { return std::exchange(victims_, {}); }
  placement::Engine& engine() { return engine_; }

 private:
  void bind(const placement::PodInfo& pod, std::string_view node, const placement::BindNotes& notes,
            Done done) override;
  void scheduled(const api::Pod&, std::string_view, std::string_view) override {}
  void failed(const api::Pod&, const placement::PodFailure&, std::string_view) override {}
  void preempt(const api::Pod& victim, const api::Pod&, std::string_view, std::string_view,
               Done done) override;
  void clearNomination(const api::Pod&) override {}

  struct Binding {
    PodPtr before, after;
    Done done;
  };
  const Policy& policy_;
  VirtualClock clock_;
  Registry registry_;
  placement::Engine engine_;
  placement::Ingress ingress_;
  std::vector<Binding> pending_;
  std::vector<PodPtr> victims_;
  std::vector<Done> victimsDone_;
};

// Objects as the server would have them.
std::shared_ptr<const api::Node> makeNode(std::string_view name, const NodeGroup& group);
struct PodWish {
  std::string name;
  size_t number = 0;
  bool isTask = false;
  MilliCpu cpu;
  Bytes memory;
  WallTime created{};
};
std::shared_ptr<const api::Pod> makePod(const PodWish& wish);

}  // namespace mangrove::sim
