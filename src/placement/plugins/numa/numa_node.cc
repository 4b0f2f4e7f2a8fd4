#include "placement/plugins/numa/numa_node.h"

#include <algorithm>

#include "api/annotations/cpu.h"
#include "api/annotations/node.h"
#include "api/wire/names.h"
#include "placement/cluster/resource_ids.h"

namespace mangrove::placement {

namespace {

int64_t amountOf(std::string_view name, const Quantity& amount) {
  return name == kNumaCpu ? amount.milliValue() : amount.value();
}

CpuSet setOf(std::string_view text) {
  return CpuSet::parse(text).value_or(CpuSet());
}

template <class T>
T orDefault(Result<std::optional<T>> value) {
  return value && *value ? std::move(**value) : T{};
}

// The first policy we know, as kubelets name them.
NumaPolicy policyOf(const api::NodeResourceTopology& topology) {
  for (const auto& word : topology.topologyPolicies) {
    if (word == "BestEffort") return NumaPolicy::kBestEffort;
    if (word == "Restricted") return NumaPolicy::kRestricted;
    if (word == "SingleNUMANodePodLevel") return NumaPolicy::kSingleNumaNode;
  }
  return NumaPolicy::kNone;
}

}  // namespace

std::optional<NumaHolding> holdingOf(const api::Pod& pod) {
  return holdingIn(pod.meta.annotations);
}

std::optional<NumaHolding> holdingIn(const api::Annotations& pod) {
  const auto status = api::parseResourceStatus(pod);
  if (!status || !*status) return std::nullopt;
  NumaHolding out;
  out.allocation.cpus = setOf((*status)->cpuset);
  for (const auto& part : (*status)->numaNodeResources)
    for (const auto& entry : part.resources)
      out.allocation.perNode[part.node][entry.name.str()] =
          amountOf(entry.name.view(), entry.amount);
  if (out.allocation.cpus.empty() && out.allocation.perNode.empty()) return std::nullopt;
  const auto spec = orDefault(api::parseResourceSpec(pod));
  out.exclusive = exclusiveOf(spec.preferredCpuExclusivePolicy);
  return out;
}

void NumaNode::rebuild(const api::Node* node, const api::NodeResourceTopology* topology,
                       bool mostAllocated) {
  const api::Annotations none;
  const api::Annotations& notes = topology ? topology->meta.annotations : none;
  layout_ =
      std::make_unique<CpuLayout>(CpuLayout::of(orDefault(api::parseCpuTopology(notes)).detail));
  state_ = std::make_unique<NumaState>(*layout_);
  const api::Labels noLabels;
  const api::Labels& labels = node ? node->meta.labels : noLabels;
  policy_ = api::numaTopologyPolicyOf(labels);
  if (policy_ == NumaPolicy::kNone && topology) policy_ = policyOf(*topology);
  bindPolicy_ = api::nodeCpuBindPolicyOf(labels, orDefault(api::parseCpuManagerPolicy(notes)));
  mostAllocated_ = mostAllocated;
  const auto own = api::numaAllocateStrategyOf(labels);
  if (!labels.get(api::label::kNumaAllocateStrategy).value_or("").empty())
    mostAllocated_ = own == api::NumaAllocateStrategy::kMostAllocated;
  evenly_ = own == api::NumaAllocateStrategy::kDistributeEvenly;
  ratio_ = 1;
  badRatio_ = false;
  if (node) {
    auto ratios = api::parseAmplificationRatios(node->meta.annotations);
    badRatio_ = !ratios;
    if (ratios && *ratios && (*ratios)->contains("cpu")) ratio_ = (*ratios)->at("cpu");
  }
  if (topology) {
    readReserved(*topology);
    readZones(node, *topology);
  }
  for (const auto& [uid, holding] : holdings_) book(holding, +1);
}

void NumaNode::readReserved(const api::NodeResourceTopology& topology) {
  const auto& notes = topology.meta.annotations;
  CpuSet& reserved = state_->reserved;
  for (const auto& alloc : orDefault(api::parsePodCpuAllocs(notes)))
    if (alloc.managedByKubelet && !alloc.uid.empty()) reserved = reserved | setOf(alloc.cpuset);
  reserved = reserved | setOf(orDefault(api::parseCpuManagerPolicy(notes)).reservedCpus);
  reserved = reserved | setOf(orDefault(api::parseNodeReservation(notes)).reservedCpus);
  const auto system = api::parseSystemQosResource(notes);
  if (system && *system && (*system)->isExclusive()) reserved = reserved | setOf((*system)->cpuset);
}

void NumaNode::readZones(const api::Node* node, const api::NodeResourceTopology& topology) {
  auto given = api::parseAmplificationRatios(topology.meta.annotations);
  const bool amplifiedThere = given && *given;
  api::AmplificationRatios ratios;
  if (amplifiedThere)
    ratios = **given;
  else if (node)
    ratios = orDefault(api::parseAmplificationRatios(node->meta.annotations));
  if (ratios.contains("cpu")) state_->cpuRatio = ratios["cpu"];
  for (const auto& zone : topology.zones) {
    const auto id = api::numaIdOf(zone);
    if (zone.type != "Node" || !id || *id < 0 || *id > 63) continue;
    NumaAmounts& amounts = state_->zones[*id];
    for (const auto& resource : zone.resources) {
      int64_t amount = amountOf(resource.name.view(), resource.allocatable);
      if (resource.name == kNumaCpu) {
        const CpuSet lost = state_->reserved & layout_->onNode(*id);
        amount = std::max<int64_t>(0, amount - 1000 * static_cast<int64_t>(lost.size()));
      }
      const auto ratio = ratios.find(resource.name.str());
      if (!amplifiedThere && ratio != ratios.end()) amount = amplified(amount, ratio->second);
      amounts[resource.name.str()] = amount;
    }
  }
}

std::vector<int> NumaNode::nodes() const {
  std::vector<int> out;
  for (const auto& [node, amounts] : state_->zones) out.push_back(node);
  return out;
}

void NumaNode::book(const NumaHolding& holding, int sign) {
  CpuSet known = holding.allocation.cpus & layout_->all();
  if (sign > 0)
    state_->books.add(known, holding.exclusive);
  else
    state_->books.remove(known, holding.exclusive);
  for (const auto& [node, amounts] : holding.allocation.perNode)
    for (const auto& [name, amount] : amounts) state_->booked[node][name] += sign * amount;
}

void NumaNode::hold(const api::Uid& pod, NumaHolding holding) {
  release(pod);
  book(holding, +1);
  holdings_[pod] = std::move(holding);
}

void NumaNode::holdWhole(const api::Uid& pod, NumaHolding holding) {
  wholes_[pod] = holding;
  keepOfWhole(pod, std::move(holding));
}

const NumaHolding* NumaNode::whole(const api::Uid& pod) const {
  const auto at = wholes_.find(pod);
  return at == wholes_.end() ? nullptr : &at->second;
}

void NumaNode::keepOfWhole(const api::Uid& pod, NumaHolding left) {
  if (const auto at = holdings_.find(pod); at != holdings_.end()) book(at->second, -1);
  book(left, +1);
  holdings_[pod] = std::move(left);
}

void NumaNode::release(const api::Uid& pod) {
  wholes_.erase(pod);
  const auto at = holdings_.find(pod);
  if (at == holdings_.end()) return;
  book(at->second, -1);
  holdings_.erase(at);
}

void NumaNode::suspend(const api::Uid& pod) {
  if (const NumaHolding* holding = find(pod)) book(*holding, -1);
}

void NumaNode::resume(const api::Uid& pod) {
  if (const NumaHolding* holding = find(pod)) book(*holding, +1);
}

const NumaHolding* NumaNode::find(const api::Uid& pod) const {
  const auto at = holdings_.find(pod);
  return at == holdings_.end() ? nullptr : &at->second;
}

std::map<int, NumaUse> NumaNode::uses() const {
  std::map<int, NumaUse> out;
  for (const auto& [uid, holding] : holdings_) {
    if (holding.allocation.cpus.empty()) continue;
    std::map<int, bool> on;
    for (int cpu : holding.allocation.cpus)
      if (layout_->has(cpu)) on[layout_->cpu(cpu).node] = true;
    for (const auto& [node, yes] : on) {
      NumaUse& use = out[node];
      if (on.size() > 1)
        use = NumaUse::kShared;
      else if (use == NumaUse::kIdle)
        use = NumaUse::kSingle;
    }
  }
  return out;
}

}  // namespace mangrove::placement
