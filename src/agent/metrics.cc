#include "agent/metrics.h"

#include <algorithm>

#include "agent/self_usage.h"
#include "api/wire/names.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

// Bounds of the reference's tick-sized things: 10 µs to 1.3 s.
std::vector<double> tickBounds() {
  std::vector<double> bounds;
  for (double b = 1e-5; b < 2; b *= 2) bounds.push_back(b);
  return bounds;
}

double asDouble(std::chrono::nanoseconds d) {
  return std::chrono::duration<double>(d).count();
}

// Counters of ours follow totals that are kept elsewhere.
void follow(Counter& counter, uint64_t now, uint64_t before) {
  if (now > before) counter.inc(static_cast<double>(now - before));
}

constexpr std::string_view kExtended[] = {api::resource::kBatchCpu, api::resource::kBatchMemory,
                                          api::resource::kMidCpu, api::resource::kMidMemory};

const char* unitOf(std::string_view resource) {
  return resource.ends_with("memory") ? "byte" : "integer";
}

}  // namespace

AgentMetrics::AgentMetrics(Registry& internal, Registry& external, std::string node,
                           WallTime started)
    : node_(std::move(node)),
      internal_(internal),
      external_(external),
      startTime_(
          internal.gauges("koordlet_start_time", "Start of the agent, unix seconds.", {"node"})),
      nodeCpu_(internal.gauges("koordlet_node_used_cpu_cores", "CPU in use, cores.", {"node"})),
      nodeMemory_(
          internal.gauges("koordlet_node_used_memory_bytes", "Memory in use, bytes.", {"node"})),
      beUsed_(internal.gauges("koordlet_be_suppress_be_used_cpu_cores",
                              "CPU in use by best-effort pods, cores.", {"node"})),
      hostApp_(
          internal.gauges("koordlet_host_application_resource_usage", "Usage of host applications.",
                          {"node", "host_application_name", "resource", "priority_class", "qos"})),
      allocatable_(external.gauges("koordlet_node_resource_allocatable",
                                   "Reclaimed resources the node offers.",
                                   {"node", "resource", "unit"})),
      requests_(external.gauges("koordlet_container_resource_requests",
                                "Reclaimed resources containers ask for.",
                                {"node", "resource", "unit", "pod_uid", "pod_name", "pod_namespace",
                                 "container_id", "container_name"})),
      limits_(external.gauges("koordlet_container_resource_limits",
                              "Reclaimed resources containers are limited to.",
                              {"node", "resource", "unit", "pod_uid", "pod_name", "pod_namespace",
                               "container_id", "container_name"})),
      cpi_(external.gauges("koordlet_container_cpi", "Cycles and instructions of containers.",
                           {"node", "container_id", "container_name", "pod_uid", "pod_name",
                            "pod_namespace", "cpi_field"})),
      containerPsi_(external.gauges(
          "koordlet_container_psi", "Pressure of containers, percent.",
          {"node", "container_id", "container_name", "pod_uid", "pod_name", "pod_namespace",
           "psi_resource_type", "psi_precision", "psi_degree", "cpu_full_supported"})),
      podPsi_(external.gauges("koordlet_pod_psi", "Pressure of pods, percent.",
                              {"node", "pod_uid", "pod_name", "pod_namespace", "psi_resource_type",
                               "psi_precision", "psi_degree", "cpu_full_supported"})),
      llc_(external.gauges("koordlet_resctrl_llc_occupancy", "Last-level cache in use, bytes.",
                           {"node", "cache_id", "qos"})),
      bandwidth_(external.gauges("koordlet_resctrl_memory_bandwidth",
                                 "Memory traffic since boot, bytes.",
                                 {"node", "cache_id", "qos", "mb_type"})),
      cpuInfo_(internal.counters("koordlet_collect_node_cpu_info_status",
                                 "Readings of the CPU layout.", {"node", "status"})),
      numaInfo_(internal.counters("koordlet_collect_node_numa_info_status",
                                  "Readings of the NUMA layout.", {"node", "status"})) {
  startTime_.with({node_}).set(static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(started.time_since_epoch()).count()));
  makeSelf(internal);
}

void AgentMetrics::makeSelf(Registry& r) {
  tickSeconds_ = r.histogram("mangrove_agent_tick_seconds", "Time a tick took.", tickBounds());
  latenessSeconds_ =
      r.histogram("mangrove_agent_tick_lateness_seconds", "How late ticks began.", tickBounds());
  auto& recent = r.gauges("mangrove_agent_tick_recent_seconds", "Duration of the last 600 ticks.",
                          {"quantile"});
  tickP50_ = recent.with({"0.5"});
  tickP99_ = recent.with({"0.99"});
  tickMax_ = recent.with({"1"});
  missed_ = r.counter("mangrove_agent_ticks_missed_total", "Ticks that were skipped.");
  syscalls_ = r.counter("mangrove_agent_syscalls_total", "System calls of the collectors.");
  reads_ = r.counter("mangrove_agent_reads_total", "Kernel files read.");
  readFailures_ =
      r.counter("mangrove_agent_read_failures_total", "Kernel files that could not be read.");
  auto& bad = r.counters("mangrove_agent_bad_readings_total",
                         "Readings that were refused instead of believed.", {"why"});
  unreadable_ = bad.with({"unreadable"});
  implausible_ = bad.with({"implausible"});
  cut_ = bad.with({"cut"});
  shrunk_ = bad.with({"shrunk"});
  auto& reports = r.counters("mangrove_agent_reports_total", "NodeMetric rounds.", {"result"});
  reportsSent_ = reports.with({"sent"});
  reportsSkipped_ = reports.with({"skipped"});
  reportsFailed_ = reports.with({"failed"});
  reportsEarly_ =
      r.counter("mangrove_agent_reports_early_total", "Reports sent because load jumped.");
  reportBytes_ = r.counter("mangrove_agent_report_bytes_total", "Bytes of NodeMetric patches.");
  wholeBytes_ = r.counter("mangrove_agent_report_whole_bytes_total",
                          "Bytes that whole statuses at every round would have been.");
  clockJumps_ = r.counter("mangrove_agent_clock_jumps_total",
                          "Times the wall clock was set by more than a second.");
  suspensions_ = r.counter("mangrove_agent_suspensions_total", "Times the machine was suspended.");
  closed_ = r.counter("mangrove_agent_files_closed_total",
                      "Kernel files closed because hotter ones needed their descriptors.");
  openFiles_ = r.gauge("mangrove_agent_open_files", "Kernel files kept open.");
  podsGauge_ = r.gauge("mangrove_agent_pods", "Pods with a cgroup.");
  containersGauge_ = r.gauge("mangrove_agent_containers", "Containers with a cgroup.");
  historyBytes_ = r.gauge("mangrove_agent_history_bytes", "Memory of the history.");
  Gauge cpu = r.gauge("mangrove_agent_self_cpu_seconds", "CPU time of this process.");
  Gauge rss = r.gauge("mangrove_agent_self_rss_bytes", "Resident memory of this process.");
  r.beforeExposition([cpu, rss]() mutable {
    const SelfUsage self = readSelfUsage();
    cpu.set(asDouble(self.cpu));
    rss.set(static_cast<double>(self.rss.v));
  });
}

void AgentMetrics::capabilities(const kernel::Capabilities& can) {
  auto& family = internal_.gauges("mangrove_agent_capability", "1 when this machine offers it.",
                                  {"capability"});
  for (const kernel::Finding& finding : can.findings())
    family.with({std::string(finding.name)}).set(finding.present ? 1 : 0);
}

void AgentMetrics::nodeSeen(const api::Node& node) {
  seen_ = true;
  for (std::string_view resource : kExtended) {
    const Quantity* amount = node.status.allocatable.find(resource);
    const LabelValues labels{node_, std::string(resource), unitOf(resource)};
    if (amount != nullptr)
      allocatable_.with(labels).set(static_cast<double>(amount->value()));
    else
      allocatable_.remove(labels);
  }
}

void AgentMetrics::counters(const CollectorStats& stats, const ReporterStats& report) {
  const CollectorStats& old = lastStats_;
  follow(syscalls_, stats.reader.syscalls, old.reader.syscalls);
  follow(reads_, stats.reader.reads, old.reader.reads);
  follow(readFailures_, stats.reader.failures + stats.reader.tooLarge,
         old.reader.failures + old.reader.tooLarge);
  follow(unreadable_, stats.troubles.unreadable, old.troubles.unreadable);
  follow(implausible_, stats.troubles.implausible, old.troubles.implausible);
  follow(shrunk_, stats.troubles.shrunk, old.troubles.shrunk);
  follow(cut_, stats.reader.cut, old.reader.cut);
  follow(closed_, stats.reader.closed, old.reader.closed);
  follow(reportsSent_, report.sent, lastReport_.sent);
  follow(reportsSkipped_, report.skipped, lastReport_.skipped);
  follow(reportsFailed_, report.failed, lastReport_.failed);
  follow(reportsEarly_, report.early, lastReport_.early);
  follow(reportBytes_, report.bytesSent, lastReport_.bytesSent);
  follow(wholeBytes_, report.bytesWhole, lastReport_.bytesWhole);
  if (seen_ && stats.machineReads > old.machineReads) {
    const bool failed = stats.machineFailures > old.machineFailures;
    for (CounterFamily* family : {&cpuInfo_, &numaInfo_})
      family->with({node_, failed ? "failed" : "succeeded"}).inc();
  }
  if (seen_ && stats.storageReads > old.storageReads)
    internal_
        .counters("koordlet_collect_node_local_storage_info_status",
                  "Readings of the disks' layout.", {"node", "status"})
        .with({node_, stats.storageFailures > old.storageFailures ? "failed" : "succeeded"})
        .inc();
  lastStats_ = stats;
  lastReport_ = report;
}

void AgentMetrics::tick(const TickCost& cost, const Look& look, const CollectorStats& stats,
                        const ReporterStats& report) {
  tickSeconds_.observe(asDouble(cost.duration));
  ticks_[tickCount_++ % ticks_.size()] = static_cast<float>(asDouble(cost.duration));
  latenessSeconds_.observe(asDouble(cost.lateness));
  if (cost.missed > 0) missed_.inc(static_cast<double>(cost.missed));
  openFiles_.set(static_cast<double>(stats.openFiles));
  podsGauge_.set(static_cast<double>(stats.pods));
  containersGauge_.set(static_cast<double>(stats.containers));
  historyBytes_.set(static_cast<double>(look.history->bytes()));
  counters(stats, report);
  const bool details =
      detailAt_ == MonoTime::min() || look.at - detailAt_ >= std::chrono::seconds(10);
  if (details) tickQuantiles();
  if (details && !seen_) detailAt_ = look.at;
  if (!seen_) return;
  if (look.node.usage.cpu) nodeCpu_.with({node_}).set(*look.node.usage.cpu);
  if (look.node.usage.memory)
    nodeMemory_.with({node_}).set(static_cast<double>(look.node.usage.memory->v));
  if (look.node.bestEffort.usage)
    beUsed_.with({node_}).set(static_cast<double>(look.node.bestEffort.usage->v) / 1000);
  // Series per pod change slowly and are many: every ten seconds is what the reference's kubelet
  // round and pressure collector do too.
  if (!details) return;
  detailAt_ = look.at;
  hostApps(look);
  yarn(look);
  pods(look);
  resctrl(look);
  podResctrl(look);
  devices(look);
  waiting(look);
  if (bookVersion_ != look.book->version()) podResources(look);
  bookVersion_ = look.book->version();
}

void AgentMetrics::tickQuantiles() {
  std::array<double, std::tuple_size_v<decltype(ticks_)>> sorted{};
  const size_t count = std::min<uint64_t>(tickCount_, ticks_.size());
  if (count == 0) return;
  std::copy_n(ticks_.begin(), count, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + static_cast<long>(count));
  tickP50_.set(sorted[count / 2]);
  tickP99_.set(sorted[count * 99 / 100]);
  tickMax_.set(sorted[count - 1]);
}

void AgentMetrics::hostApps(const Look& look) {
  hostApp_.removeIf([](const LabelValues&) { return true; });
  for (const HostAppLook& app : look.hostApps) {
    const auto gauge = [&](const char* resource) {
      return hostApp_.with({node_, std::string(app.name), resource,
                            std::string(api::bandName(app.band)),
                            std::string(api::qosName(app.qos))});
    };
    if (app.usage.cpu) gauge("cpu").set(*app.usage.cpu);
    if (app.usage.memory) gauge("memory").set(static_cast<double>(app.usage.memory->v));
  }
}

void AgentMetrics::yarn(const Look& look) {
  GaugeFamily& cores =
      internal_.gauges("mangrove_agent_yarn_application_cpu_cores",
                       "CPU that the processes of a YARN application use here, cores.",
                       {"node", "pod_namespace", "pod_name", "application"});
  GaugeFamily& memory =
      internal_.gauges("mangrove_agent_yarn_application_memory_bytes",
                       "Memory that the processes of a YARN application hold here, bytes.",
                       {"node", "pod_namespace", "pod_name", "application"});
  GaugeFamily& containers = internal_.gauges("mangrove_agent_yarn_application_containers",
                                             "Containers of a YARN application that run here.",
                                             {"node", "pod_namespace", "pod_name", "application"});
  for (GaugeFamily* family : {&cores, &memory, &containers})
    family->removeIf([](const LabelValues&) { return true; });
  for (const PodLook& pod : look.pods) {
    if (!pod.pod) continue;  // the book has forgotten it meanwhile
    for (const api::YarnUse& use : pod.yarn) {
      const LabelValues labels{node_, pod.pod->meta.ns.str(), pod.pod->meta.name.str(),
                               use.application};
      cores.with(labels).set(use.cores);
      memory.with(labels).set(static_cast<double>(use.memory.v));
      containers.with(labels).set(static_cast<double>(use.containers));
    }
  }
}

void AgentMetrics::pressure(const LabelValues& base, GaugeFamily& family, const PressureSet& set) {
  const std::string full = set.cpu && set.cpu->fullSupported ? "true" : "false";
  const auto stall = [&](const char* resource, const char* degree, const kernel::Stall& s) {
    const std::pair<const char*, double> rows[] = {
        {"avg10", s.avg10}, {"avg60", s.avg60}, {"avg300", s.avg300}};
    for (const auto& [precision, value] : rows) {
      LabelValues labels = base;
      for (const char* label : {resource, precision, degree}) labels.emplace_back(label);
      labels.push_back(full);
      family.with(labels).set(value);
    }
  };
  const std::pair<const char*, const std::optional<kernel::Pressure>*> kinds[] = {
      {"cpu", &set.cpu}, {"mem", &set.memory}, {"io", &set.io}};
  for (const auto& [resource, pressure] : kinds) {
    if (!*pressure) continue;
    stall(resource, "some", (*pressure)->some);
    if ((*pressure)->fullSupported) stall(resource, "full", (*pressure)->full);
  }
}

void AgentMetrics::pods(const Look& look) {
  for (GaugeFamily* family : {&cpi_, &containerPsi_, &podPsi_})
    family->removeIf([](const LabelValues&) { return true; });
  for (const PodLook& pod : look.pods) {
    if (!pod.pod) continue;
    const std::string uid = pod.pod->meta.uid.str(), name = pod.pod->meta.name.str(),
                      ns = pod.pod->meta.ns.str();
    pressure({node_, uid, name, ns}, podPsi_, pod.pressure);
    for (const ContainerLook& container : pod.containers) {
      if (container.name.empty()) continue;
      const LabelValues base{
          node_, std::string(container.fullId), std::string(container.name), uid, name, ns};
      pressure(base, containerPsi_, container.pressure);
      if (!container.counts) continue;
      LabelValues cycles = base, instructions = base;
      cycles.emplace_back("cycles");
      instructions.emplace_back("instructions");
      cpi_.with(cycles).set(container.counts->cycles);
      cpi_.with(instructions).set(container.counts->instructions);
    }
  }
}

// Unless told otherwise the unit labels are the reference's own, wrong ones and all: dashboards
// select by them.
void AgentMetrics::podResources(const Look& look) {
  for (GaugeFamily* family : {&requests_, &limits_})
    family->removeIf([](const LabelValues&) { return true; });
  look.book->each([&](const PodPtr& pod) {
    for (const api::Container& container : pod->spec->containers) {
      const api::ContainerStatus* status = pod->status.find(container.name);
      if (status == nullptr) continue;
      for (std::string_view resource : kExtended) {
        const auto labels = [&](const char* unit) {
          return LabelValues{node_,
                             std::string(resource),
                             rightUnits_ ? unitOf(resource) : unit,
                             pod->meta.uid.str(),
                             pod->meta.name.str(),
                             pod->meta.ns.str(),
                             status->containerId.str(),
                             container.name.str()};
        };
        if (const Quantity* q = container.requests.find(resource))
          requests_.with(labels("integer")).set(static_cast<double>(q->value()));
        if (const Quantity* q = container.limits.find(resource))
          limits_.with(labels("byte")).set(static_cast<double>(q->value()));
      }
    }
  });
}

// The raw counter under the reference's name, and what it grew per second under ours.
void AgentMetrics::bandwidth(const LabelValues& labels, uint64_t bytes, MonoTime at) {
  bandwidth_.with(labels).set(static_cast<double>(bytes));
  auto& rates =
      external_.gauges("mangrove_agent_resctrl_memory_bytes_per_second",
                       "Memory traffic of a class.", {"node", "cache_id", "qos", "mb_type"});
  auto& before = traffic_[join(labels, "/")];
  if (before.second != MonoTime{} && at > before.second && bytes >= before.first)
    rates.with(labels).set(static_cast<double>(bytes - before.first) /
                           asDouble(at - before.second));
  before = {bytes, at};
}

void AgentMetrics::resctrl(const Look& look) {
  for (const ResctrlLook& group : look.resctrl) {
    for (const kernel::CacheSample& cache : group.caches) {
      const std::string id = std::to_string(cache.cacheId), qos(group.group);
      if (cache.llcBytes) llc_.with({node_, id, qos}).set(static_cast<double>(*cache.llcBytes));
      if (cache.localBytes)
        bandwidth({node_, id, qos, "mbm_local_bytes"}, *cache.localBytes, look.at);
      if (cache.totalBytes)
        bandwidth({node_, id, qos, "mbm_total_bytes"}, *cache.totalBytes, look.at);
    }
  }
}

void AgentMetrics::podResctrl(const Look& look) {
  if (look.podResctrl.empty() && !podCaches_) return;
  podCaches_ = !look.podResctrl.empty();
  auto& caches = external_.gauges("mangrove_agent_pod_cache_bytes",
                                  "Last-level cache in use by a pod with a group of its own.",
                                  {"node", "pod_uid", "pod_name", "pod_namespace", "cache_id"});
  auto& traffic = external_.gauges("mangrove_agent_pod_memory_traffic_bytes",
                                   "Memory traffic of a pod since its group was made.",
                                   {"node", "pod_uid", "pod_name", "pod_namespace", "cache_id"});
  for (GaugeFamily* family : {&caches, &traffic})
    family->removeIf([](const LabelValues&) { return true; });
  for (const PodResctrlLook& one : look.podResctrl) {
    const auto pod = std::find_if(look.pods.begin(), look.pods.end(), [&](const PodLook& p) {
      return p.pod && p.pod->meta.uid.str() == one.uid;
    });
    if (pod == look.pods.end()) continue;
    for (const kernel::CacheSample& cache : one.caches) {
      const LabelValues values{node_, one.uid, pod->pod->meta.name.str(), pod->pod->meta.ns.str(),
                               std::to_string(cache.cacheId)};
      if (cache.llcBytes) caches.with(values).set(static_cast<double>(*cache.llcBytes));
      if (cache.totalBytes) traffic.with(values).set(static_cast<double>(*cache.totalBytes));
    }
  }
}

void AgentMetrics::pools(const CpuSet& shared, const CpuSet& bestEffort, bool perCpu) {
  if (!seen_) return;
  const auto one = [&](const char* cores, const char* info, const CpuSet& set) {
    internal_.gauges(cores, "CPUs of the pool.", {"node"})
        .with({node_})
        .set(static_cast<double>(set.size()));
    if (!perCpu) return;
    auto& members = internal_.gauges(info, "1 for each CPU of the pool.", {"node", "cpu"});
    members.removeIf([&](const LabelValues& v) {
      const auto cpu = parseInt<int>(v[1]);
      return !cpu || !set.contains(*cpu);
    });
    for (int cpu : set) members.with({node_, std::to_string(cpu)}).set(1);
  };
  one("koordlet_cpuset_share_pool_cpu_cores", "koordlet_cpuset_share_pool_info", shared);
  one("koordlet_cpuset_be_share_pool_cpu_cores", "koordlet_cpuset_be_share_pool_info", bestEffort);
}

void AgentMetrics::prediction(const Reclaim& reclaim) {
  if (!seen_) return;
  const auto both = [&](GaugeFamily& family, LabelValues base, const Amounts& amounts) {
    LabelValues cpu = base, memory = std::move(base);
    for (const char* label : {"cpu", "core"}) cpu.emplace_back(label);
    for (const char* label : {"memory", "byte"}) memory.emplace_back(label);
    family.with(cpu).set(static_cast<double>(amounts.cpu.v) / 1000);
    family.with(memory).set(static_cast<double>(amounts.memory.v));
  };
  auto& reclaimable = internal_.gauges("koordlet_node_predicted_resource_reclaimable",
                                       "Reclaimable from prod pods, by predictor.",
                                       {"node", "predictor", "resource", "unit"});
  auto& peak = internal_.gauges("koordlet_node_predicted_resource_peak",
                                "Peak to be expected, by predictor.",
                                {"node", "predictor", "resource", "unit"});
  auto& byClass = external_.gauges("koordlet_node_priority_resource_reclaimable",
                                   "Reclaimable from a priority class.",
                                   {"node", "priority", "resource", "unit"});
  auto& status = external_.gauges("koordlet_node_resource_priority_reclaimable_status",
                                  "0: predicted, 1: could not be.", {"node", "priority"});
  const std::string prod(api::bandName(api::PriorityBand::kProd));
  both(reclaimable, {node_, "podReclaimablePredictor"}, reclaim.byPods.reclaimable);
  both(peak, {node_, "podReclaimablePredictor"}, reclaim.byPods.peak);
  if (reclaim.byPriority) {
    both(reclaimable, {node_, "priorityReclaimablePredictor"}, reclaim.byPriority->reclaimable);
    both(peak, {node_, "priorityReclaimablePredictor"}, reclaim.byPriority->peak);
  }
  status.with({node_, prod}).set(reclaim.reclaimable ? 0 : 1);
  if (!reclaim.reclaimable || !reclaim.peak) return;
  both(reclaimable, {node_, "minPredictor"}, *reclaim.reclaimable);
  both(peak, {node_, "minPredictor"}, *reclaim.peak);
  both(byClass, {node_, prod}, *reclaim.reclaimable);
}

void AgentMetrics::status(const api::NodeMetricStatus& status) {
  if (!seen_ || !status.nodeMetric) return;
  const auto both = [&](GaugeFamily& family, LabelValues base, const api::ResourceMap& usage) {
    LabelValues cpu = base, memory = std::move(base);
    for (const char* label : {"cpu", "core"}) cpu.emplace_back(label);
    for (const char* label : {"memory", "byte"}) memory.emplace_back(label);
    family.with(cpu).set(static_cast<double>(usage.resources.cpu().v) / 1000);
    family.with(memory).set(static_cast<double>(usage.resources.memory().v));
  };
  auto& node = internal_.gauges("koordlet_node_metric_node_usage", "Reported node usage.",
                                {"node", "resource", "unit"});
  auto& system = internal_.gauges("koordlet_node_metric_system_usage", "Reported system usage.",
                                  {"node", "resource", "unit"});
  auto& numaNode = internal_.gauges("koordlet_node_metric_numa_node_usage", "Per NUMA node.",
                                    {"node", "numa_node_id", "resource", "unit"});
  auto& numaSystem = internal_.gauges("koordlet_node_metric_numa_system_usage", "Per NUMA node.",
                                      {"node", "numa_node_id", "resource", "unit"});
  both(node, {node_}, status.nodeMetric->nodeUsage);
  both(system, {node_}, status.nodeMetric->systemUsage);
  for (const api::NumaUsage& numa : status.nodeMetric->numaUsages) {
    both(numaNode, {node_, std::to_string(numa.numaNodeId)}, numa.nodeUsage);
    both(numaSystem, {node_, std::to_string(numa.numaNodeId)}, numa.systemUsage);
  }
}

}  // namespace mangrove::agent
