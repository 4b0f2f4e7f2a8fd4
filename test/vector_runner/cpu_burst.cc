#include "agent/qos/cpu_burst/burst.h"
#include "agent/qos/cpu_burst/limiter.h"
#include "vector_runner/enforce_support.h"

namespace mangrove::vectors {
namespace {

void staticBurst(const json::Object& c, Report& r) {
  auto pod = decoded<api::Pod>(member(c, "pod"), r, "pod");
  auto node = decoded<api::CpuBurstConfig>(member(c, "node_config"), r, "node_config");
  if (!pod || !node) return;
  const json::Object& want = c.at("expect").get_object();
  const api::CpuBurstConfig config = agent::burstConfigOf(*pod, *node);
  json::Object bursts;
  for (const api::Container& one : pod->spec->containers)
    bursts[one.name.view()] = agent::staticBurst(one.limits.cpu(), config);
  r.expect("burstable", member(want, "burstable"), agent::mayBurst(*pod));
  r.expect("config", member(want, "config"), toJson(config));
  r.expect("cfs_burst_us_by_container", member(want, "cfs_burst_us_by_container"), bursts);
}

void nodeState(const json::Object& c, Report& r) {
  std::vector<api::Pod> pods;
  std::vector<agent::PoolPod> pool;
  if (const auto* list = member(c, "pods").if_array())
    for (const json::Value& one : *list) {
      auto pod = decoded<api::Pod>(one.at("pod"), r, "pod");
      if (!pod) return;
      pods.push_back(*std::move(pod));
      const json::Value& used = member(one.get_object(), "used_cores");
      pool.push_back(
          {nullptr, used.is_number() ? std::optional(used.to_number<double>()) : std::nullopt});
    }
  for (size_t i = 0; i < pods.size(); ++i) pool[i].pod = &pods[i];
  const json::Value& used = member(c, "node_used_cores");
  const auto state = agent::sharePoolState(
      static_cast<size_t>(number(c, "processors")), pool,
      used.is_number() ? std::optional(used.to_number<double>()) : std::nullopt,
      static_cast<int64_t>(number(c, "sharePoolThresholdPercent")));
  r.expect("expect", member(c, "expect"), json::Value(agent::poolStateName(state)));
}

agent::PoolState stateOf(std::string_view name) {
  for (int i = 0; i < 4; ++i)
    if (agent::poolStateName(static_cast<agent::PoolState>(i)) == name)
      return static_cast<agent::PoolState>(i);
  return agent::PoolState::kUnknown;
}

}  // namespace

void cpuBurst(const json::Object& c, Report& r) {
  text(c, "op") == "node_state" ? nodeState(c, r) : staticBurst(c, r);
}

void cpuBurstLimiter(const json::Object& c, Report& r) {
  agent::TokenLimiter limiter(static_cast<int64_t>(number(c, "period_seconds")),
                              static_cast<int64_t>(number(c, "burst_percent")),
                              static_cast<int64_t>(number(c, "initial_tokens")));
  r.expect("capacity", member(c, "capacity"), limiter.capacity());
  for (const json::Value& one : c.at("steps").get_array()) {
    const json::Object& step = one.get_object();
    const bool allowed =
        limiter.use(std::chrono::milliseconds(static_cast<int64_t>(number(step, "dt_ms"))),
                    static_cast<int64_t>(number(step, "usage_percent")));
    r.expect("allowed", member(step, "allowed"), allowed);
    r.expect("tokens", member(step, "tokens"), limiter.tokens());
  }
}

void cpuBurstQuota(const json::Object& c, Report& r) {
  struct One {
    MilliCpu limit;
    int64_t quota;
  };
  std::vector<One> containers;
  for (const json::Value& one : c.at("containers").get_array())
    containers.push_back({{static_cast<int64_t>(number(one.get_object(), "limit_milli"))},
                          static_cast<int64_t>(number(one.get_object(), "initial_quota_us"))});
  auto pod = static_cast<int64_t>(number(c, "initial_pod_quota_us"));
  api::CpuBurstConfig config;
  config.policy = text(c, "policy");
  agent::BurstRound round;
  round.scales = agent::scalesQuota(config);
  if (member(c, "cfsQuotaBurstPercent").is_number())
    round.burstPercent = static_cast<int64_t>(number(c, "cfsQuotaBurstPercent"));
  for (const json::Value& one : c.at("steps").get_array()) {
    const json::Object& step = one.get_object();
    round.node = stateOf(text(step, "node_state"));
    const json::Array& throttled = step.at("throttled_ratio").get_array();
    json::Array quotas;
    int64_t delta = 0;
    for (size_t i = 0; i < containers.size(); ++i) {
      round.throttled =
          throttled[i].is_number() ? std::optional(throttled[i].to_number<double>()) : std::nullopt;
      const int64_t next = agent::nextQuota(containers[i].quota, containers[i].limit, round);
      delta += next - containers[i].quota;
      containers[i].quota = next;
      quotas.push_back(next);
    }
    if (pod > 0) pod += delta;
    r.expect("expect_container_quota_us", member(step, "expect_container_quota_us"), quotas);
    r.expect("expect_pod_quota_us", member(step, "expect_pod_quota_us"), pod);
  }
}

}  // namespace mangrove::vectors
