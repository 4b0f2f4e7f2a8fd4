#include "placement/testing/oracle_board.h"

#include <algorithm>
#include <cmath>

#include "api/annotations/cpu.h"
#include "api/annotations/node.h"
#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "base/number/cpu_set.h"

namespace mangrove::placement::oracle {

namespace {

using Place = World::Place;
using Policy = api::NumaTopologyPolicy;

template <class T>
T orEmpty(Result<std::optional<T>> value) {
  return value && *value ? **value : T{};
}

std::set<int> cpusOf(std::string_view text) {
  std::set<int> out;
  if (auto set = CpuSet::parse(text))
    for (int cpu : *set) out.insert(cpu);
  return out;
}

Alone aloneOf(const std::string& word) {
  return word == "PCPULevel" ? Alone::kCore : word == "NUMANodeLevel" ? Alone::kNode : Alone::kNo;
}

void readTopology(const Place& place, Board& out) {
  const auto& notes = place.topology->meta.annotations;
  std::vector<OracleCpu> cpus;
  for (const auto& cpu : orEmpty(api::parseCpuTopology(notes)).detail)
    cpus.push_back({cpu.id, cpu.socket << 16 | cpu.core, cpu.node, cpu.socket});
  std::sort(cpus.begin(), cpus.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  out.machine = machineOf(std::move(cpus));
  const auto kubelet = orEmpty(api::parseCpuManagerPolicy(notes));
  out.reserved = cpusOf(kubelet.reservedCpus);
  for (const auto& alloc : orEmpty(api::parsePodCpuAllocs(notes)))
    if (alloc.managedByKubelet && !alloc.uid.empty())
      for (int cpu : cpusOf(alloc.cpuset)) out.reserved.insert(cpu);
  if (kubelet.policy == "static" && kubelet.options.contains("full-pcpus-only") &&
      kubelet.options.at("full-pcpus-only") == "true")
    out.forced = "FullPCPUs";
  for (const auto& word : place.topology->topologyPolicies) {
    if (out.policy != Policy::kNone) break;
    if (word == "SingleNUMANodePodLevel") out.policy = Policy::kSingleNumaNode;
    if (word == "Restricted") out.policy = Policy::kRestricted;
    if (word == "BestEffort") out.policy = Policy::kBestEffort;
  }
  const auto own = api::parseAmplificationRatios(notes);
  const bool raisedThere = own && *own;
  const auto ratios =
      raisedThere ? **own : orEmpty(api::parseAmplificationRatios(place.node->meta.annotations));
  if (ratios.contains("cpu")) out.zoneRatio = ratios.at("cpu");
  for (const auto& zone : place.topology->zones) {
    const int id = std::stoi(zone.name.substr(5));
    for (const auto& resource : zone.resources) {
      const bool isCpu = resource.name == "cpu";
      int64_t have = isCpu ? resource.allocatable.milliValue() : resource.allocatable.value();
      for (int cpu : out.reserved)
        if (isCpu && out.machine.at(cpu).node == id) have -= 1000;
      have = std::max<int64_t>(0, have);
      if (!raisedThere && ratios.contains(resource.name.str()))
        have = raised(have, ratios.at(resource.name.str()));
      out.zones[id][resource.name.str()] = have;
    }
  }
}

}  // namespace

int64_t raised(int64_t amount, double ratio) {
  return ratio <= 1 ? amount : static_cast<int64_t>(std::ceil(static_cast<double>(amount) * ratio));
}

int64_t amountIn(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

Demand demandOf(const NumaRules& rules, const api::Pod& pod) {
  Demand out;
  const auto requests = api::podRequests(*pod.spec);
  for (const auto& entry : requests)
    if (const int64_t n = amount(requests, entry.name.view()); n > 0)
      out.amounts[entry.name.str()] = n;
  const std::string usual = rules.spreadDefault ? "SpreadByPCPUs" : "FullPCPUs";
  const auto spec = orEmpty(api::parseResourceSpec(pod.meta.annotations));
  out.alone = aloneOf(spec.preferredCpuExclusivePolicy);
  const auto zones = orEmpty(api::parseNumaTopologySpec(pod.meta.annotations));
  out.policy = api::numaTopologyPolicyOf(zones.numaTopologyPolicy);
  out.lonelyZone = zones.singleNumaNodeExclusive == "Required" ||
                   (out.policy != Policy::kNone && zones.singleNumaNodeExclusive.empty());
  const auto qos = api::rawQos(pod.meta.labels);
  out.cpuset = (qos == api::Qos::kLse || qos == api::Qos::kLsr) &&
               api::bandWithDefault(pod) == api::PriorityBand::kProd;
  if (!out.cpuset) return out;
  const auto meaning = [&](const std::string& word) { return word == "Default" ? usual : word; };
  out.required = meaning(spec.requiredCpuBindPolicy);
  out.preferred =
      spec.preferredCpuBindPolicy.empty() ? usual : meaning(spec.preferredCpuBindPolicy);
  const std::string& policy = out.required.empty() ? out.preferred : out.required;
  out.binds = out.cpu() > 0 && (policy == "FullPCPUs" || policy == "SpreadByPCPUs");
  return out;
}

Board boardOf(const NumaRules& rules, const Place& place) {
  Board out;
  if (place.topology) readTopology(place, out);
  const auto& labels = place.node->meta.labels;
  if (const auto label = labels.get(api::label::kNumaTopologyPolicy); label && !label->empty())
    out.policy = api::numaTopologyPolicyOf(*label);
  const auto bind = labels.get(api::label::kCpuBindPolicy).value_or("");
  if (bind == "FullPCPUsOnly") out.forced = "FullPCPUs";
  if (bind == "SpreadByPCPUs" && out.forced.empty()) out.forced = "SpreadByPCPUs";
  out.most = rules.zonesMost;
  if (const auto label = labels.get(api::label::kNumaAllocateStrategy); label && !label->empty())
    out.most = *label == "MostAllocated";
  const auto ratios = api::parseAmplificationRatios(place.node->meta.annotations);
  out.badRatio = !ratios;
  if (ratios && *ratios && (*ratios)->contains("cpu")) out.ratio = (*ratios)->at("cpu");
  for (const api::Pod* pod : place.pods) {
    const auto status = orEmpty(api::parseResourceStatus(pod->meta.annotations));
    Holder holder;
    for (int cpu : cpusOf(status.cpuset))  // of a machine that may have been another one
      if (out.machine.has(cpu)) holder.cpus.insert(cpu);
    for (const auto& part : status.numaNodeResources)
      for (const auto& entry : part.resources)
        holder.zones[part.node][entry.name.str()] = amount(part.resources, entry.name.view());
    holder.alone =
        aloneOf(orEmpty(api::parseResourceSpec(pod->meta.annotations)).preferredCpuExclusivePolicy);
    out.holders.push_back(std::move(holder));
  }
  return out;
}

int64_t leftOn(const Question& q, int zone, const std::string& resource) {
  int64_t left = amountIn(q.board.zones.at(zone), resource);
  for (const Holder& holder : q.board.holders)
    if (holder.zones.contains(zone)) left -= amountIn(holder.zones.at(zone), resource);
  if (resource == "cpu") {
    const int64_t bound = q.board.machine.isValid() ? q.board.boundOn(zone) : 0;
    left -= raised(bound, q.board.zoneRatio) - bound;
    if (q.binds && q.cpus.required) {
      const auto free = usable(q.board.machine, q.board.freeOn(zone), q.cpus);
      left = std::min<int64_t>(left, 1000 * static_cast<int64_t>(free.size()));
    }
  }
  return std::max<int64_t>(0, left);
}

bool isReported(const Board& board, const std::string& resource) {
  return std::any_of(board.zones.begin(), board.zones.end(),
                     [&](const auto& zone) { return zone.second.contains(resource); });
}

std::optional<NumaGrant> grantOn(const Question& q, const std::vector<int>& zones) {
  NumaGrant out;
  for (const auto& [resource, wanted] : q.demand.amounts) {
    if (!isReported(q.board, resource)) continue;
    const bool boundCpu = resource == "cpu" && q.binds;
    int64_t step = 1;
    if (boundCpu) step = 1000;
    if (boundCpu && q.cpus.required && q.cpus.full) step = 1000 * q.board.machine.perCore;
    std::vector<int> order = zones;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return leftOn(q, a, resource) < leftOn(q, b, resource); });
    int64_t rest = wanted;
    for (size_t i = 0; i < order.size(); i++) {
      // A fraction counts as a whole CPU in the shares, but not in what is left to give: where it
      // remains, the NUMA nodes are refused.
      const int64_t whole = boundCpu ? (rest + 999) / 1000 * 1000 : rest;
      int64_t share = whole / static_cast<int64_t>(order.size() - i);
      share = i + 1 == order.size() ? whole : share / step * step;
      const int64_t given = std::min(leftOn(q, order[i], resource), share);
      if (given != 0) out.zones[order[i]][resource] = given;
      rest -= given;
    }
    if (rest != 0) return std::nullopt;
  }
  if (!q.binds) return out;
  for (const auto& [zone, amounts] : out.zones) {
    CpuDemand part = q.cpus;
    part.need = static_cast<int>(amountIn(amounts, "cpu") / 1000);
    const auto got = pickCpus(q.board.machine, q.board.freeOn(zone), q.board.lonely(), part);
    if (!got) return std::nullopt;
    out.cpus.insert(got->begin(), got->end());
  }
  if (static_cast<int>(out.cpus.size()) != q.cpus.need) return std::nullopt;
  return out;
}

}  // namespace mangrove::placement::oracle
