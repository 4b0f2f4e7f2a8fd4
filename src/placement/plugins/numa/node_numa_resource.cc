#include "placement/plugins/numa/node_numa_resource.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/cpu.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "placement/framework/args.h"
#include "placement/plugins/numa/align.h"
#include "placement/plugins/numa/handover.h"
#include "placement/plugins/numa/numa_page.h"

namespace mangrove::placement {

namespace {

api::ResourceStatus statusOf(const NumaAllocation& allocation) {
  api::ResourceStatus out;
  out.cpuset = allocation.cpus.text();
  for (const auto& [node, amounts] : allocation.perNode) {
    api::NumaNodeResource part;
    part.node = node;
    for (const auto& [name, amount] : amounts) part.resources.set(name, numaQuantity(name, amount));
    out.numaNodeResources.push_back(std::move(part));
  }
  return out;
}

class NodeNumaResource final : public Plugin,
                               public NodeLocal,
                               public Transactional,
                               public NumaChoices,
                               public Reservable,
                               public ClusterListener {
 public:
  NodeNumaResource(Cluster& cluster, NumaArgs args) : cluster_(cluster), args_(std::move(args)) {}
  std::string_view name() const override { return "NodeNUMAResource"; }
  NodeLocal* nodeLocal() override { return this; }
  Transactional* transactional() override { return this; }
  Reservable* reservable() override { return this; }
  ClusterListener* listener() override { return this; }
  NumaChoices* numaChoices() override { return this; }
  void meet(const std::vector<Plugin*>& all) override {
    for (Plugin* plugin : all)
      if (auto* source = plugin->numaHintSource()) sources_.push_back(source);
  }
  std::optional<NumaMask> chosen(const api::Uid& pod) const override {
    const auto at = masks_.find(pod);
    return at == masks_.end() ? std::nullopt : std::optional(at->second);
  }

  // A Restricted reservation that holds CPUs or zones serves from these alone.
  bool fitsIn(const PodPlan& plan, Row row, const ReservationEntry& entry) override {
    const auto& mine = plan.get<NumaPlan>(slot());
    const NumaHolding* held = isPlain(mine, row) ? nullptr : at(row).find(entry.uid);
    if (!held || entry.room.policy != AllocatePolicy::kRestricted) return true;
    const OnlyThese limited(at(row), held->allocation);
    return judge(mine, plan, cluster_.table, row).code == Code::kFits;
  }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    return std::make_unique<NumaPlan>(compileNuma(cls, args_, cluster_.table.resources()));
  }

  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan& plan, const api::Pod&) override {
    const auto& mine = plan.get<NumaPlan>(slot());
    if (!mine.trouble.empty()) return PodVerdict::refuse(PodVerdict::Kind::kError, mine.trouble);
    if (mine.binds && mine.cpu % 1000 != 0)
      return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable,
                                "the requested CPUs must be integer");
    return {};
  }

  bool filters(const PodPlan& plan) const override { return !plan.cls->requests.all.empty(); }
  void fits(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    const auto& mine = plan.get<NumaPlan>(slot());
    for (size_t i = 0; i < rows.size(); i++) {
      if (isPlain(mine, rows[i])) continue;
      const NumaAnswer answer = judge(mine, plan, table, rows[i]);
      if (answer.code != Code::kFits) out[i] = {answer.code, 0, numberOf(answer.reason)};
    }
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    std::vector<std::string> out;
    for (auto part : split(texts_[why], '\n')) out.emplace_back(part);
    return out;
  }

  bool scores(const PodPlan& plan) const override { return !plan.cls->requests.all.empty(); }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    const auto& mine = plan.get<NumaPlan>(slot());
    for (size_t i = 0; i < rows.size(); i++)
      out[i] = static_cast<int32_t>(scoreOn(mine, plan, table, rows[i]));
  }

  uint32_t interests() const override {
    return bit(EventKind::kAssignedPodDelete) | bit(EventKind::kNodeTopology) |
           bit(EventKind::kDevice) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  // Only what the node concerned could now give.
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    const NumaPlan plan = compileNuma(*pod.cls, args_, cluster_.table.resources());
    if (plan.binds && plan.cpu % 1000 != 0) return Hint::kSkip;  // no node can change that
    if (event.row == kNoRow) return Hint::kQueue;
    const NumaAnswer answer =
        judgeNuma(plan, nodeAt(event.row), cpuOf(cluster_.table, event.row), args_);
    return answer.code == Code::kFits ? Hint::kQueue : Hint::kSkip;
  }

  // ---- decisions
  Result<> reserve(const Decision& decision) override;
  void unreserve(const Decision& decision) override {
    at(decision.row).release(decision.pod->pod->meta.uid);
    forget(decision.pod->pod->meta.uid);
    cluster_.table.touch(decision.row);
  }
  Result<> preBind(const Decision& decision, BindNotes& notes) override;
  void bound(const Decision& decision) override { forget(decision.pod->pod->meta.uid); }

  // ---- what happens on nodes
  void podAdded(const PodInfo& pod, Row row, bool trial) override {
    const api::Uid& uid = pod.pod->meta.uid;
    if (trial) return at(row).resume(uid);
    if (at(row).find(uid)) return;
    if (auto holding = holdingOf(*pod.pod)) hold(uid, row, std::move(*holding));
  }
  void standInChanged(const PodInfo& standIn) override {
    const ReservationPtr entry = cluster_.reservations.find(standIn.pod->meta.uid);
    if (entry && entry->place != kNoRow) reshare(at(entry->place), *entry);
  }
  void podRemoved(const PodInfo& pod, Row row, bool trial) override {
    trial ? at(row).suspend(pod.pod->meta.uid) : at(row).release(pod.pod->meta.uid);
  }
  void podUpdated(const PodInfo& pod, Row row) override {
    if (at(row).find(pod.pod->meta.uid)) return;
    podAdded(pod, row, false);
    if (at(row).find(pod.pod->meta.uid)) cluster_.table.touch(row);
  }
  void nodeChanged(Row row) override { rebuild(row); }
  void nodeGone(Row row) override { at(row) = NumaNode(); }
  void topologyChanged(Row row) override {
    rebuild(row);
    cluster_.table.touch(row);
  }

  std::optional<json::Value> serve(std::string_view path) override {
    constexpr std::string_view kNodes = "nodes/";
    if (!path.starts_with(kNodes)) return std::nullopt;
    const std::string_view name = path.substr(kNodes.size());
    const Row row = cluster_.table.find(name);
    if (row == kNoRow) return std::nullopt;
    return numaPage(name, nodeAt(row));
  }

 private:
  NumaNode& at(Row row) {
    if (row >= nodes_.size()) nodes_.resize(row + 1);
    return nodes_[row];
  }
  void rebuild(Row row) {
    const auto topology = cluster_.topologies.find(cluster_.table.info(row).name.view());
    at(row).rebuild(&cluster_.table.node(row), topology.get(), args_.numaScorer.mostAllocated);
  }
  // What an owner gets comes out of what its reservation holds.
  void hold(const api::Uid& uid, Row row, NumaHolding holding) {
    const ReservationPtr own = cluster_.reservations.find(uid);
    own ? at(row).holdWhole(uid, std::move(holding)) : at(row).hold(uid, std::move(holding));
    const ReservationPtr entry = own ? own : cluster_.reservations.ofOwner(uid);
    if (entry) reshare(at(row), *entry);
  }
  Result<NumaAnswer> giveFrom(const ReservationPtr& entry, const PodPlan& plan, Row row,
                              NumaOutcome& out);
  Result<NumaAnswer> give(const PodPlan& plan, Row row, const CpuSet& preferred, NumaOutcome& out);
  // Neither the pod nor the node wants anything that this plugin does.
  bool isPlain(const NumaPlan& pod, Row row) const {
    if (pod.designated) return false;
    if (row >= nodes_.size()) return !pod.binds && pod.policy == NumaPolicy::kNone;
    const NumaNode& node = nodes_[row];
    return !pod.binds && pod.policy == NumaPolicy::kNone && node.policy() == NumaPolicy::kNone &&
           node.bindPolicy() == api::NodeCpuBindPolicy::kNone && node.ratio() <= 1 &&
           !node.hasBadRatio();
  }
  const NumaNode& nodeAt(Row row) const {
    static const NumaNode kUnknown;
    return row < nodes_.size() ? nodes_[row] : kUnknown;
  }
  static NodeCpu cpuOf(const NodeTable& table, Row row) {
    return {table.allocatable(kCpuId)[row], table.requested(kCpuId)[row]};
  }
  NumaAnswer judge(const NumaPlan& pod, const PodPlan& plan, const NodeTable& table,
                   Row row) const {
    return judgeNuma(pod, nodeAt(row), cpuOf(table, row), args_, hintsOfOthers(pod, plan, row));
  }
  // Nothing where no policy asks: nobody is made to think about NUMA nodes in vain.
  OtherHints hintsOfOthers(const NumaPlan& pod, const PodPlan& plan, Row row) const {
    OtherHints out;
    const NumaNode& node = nodeAt(row);
    if (sources_.empty() || policyFor(pod, node) == NumaPolicy::kNone) return out;
    const std::vector<int> nodes = node.nodes();
    for (const NumaHintSource* source : sources_)
      if (HintMap hints = source->numaHints(plan, row, nodes); !hints.empty())
        out.push_back(std::move(hints));
    return out;
  }
  void forget(const api::Uid& pod) {
    written_.erase(pod);
    masks_.erase(pod);
  }
  uint32_t numberOf(const std::string& text) const {
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    const auto number = static_cast<uint32_t>(found - texts_.begin());
    if (found == texts_.end()) texts_.push_back(text);
    return number;
  }
  int64_t scoreOn(const NumaPlan& mine, const PodPlan& plan, const NodeTable& table, Row row) const;
  int64_t scoreNode(const NumaPlan& mine, const PodPlan& plan, const NodeTable& table, Row row,
                    bool binds) const;
  int64_t scoreZones(const NumaPlan& mine, const NumaNode& node, const NumaAnswer& answer,
                     const OtherHints& others) const;

  Cluster& cluster_;
  NumaArgs args_;
  std::vector<NumaNode> nodes_;
  mutable std::vector<std::string> texts_;            // of refusals, by number
  std::unordered_map<api::Uid, NumaAnswer> written_;  // how pods on their way are served
  std::unordered_map<api::Uid, NumaMask> masks_;      // of those that a policy aligned
  std::vector<const NumaHintSource*> sources_;
};

Result<> NodeNumaResource::reserve(const Decision& decision) {
  const NumaPlan& mine = decision.plan.get<NumaPlan>(slot());
  if (decision.plan.cls->requests.all.empty() || isPlain(mine, decision.row)) return {};
  const api::Uid& uid = decision.pod->pod->meta.uid;
  NumaOutcome got;
  const ReservationPtr entry = cluster_.reservations.ofOwner(uid);
  auto answer = entry ? giveFrom(entry, decision.plan, decision.row, got)
                      : give(decision.plan, decision.row, {}, got);
  if (!answer) return pass(answer.error());
  hold(uid, decision.row, {std::move(got.allocation), mine.exclusive});
  written_[uid] = std::move(*answer);
  if (got.mask && *got.mask != maskOf(at(decision.row).nodes())) masks_[uid] = *got.mask;
  cluster_.table.touch(decision.row);
  return {};
}

// Out of what the reservation holds where that suffices; otherwise, unless it is Restricted, that
// first and the rest from the node.
Result<NumaAnswer> NodeNumaResource::giveFrom(const ReservationPtr& entry, const PodPlan& plan,
                                              Row row, NumaOutcome& out) {
  NumaNode& node = at(row);
  const NumaHolding* found = node.find(entry->uid);
  if (!found) return give(plan, row, {}, out);
  const NumaAllocation held = found->allocation;
  node.suspend(entry->uid);
  auto answer = [&] {
    const OnlyThese limited(node, held);
    return give(plan, row, {}, out);
  }();
  if (!answer && entry->room.policy != AllocatePolicy::kRestricted)
    answer = give(plan, row, held.cpus, out);
  node.resume(entry->uid);
  return answer;
}

// The pod itself is counted on the node by now; its own request must not be in its way.
Result<NumaAnswer> NodeNumaResource::give(const PodPlan& plan, Row row, const CpuSet& preferred,
                                          NumaOutcome& out) {
  const NumaPlan& mine = plan.get<NumaPlan>(slot());
  const NodeCpu cpu{cluster_.table.allocatable(kCpuId)[row],
                    cluster_.table.requested(kCpuId)[row] - mine.cpu};
  const OtherHints others = hintsOfOthers(mine, plan, row);
  NumaAnswer answer = judgeNuma(mine, at(row), cpu, args_, others);
  if (answer.code != Code::kFits) return fail(mangrove::Code::kUnavailable, "{}", answer.reason);
  answer.wish.preferred = preferred;
  out = allocateNuma(mine, answer, at(row), args_, others);
  if (!out.ok()) return fail(mangrove::Code::kUnavailable, "{}", join(out.reasons, ", "));
  return answer;
}

Result<> NodeNumaResource::preBind(const Decision& decision, BindNotes& notes) {
  const api::Uid& uid = decision.pod->pod->meta.uid;
  const auto answer = written_.find(uid);
  const NumaHolding* holding = at(decision.row).find(uid);
  if (answer == written_.end() || !holding) return {};
  const NumaAllocation& got = holding->allocation;
  if (!got.cpus.empty() || !got.perNode.empty())
    notes.annotations.emplace_back(api::annotation::kResourceStatus,
                                   api::annotationText(statusOf(got)));
  if (!answer->second.binds) return {};
  const auto parsed = api::parseResourceSpec(decision.pod->pod->meta.annotations);
  api::ResourceSpec spec = parsed ? parsed->value_or(api::ResourceSpec()) : api::ResourceSpec();
  const api::ResourceSpec before = spec;
  const std::string actual(bindPolicyName(answer->second.wish.policy));
  const bool open =
      spec.requiredCpuBindPolicy.empty() || spec.requiredCpuBindPolicy == api::cpu_bind::kDefault;
  if (answer->second.wish.required && open)
    spec.requiredCpuBindPolicy = actual;
  else if (spec.preferredCpuBindPolicy == api::cpu_bind::kDefault ||
           (spec.requiredCpuBindPolicy.empty() && spec.preferredCpuBindPolicy.empty()))
    spec.preferredCpuBindPolicy = actual;
  if (!(spec == before))
    notes.annotations.emplace_back(api::annotation::kResourceSpec, api::annotationText(spec));
  return {};
}

int64_t NodeNumaResource::scoreOn(const NumaPlan& mine, const PodPlan& plan, const NodeTable& table,
                                  Row row) const {
  if (isPlain(mine, row)) return scoreNode(mine, plan, table, row, false);
  const NumaAnswer answer = judge(mine, plan, table, row);
  if (answer.code != Code::kFits) return 0;
  if (answer.policy == NumaPolicy::kNone) return scoreNode(mine, plan, table, row, answer.binds);
  return scoreZones(mine, nodeAt(row), answer, hintsOfOthers(mine, plan, row));
}

int64_t NodeNumaResource::scoreNode(const NumaPlan& mine, const PodPlan& plan,
                                    const NodeTable& table, Row row, bool binds) const {
  const NumaNode& node = nodeAt(row);
  WeightedMean mean(args_.scoring);
  for (const auto& [id, weight] : args_.scoring.resources) {
    int64_t ask = plan.cls->requests.amount(id);
    const int64_t have = table.allocatable(id)[row];
    if (have == 0 || (ask == 0 && id > kStorageId)) continue;
    int64_t used = table.requested(id)[row];
    if (id == kCpuId && mine.cpu > 0 && node.ratio() > 1) {
      const int64_t bound = node.boundCpu();
      used += amplified(bound, node.ratio()) - bound;
      if (binds) ask = amplified(ask, node.ratio());
    }
    mean.add(used + ask, have, weight);
  }
  return mean.value();
}

int64_t NodeNumaResource::scoreZones(const NumaPlan& mine, const NumaNode& node,
                                     const NumaAnswer& answer, const OtherHints& others) const {
  const NumaOutcome trial = allocateNuma(mine, answer, node, args_, others);
  if (!trial.ok()) return 0;
  std::vector<int> nodes = node.nodes();
  if (!trial.allocation.perNode.empty()) {
    nodes.clear();
    for (const auto& [id, amounts] : trial.allocation.perNode) nodes.push_back(id);
  }
  NumaAmounts total, used, pod = mine.amounts;
  for (int id : nodes) {
    const auto zone = node.state().zones.find(id);
    if (zone == node.state().zones.end()) continue;
    for (const auto& [name, amount] : zone->second) total[name] += amount;
    if (const auto booked = node.state().booked.find(id); booked != node.state().booked.end())
      for (const auto& [name, amount] : booked->second) used[name] += amount;
    const int64_t bound = boundCpu(node.state(), id);
    used["cpu"] += amplified(bound, node.state().cpuRatio) - bound;
  }
  // The reference counts the CPUs of the whole node, whatever part of it the pod would get.
  if (args_.compatibleScoring && !trial.allocation.cpus.empty())
    used["cpu"] = amplified(node.boundCpu(), node.state().cpuRatio);
  if (answer.binds) pod["cpu"] = amplified(pod["cpu"], node.state().cpuRatio);
  return args_.zoneScorer.score(used, total, pod);
}

}  // namespace

Result<NumaArgs> readNumaArgs(const json::Value& value, ResourceIds& ids) {
  Args args(value, "NodeNUMAResourceArgs");
  args.only({"defaultCPUBindPolicy", "scoringStrategy", "numaScoringStrategy", "preferOrphanCPUs",
             "compatibleScoring"});
  NumaArgs out;
  const std::string word = args.text("defaultCPUBindPolicy", api::cpu_bind::kFullPcpus);
  out.defaultBindPolicy = bindPolicyOf(word);
  if (!word.empty() && out.defaultBindPolicy != BindPolicy::kFullPcpus &&
      out.defaultBindPolicy != BindPolicy::kSpreadByPcpus)
    args.complain(fmt::format("defaultCPUBindPolicy '{}': want FullPCPUs or SpreadByPCPUs", word));
  out.scoring = readStrategy(args.object("scoringStrategy"), args, ids, false);
  const ScoringStrategy numa = readStrategy(args.object("numaScoringStrategy"), args, ids, false);
  out.preferOrphans = args.boolean("preferOrphanCPUs", false);
  out.compatibleScoring = args.boolean("compatibleScoring", false);
  out.numaScorer.mostAllocated = numa.type == Strategy::kMostAllocated;
  for (const auto& [id, weight] : out.compatibleScoring ? out.scoring.resources : numa.resources)
    out.numaScorer.weights.emplace_back(ids.name(id).str(), weight);
  out.zoneScorer.enabled = true;
  out.zoneScorer.mostAllocated = out.scoring.type == Strategy::kMostAllocated;
  for (const auto& [id, weight] : out.scoring.resources)
    out.zoneScorer.weights.emplace_back(ids.name(id).str(), weight);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

Result<std::unique_ptr<Plugin>> makeNodeNumaResource(const json::Value& value,
                                                     PluginHandle handle) {
  auto args = readNumaArgs(value, handle.cluster.table.resources());
  if (!args) return pass(args.error());
  return std::make_unique<NodeNumaResource>(handle.cluster, std::move(*args));
}

}  // namespace mangrove::placement
