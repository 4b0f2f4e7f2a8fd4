// Suppression of best-effort CPU (docs/enforce.md): the budget, the CPUs, the quota.
#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "api/annotations/node.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using agent::Cpus;

Cpus processors(const json::Object& c) {
  Cpus out;
  for (const auto& row : c.at("processors").get_array()) {
    const auto& cells = row.get_array();
    auto cell = [&](size_t i) { return cells[i].to_number<int>(); };
    kernel::LogicalCpu cpu;
    cpu.id = cell(0);
    cpu.core = cell(1);
    cpu.socket = cell(2);
    cpu.node = cell(3);
    out.push_back(cpu);
  }
  return out;
}

CpuSet cpus(std::string_view text) {
  return CpuSet::parse(text).value_or(CpuSet());
}

void addPods(const json::Object& c, agent::SuppressInputs& in) {
  const json::Object& used = c.at("pod_used_cores_by_uid").get_object();
  std::map<std::string, double> services;
  for (const auto& [uid, cores] : used) services[std::string(uid)] = cores.to_number<double>();
  for (const auto& [uid, cores] : services) in.podsUsed += cores;
  for (const auto& one : c.at("pods").get_array()) {
    auto pod = api::decodeText<api::Pod>(json::write(one));
    if (pod && agent::isBestEffort(*pod)) services.erase(pod->meta.uid.str());
  }
  for (const auto& [uid, cores] : services) in.servicePodsUsed += cores;
}

void addApps(const json::Object& c, agent::SuppressInputs& in) {
  const json::Object& used = c.at("host_app_used_cores_by_name").get_object();
  for (const auto& one : c.at("host_applications").get_array()) {
    auto app = api::decodeText<api::HostApplication>(json::write(one));
    const auto* cores = app ? used.if_contains(app->name) : nullptr;
    if (!cores) continue;
    in.appsUsed += cores->to_number<double>();
    if (!agent::isBestEffort(*app)) in.serviceAppsUsed += cores->to_number<double>();
  }
}

api::Annotations annotated(std::string_view key, std::string_view value) {
  api::Annotations out;
  if (!value.empty()) out.set(key, value);
  return out;
}

}  // namespace

void cpuSuppressBudget(const json::Object& c, Report& r) {
  auto node = api::decodeText<api::Node>(json::write(c.at("node")));
  if (!node) return r.mismatch("node", "decodes", node.error().text());
  agent::SuppressInputs in;
  in.capacity = node->status.capacity.cpu();
  in.reserved = agent::reservedCpu(*node);
  in.nodeUsed = number(c, "node_used_cores");
  in.thresholdPercent = static_cast<int64_t>(number(c, "cpuSuppressThresholdPercent"));
  if (member(c, "cpuSuppressMinPercent").is_number())
    in.minPercent = static_cast<int64_t>(number(c, "cpuSuppressMinPercent"));
  addPods(c, in);
  addApps(c, in);
  r.expect("expect_milli", member(c, "expect_milli"), agent::suppressBudget(in).v);
}

void cpuSuppressPick(const json::Object& c, Report& r) {
  json::Array got;
  for (int cpu : agent::pickCpus(processors(c), static_cast<size_t>(number(c, "want_cpus"))))
    got.push_back(cpu);
  r.expect("expect_in_order", member(c, "expect_in_order"), got);
}

void cpuSuppressCpuset(const json::Object& c, Report& r) {
  agent::SuppressCpus in;
  in.machine = processors(c);
  in.present = cpus(text(c, "old_cpuset"));
  in.budget = {static_cast<int64_t>(number(c, "suppress_milli"))};
  for (const auto& one : c.at("bound_pods").get_array()) {
    const json::Object& pod = one.get_object();
    in.bound.push_back({api::parseQos(text(pod, "qos")), cpus(text(pod, "cpuset"))});
  }
  auto reserved = api::parseNodeReservation(
      annotated("node.koordinator.sh/reservation", text(c, "reservation_annotation")));
  if (reserved && *reserved) in.reserved = cpus((*reserved)->reservedCpus);
  auto system = api::parseSystemQosResource(
      annotated("node.koordinator.sh/system-qos-resource", text(c, "system_qos_annotation")));
  if (system && *system && (*system)->isExclusive()) in.system = cpus((*system)->cpuset);
  r.expect("expect_cpuset", json::Value(cpus(text(c, "expect_cpuset")).text()),
           json::Value(agent::suppressCpus(in).text()));
  r.expect("expect_recover_cpuset", member(c, "expect_recover_cpuset"),
           json::Value(agent::recoverCpus(in).text()));
}

void cpuSuppressQuota(const json::Object& c, Report& r) {
  auto capacity = Quantity::parse(text(c, "capacity_cpu"));
  if (!capacity) return r.mismatch("capacity_cpu", "a quantity", capacity.error().text());
  r.expect("expect_quota_us", member(c, "expect_quota_us"),
           agent::suppressQuota(
               {static_cast<int64_t>(number(c, "suppress_milli"))}, capacity->value(),
               kernel::CpuQuota::ofUs(static_cast<int64_t>(number(c, "current_quota_us"))))
               .signedUs());
}

}  // namespace mangrove::vectors
