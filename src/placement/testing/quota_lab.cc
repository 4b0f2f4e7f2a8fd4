#include "placement/testing/quota_lab.h"

#include <fmt/format.h>

#include "base/check.h"

namespace mangrove::placement {

namespace {

SchedulerConfig withArgs(const json::Object& args, QuotaGates gates) {
  SchedulerConfig config = defaultConfig({"default-scheduler"});
  for (ProfileConfig& profile : config.profiles) profile.args["ElasticQuota"] = args;
  config.quotaGates = gates;
  return config;
}

}  // namespace

QuotaLab::QuotaLab(const json::Object& args, QuotaGates gates) : lab(withArgs(args, gates)) {}

void QuotaLab::machine(const std::string& name, int cpu) {
  lab.node(fmt::format(
      R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"{}","pods":"110"}}}}}})",
      name, cpu));
}

void QuotaLab::quota(const std::string& name, const Terms& terms) {
  std::string notes = terms.annotations;
  if (terms.weight > 0)
    notes +=
        fmt::format(R"({}"quota.scheduling.koordinator.sh/shared-weight":"{{\"cpu\":\"{}\"}}")",
                    notes.empty() ? "" : ",", terms.weight);
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"ns","annotations":{{{}}},"labels":{{
           "quota.scheduling.koordinator.sh/parent":"{}",
           "quota.scheduling.koordinator.sh/allow-lent-resource":"{}",
           "quota.scheduling.koordinator.sh/is-parent":"{}"}}}},
          "spec":{{"min":{{"cpu":"{}"}},"max":{{"cpu":"{}"}}}}}})",
      name, notes, terms.parent, terms.lends, terms.isParent, terms.min, terms.max);
  auto object = api::decodeText<api::ElasticQuota>(text);
  CHECK(object.has_value(), "{}", object.error().text());
  lab.cluster().putQuota("ns/" + name, std::make_shared<api::ElasticQuota>(std::move(*object)));
}

void QuotaLab::dropQuota(const std::string& name) {
  lab.cluster().putQuota("ns/" + name, nullptr);
}

void QuotaLab::ask(const std::string& name, const std::string& quota, int cpu, const Ask& more) {
  lab.pod(fmt::format(
      R"({{"metadata":{{"name":"{}","annotations":{{{}}},"labels":{{
           "quota.scheduling.koordinator.sh/name":"{}"{}{}}}}},
          "spec":{{"priority":{},"containers":[{{"name":"c",
            "resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
      name, more.annotations, quota, more.labels.empty() ? "" : ",", more.labels, more.priority,
      cpu));
}

void QuotaLab::gangMember(const std::string& name, const std::string& quota, int cpu,
                          const std::string& gang, int needs, int priority) {
  ask(name, quota, cpu,
      {.priority = priority,
       .annotations = fmt::format(R"("gang.scheduling.koordinator.sh/name":"{}",
           "gang.scheduling.koordinator.sh/min-available":"{}")",
                                  gang, needs)});
}

json::Value QuotaLab::page(const std::string& path) {
  return lab.engine().profiles().front()->find("ElasticQuota")->serve(path).value_or(nullptr);
}

std::string QuotaLab::amountOf(const std::string& quota, std::string_view member) {
  const json::Value shown = page("quotas/" + quota);
  if (!shown.is_object()) return "no quota";
  const json::Value* cpu = shown.as_object().at(member).as_object().if_contains("cpu");
  return cpu ? std::string(cpu->as_string()) : "0";
}

std::string QuotaLab::used(const std::string& quota) {
  return amountOf(quota, "used");
}
std::string QuotaLab::runtime(const std::string& quota) {
  return amountOf(quota, "runtime");
}

void QuotaLab::settle(int seconds) {
  for (int i = 0; i < seconds; i++) {
    lab.run();
    lab.wait(std::chrono::seconds(1));
  }
  lab.run();
}

}  // namespace mangrove::placement
