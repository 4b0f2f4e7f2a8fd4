#include "yarn/plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/number/elapsed.h"

namespace mangrove::yarn {
namespace {

Share operator+(const Share& a, const Share& b) {
  return {MilliCpu{a.cpu.v + b.cpu.v}, Bytes{a.memory.v + b.memory.v}};
}

// What best-effort pods have asked for: by node, and of those that wait. NodeManagers are bounded by
// their capacity, not by what they ask for.
struct Asked {
  std::map<std::string_view, Share> on;
  Share waiting;
};
Asked askedBy(const Pods& pods) {
  Asked out;
  for (const auto& [key, pod] : pods) {
    if (pod->isManager) continue;
    Share& sum = pod->node.empty() ? out.waiting : out.on[pod->node];
    sum = sum + pod->asks;
  }
  return out;
}

class Round {
 public:
  explicit Round(const RoundInputs& in) : in_(in), asked_(askedBy(in.pods)) {
    for (const RmNode& one : in.yarn) known_.emplace(one.id, &one);
    for (const auto& [key, pod] : in.pods) {
      if (!isOurs(*pod)) continue;
      managers_.emplace_back(key, pod.get());
      if (const YarnNode* node = nodeOf(*pod)) soldToYarn_ = soldToYarn_ + node->sold;
    }
  }

  RoundPlan plan() {
    for (const auto& [key, pod] : managers_) look(key, *pod);
    nameForeigners();
    return std::move(out_);
  }

 private:
  bool isOurs(const YarnPod& pod) const {
    return pod.isManager && !pod.node.empty() &&
           (in_.options.cluster.empty() || pod.cluster == in_.options.cluster);
  }
  const YarnNode* nodeOf(const YarnPod& pod) const {
    const auto found = in_.nodes.find(pod.node);
    return found == in_.nodes.end() ? nullptr : found->second.get();
  }
  void find(std::string_view pod, std::string_view reason, std::string text) {
    out_.findings.push_back({std::string(pod), std::string(reason), std::move(text)});
  }

  void look(const std::string& key, const YarnPod& pod);
  const RmNode* registered(const std::string& key, const YarnPod& pod);
  void serve(const std::string& key, const YarnPod& pod, const YarnNode& node, const RmNode& yarn);
  Share waitingFor(const YarnNode& node) const;
  void nameForeigners();

  const RoundInputs& in_;
  const Asked asked_;
  Share soldToYarn_;
  std::map<std::string, const RmNode*, std::less<>> known_;
  std::vector<std::pair<std::string, const YarnPod*>> managers_;
  std::set<std::string, std::less<>> seen_;  // node ids that pods claim
  RoundPlan out_;
};

void Round::look(const std::string& key, const YarnPod& pod) {
  if (pod.nodeId.empty())
    return find(key, finding::kUnnamed,
                fmt::format("annotation {} is missing: say how the ResourceManager calls this "
                            "NodeManager, HOST:PORT",
                            api::annotation::kYarnNodeId));
  if (!seen_.insert(pod.nodeId).second)
    return find(key, finding::kTwice,
                fmt::format("another pod is NodeManager '{}' already", pod.nodeId));
  if (!pod.isBestEffort)
    find(key, finding::kNotBestEffort,
         "label koordinator.sh/qosClass is not BE: containers run outside of the best-effort "
         "group, and nothing bounds them");
  const YarnNode* node = nodeOf(pod);
  const RmNode* yarn = registered(key, pod);
  if (node == nullptr || yarn == nullptr) return;
  if (!node->trouble.empty())
    return find(key, finding::kUnreadable, fmt::format("node {}: {}", pod.node, node->trouble));
  serve(key, pod, *node, *yarn);
}

const RmNode* Round::registered(const std::string& key, const YarnPod& pod) {
  const auto found = known_.find(pod.nodeId);
  if (found == known_.end()) {
    if (pod.isRunning && elapsed(pod.started, in_.wall) > kMayRegister)
      find(key, finding::kMissing,
           fmt::format("the ResourceManager does not know '{}': wrong annotation {}, or the "
                       "NodeManager does not register",
                       pod.nodeId, api::annotation::kYarnNodeId));
    return nullptr;
  }
  if (found->second->state == "RUNNING") return found->second;
  if (pod.isRunning)
    find(key, finding::kNotRunning,
         fmt::format("the ResourceManager calls '{}' {}", pod.nodeId, found->second->state));
  return nullptr;
}

// Who waits waits for any node; each node answers for its part of what is for sale.
Share Round::waitingFor(const YarnNode& node) const {
  const auto part = [](int64_t waits, int64_t here, int64_t all) {
    if (all <= 0) return int64_t{0};
    return static_cast<int64_t>(static_cast<double>(waits) * static_cast<double>(here) /
                                static_cast<double>(all));
  };
  return {MilliCpu{part(asked_.waiting.cpu.v, node.sold.cpu.v, soldToYarn_.cpu.v)},
          Bytes{part(asked_.waiting.memory.v, node.sold.memory.v, soldToYarn_.memory.v)}};
}

Share shareOf(const Capacity& capacity, double vcoresPerCpu) {
  return {MilliCpu{static_cast<int64_t>(
              std::ceil(static_cast<double>(capacity.vcores) * 1000 / vcoresPerCpu))},
          kMiB * capacity.memoryMb};
}

void Round::serve(const std::string& key, const YarnPod& pod, const YarnNode& node,
                  const RmNode& yarn) {
  const CapacityOptions& options = in_.options.capacity;
  const auto taken = asked_.on.find(pod.node);
  Capacity wanted = capacityOf(
      {node.sold, taken == asked_.on.end() ? Share{} : taken->second, waitingFor(node)}, options);
  // Nothing new may start: what runs is all there is.
  if (node.isClosed)
    wanted = {std::min(wanted.vcores, yarn.used.vcores),
              std::min(wanted.memoryMb, yarn.used.memoryMb)};
  const auto before = in_.reports.find(yarn.id);
  const NodeReport report =
      observed(before == in_.reports.end() ? NodeReport{yarn.total, {}, {}} : before->second,
               yarn.total, yarn.used);
  out_.reports[yarn.id] = report;
  const auto step = nextStep(report, wanted, yarn.used, in_.now);
  if (step) out_.updates.push_back({yarn.id, pod.node, *step, yarn.total});
  const Capacity told = step ? step->to : yarn.total;
  out_.standings.push_back({yarn.id, pod.node, key, wanted, told, yarn.used});
  Capacity written = told;
  if (options.vcoresPerCpu != 1) written.vcoresPerCpu = options.vcoresPerCpu;
  if (const std::string text = api::annotationText(written); text != pod.capacity)
    out_.pods.push_back({key, text});
  const Share used = shareOf(yarn.used, options.vcoresPerCpu);
  if (allocatedTo(node.thirdParties, api::kHadoopYarn) != used)
    out_.nodes.push_back({pod.node, thirdPartiesWith(node.thirdParties, used)});
}

// NodeManagers that no pod claims: on machines of their own they are fine, on ours they would use
// what is sold to others.
void Round::nameForeigners() {
  for (const auto& [id, node] : known_)
    if (node->state == "RUNNING" && !seen_.contains(id))
      find(
          "", finding::kForeign,
          fmt::format("NodeManager '{}' belongs to no pod with label {}={} and annotation {}; its "
                      "capacity is left alone",
                      id, api::label::kComponent, api::kNodeManager, api::annotation::kYarnNodeId));
}

}  // namespace

RoundPlan planRound(const RoundInputs& in) {
  return Round(in).plan();
}

}  // namespace mangrove::yarn
