#include "agent/report/topology.h"

#include <algorithm>
#include <set>

#include "api/annotations/cpu.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"
#include "json/view.h"

namespace mangrove::agent {
namespace {

// Pods whose CPUs we (or the scheduler) manage: the kubelet's word on them does not count.
bool isOurs(const api::Pod& pod) {
  const api::Qos qos = api::rawQos(pod.meta.labels);
  if (qos == api::Qos::kLs || qos == api::Qos::kBe) return true;
  const auto status = api::parseResourceStatus(pod.meta.annotations);
  return status && *status && !(*status)->cpuset.empty();
}

class Pools {
 public:
  explicit Pools(const TopologyInputs& in) : in_(in), shared_(in.cpus.online), be_(shared_) {}

  Result<> run() {
    if (auto ok = removeStatic(); !ok) return ok;
    be_ = shared_;
    removeBound();
    readReservation();
    removeNodeAnnotations();
    return {};
  }

  CpuSet sharedPool() const { return shared_; }
  CpuSet bestEffortPool() const { return be_; }
  const std::vector<api::PodCpuAlloc>& allocs() const { return allocs_; }
  const api::NodeReservation& reservation() const { return reservation_; }
  const std::optional<api::SystemQosResource>& system() const { return system_; }

 private:
  Result<> removeStatic() {
    if (!in_.kubelet || in_.kubelet->cpuManagerPolicy != "static") return {};
    auto entries = parseCpuManagerState(in_.cpuManagerState);
    if (!entries) return pass(entries.error());
    for (const auto& [uid, cpus] : *entries) {
      const PodPtr pod = in_.pods.findByCgroup(uid);  // static pods by the kubelet's own uid
      if (pod && isOurs(*pod)) continue;
      shared_ = shared_ - cpus;
      api::PodCpuAlloc alloc{"", "", uid, cpus.text(), true};
      if (pod) {
        alloc.ns = pod->meta.ns.str();
        alloc.name = pod->meta.name.str();
      }
      allocs_.push_back(std::move(alloc));
    }
    return {};
  }

  void removeBound() {
    in_.pods.each([&](const PodPtr& pod) {
      const auto status = api::parseResourceStatus(pod->meta.annotations);
      if (!status || !*status || (*status)->cpuset.empty()) return;
      const auto cpus = CpuSet::parse((*status)->cpuset);
      if (!cpus) return;
      shared_ = shared_ - *cpus;
      if (api::rawQos(pod->meta.labels) == api::Qos::kLse) be_ = be_ - *cpus;
    });
  }

  // As it is published: CPUs by number, also where only an amount was asked for.
  void readReservation() {
    const auto said = api::parseNodeReservation(in_.node.meta.annotations);
    if (!said || !*said) return;
    reservation_ = **said;
    const api::ReservedCpus wanted = api::reservedCpus(reservation_);
    if (!wanted.cpuset.empty()) {
      const auto cpus = CpuSet::parse(wanted.cpuset);
      reserved_ = cpus ? *cpus : CpuSet{};
    } else if (wanted.count > 0) {
      reserved_ = takeByTopology(in_.cpus, in_.cpus.online, static_cast<size_t>(wanted.count));
    }
    reservation_.reservedCpus = reserved_.text();
  }

  void removeNodeAnnotations() {
    shared_ = shared_ - reserved_;
    be_ = be_ - reserved_;
    const auto system = api::parseSystemQosResource(in_.node.meta.annotations);
    if (!system || !*system) return;
    system_ = **system;
    const auto cpus = CpuSet::parse(system_->cpuset);
    if (!cpus || !system_->isExclusive()) return;
    shared_ = shared_ - *cpus;
    be_ = be_ - *cpus;
  }

  const TopologyInputs& in_;
  CpuSet shared_, be_, reserved_;
  std::vector<api::PodCpuAlloc> allocs_;
  api::NodeReservation reservation_;
  std::optional<api::SystemQosResource> system_;
};

api::CpuManagerPolicy managerPolicy(const TopologyInputs& in) {
  if (!in.kubelet) return {};
  const KubeletConfig& kubelet = *in.kubelet;
  api::CpuManagerPolicy policy{kubelet.cpuManagerPolicy, kubelet.cpuManagerOptions, ""};
  if (policy.policy != "static") return policy;
  if (!kubelet.reservedSystemCpus.empty()) {
    const auto cpus = CpuSet::parse(kubelet.reservedSystemCpus);
    if (cpus && cpus->isSubsetOf(in.cpus.online)) policy.reservedCpus = cpus->text();
    return policy;
  }
  const int64_t milli = (kubelet.kubeReserved + kubelet.systemReserved).v;
  const auto count = static_cast<size_t>(std::max<int64_t>((milli + 999) / 1000, 0));
  if (count > 0) policy.reservedCpus = takeByTopology(in.cpus, in.cpus.online, count).text();
  return policy;
}

api::ZoneResource zoneResource(std::string_view name, const Quantity& capacity,
                               const Quantity& taken) {
  Quantity rest = capacity - taken;
  if (rest.sign() < 0) rest = Quantity::of(0, 0, capacity.format());
  return {Interned(name), capacity, rest, rest};
}

std::vector<api::Zone> zonesOf(const TopologyInputs& in) {
  const bool reserve = in.node.meta.labels.get(api::label::kEnableNumaReservation) == "true";
  const auto taken = [&](std::string_view name) {
    if (!reserve) return Quantity();
    return zoneReservation(in.node.status.capacity.amount(name),
                           in.node.status.allocatable.amount(name), in.zones.size());
  };
  std::vector<api::Zone> zones;
  for (const ZoneMemory& memory : in.zones) {
    api::Zone zone;
    zone.name = fmt::format("node-{}", memory.node);
    zone.type = "Node";
    const auto cpus = static_cast<int64_t>(in.cpus.cpusOfNode(memory.node).size());
    const Bytes huge = in.reportHugePages ? memory.hugePages.total() : Bytes{0};
    zone.resources.push_back(
        zoneResource(api::resource::kCpu, Quantity::of(cpus), taken(api::resource::kCpu)));
    if (in.reportHugePages) {
      zone.resources.push_back(zoneResource(api::resource::kHugePages1Gi,
                                            Quantity::of(kGiB * memory.hugePages.pages1Gi), {}));
      zone.resources.push_back(zoneResource(
          api::resource::kHugePages2Mi, Quantity::of(kMiB * 2 * memory.hugePages.pages2Mi), {}));
    }
    zone.resources.push_back(zoneResource(api::resource::kMemory,
                                          Quantity::of(std::max(Bytes{0}, memory.total - huge)),
                                          taken(api::resource::kMemory)));
    zones.push_back(std::move(zone));
  }
  std::sort(zones.begin(), zones.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return zones;
}

}  // namespace

Result<DesiredTopology> desiredTopology(const TopologyInputs& in) {
  const std::vector<int> withCpus = in.cpus.numaNodes();
  if (withCpus.size() != in.zones.size())
    return invalid("{} NUMA nodes have CPUs, {} have memory: they must be the same",
                   withCpus.size(), in.zones.size());
  Pools pools(in);
  if (auto ok = pools.run(); !ok) return pass(ok.error());
  namespace key = api::annotation;
  DesiredTopology out;
  const auto put = [&](std::string_view name, std::string text) {
    out.annotations.emplace(name, std::move(text));
  };
  put(key::kCpuBasicInfo,
      api::annotationText(api::CpuBasicInfo{in.basics.model, in.basics.smt, in.basics.turbo,
                                            in.basics.l3Mask, in.basics.vendor}));
  api::CpuTopology detail;
  for (const kernel::LogicalCpu& cpu : in.cpus.cpus)
    detail.detail.push_back({cpu.id, cpu.core, cpu.socket, cpu.node});
  put(key::kCpuTopology, api::annotationText(detail));
  put(key::kCpuSharedPools, api::annotationText(poolsOf(in.cpus, pools.sharedPool())));
  put(key::kBeCpuSharedPools, api::annotationText(poolsOf(in.cpus, pools.bestEffortPool())));
  put(key::kKubeletCpuManagerPolicy, api::annotationText(managerPolicy(in)));
  put(key::kPodCpuAllocs, pools.allocs().empty() ? "null" : api::annotationText(pools.allocs()));
  put(key::kNodeReservation, api::annotationText(pools.reservation()));
  put(key::kSystemQosResource,
      in.node.meta.annotations.empty()
          ? "null"
          : api::annotationText(pools.system().value_or(api::SystemQosResource{})));
  if (const auto label = in.node.meta.labels.get(api::label::kEnableNumaReservation);
      label && !label->empty())
    out.labels.emplace(api::label::kEnableNumaReservation, *label);
  out.policies = {in.kubelet ? topologyPolicyOf(in.kubelet->topologyManagerPolicy,
                                                in.kubelet->topologyManagerScope)
                             : "None"};
  out.zones = zonesOf(in);
  out.sharedPool = pools.sharedPool();
  out.bestEffortPool = pools.bestEffortPool();
  return out;
}

CpuSet takeByTopology(const kernel::CpuTopology& cpus, const CpuSet& available, size_t n) {
  CpuSet taken, left = available;
  if (n >= available.size()) return available;
  // Groups that are wholly free, the smaller ones first, then by number.
  const auto takeWhole = [&](auto groupOf) {
    std::map<int, CpuSet> all;
    for (const kernel::LogicalCpu& cpu : cpus.cpus) all[groupOf(cpu)].add(cpu.id);
    for (const auto& [id, members] : all) {
      if (members.size() > n || !members.isSubsetOf(left)) continue;
      taken = taken | members;
      left = left - members;
      n -= members.size();
    }
  };
  takeWhole([](const kernel::LogicalCpu& cpu) { return cpu.socket; });
  takeWhole([](const kernel::LogicalCpu& cpu) { return cpu.core; });
  // Single threads: of the socket and core with the fewest free ones first, as the kubelet packs.
  std::vector<const kernel::LogicalCpu*> rest;
  std::map<int, size_t> freeInSocket, freeInCore;
  for (const kernel::LogicalCpu& cpu : cpus.cpus) {
    if (!left.contains(cpu.id)) continue;
    rest.push_back(&cpu);
    ++freeInSocket[cpu.socket];
    ++freeInCore[cpu.core];
  }
  std::sort(rest.begin(), rest.end(), [&](const auto* a, const auto* b) {
    const auto rank = [&](const kernel::LogicalCpu* c) {
      return std::tuple(freeInSocket[c->socket], c->socket, freeInCore[c->core], c->core, c->id);
    };
    return rank(a) < rank(b);
  });
  for (size_t i = 0; i < n && i < rest.size(); ++i) taken.add(rest[i]->id);
  return taken;
}

Result<std::map<std::string, CpuSet>> parseCpuManagerState(std::string_view text) {
  std::map<std::string, CpuSet> out;
  if (text.empty()) return out;
  json::Doc doc;
  auto view = doc.parse(text);
  if (!view) return view.error().in("cpu_manager_state");
  for (auto [uid, containers] : (*view)["entries"].members()) {
    for (auto [name, cpus] : containers.members()) {
      auto set = CpuSet::parse(cpus.string().value_or(""));
      if (!set) return set.error().in("cpu_manager_state: container {} of pod {}", name, uid);
      auto& sum = out[std::string(uid)];
      sum = sum | *set;
    }
  }
  return out;
}

std::string topologyPolicyOf(std::string_view policy, std::string_view scope) {
  const char* level = scope == "pod"         ? "PodLevel"
                      : scope == "container" ? "ContainerLevel"
                                             : nullptr;
  const char* word = policy == "single-numa-node" ? "SingleNUMANode"
                     : policy == "restricted"     ? "Restricted"
                     : policy == "best-effort"    ? "BestEffort"
                                                  : nullptr;
  return level != nullptr && word != nullptr ? std::string(word) + level : "None";
}

api::CpuSharedPools poolsOf(const kernel::CpuTopology& cpus, const CpuSet& members) {
  std::map<std::pair<int, int>, CpuSet> byNode;
  for (const kernel::LogicalCpu& cpu : cpus.cpus)
    if (members.contains(cpu.id)) byNode[{cpu.socket, cpu.node}].add(cpu.id);
  api::CpuSharedPools pools;
  for (const auto& [place, set] : byNode) pools.push_back({place.first, place.second, set.text()});
  return pools;
}

Quantity zoneReservation(const Quantity& capacity, const Quantity& allocatable, size_t count) {
  const int64_t milli = (capacity - allocatable).milliValue();
  if (count == 0 || milli <= 0) return {};
  const auto n = static_cast<int64_t>(count);
  return Quantity::ofMilli(milli / n + (milli % n != 0 ? 1 : 0), capacity.format());
}

Result<KubeletConfig> parseKubeletConfig(std::string_view configz) {
  json::Doc doc;
  auto view = doc.parse(configz);
  if (!view) return view.error().in("kubelet /configz");
  const json::View config = (*view)["kubeletconfig"];
  if (!config.isObject()) return invalid("kubelet /configz has no kubeletconfig");
  const auto text = [&](const char* key) { return std::string(config[key].string().value_or("")); };
  const auto cpu = [&](const char* key) {
    const auto amount = Quantity::parse(config[key]["cpu"].string().value_or("0"));
    return MilliCpu{amount ? amount->milliValue() : 0};
  };
  KubeletConfig out{text("cpuManagerPolicy"),    {},
                    text("reservedSystemCPUs"),  cpu("kubeReserved"),
                    cpu("systemReserved"),       text("topologyManagerPolicy"),
                    text("topologyManagerScope")};
  for (auto [key, value] : config["cpuManagerPolicyOptions"].members())
    out.cpuManagerOptions.emplace(key, value.string().value_or(""));
  return out;
}

}  // namespace mangrove::agent
