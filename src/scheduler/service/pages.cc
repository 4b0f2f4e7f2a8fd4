#include "scheduler/service/pages.h"

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "base/text/strings.h"
#include "json/value.h"

namespace mangrove::scheduler {

namespace {

std::string inSeconds(Duration duration) {
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

json::Value toJson(const ProfileConfig& profile) {
  json::Object plugins;
  for (const auto& [point, enabled] : profile.points) {
    json::Array list;
    for (const auto& plugin : enabled) {
      json::Object one{{"name", plugin.name}};
      if (plugin.weight != 0) one["weight"] = plugin.weight;
      list.push_back(std::move(one));
    }
    plugins[point] = json::Object{{"enabled", std::move(list)}};
  }
  json::Array args;
  for (const auto& [name, value] : profile.args)
    args.push_back(json::Object{{"name", name}, {"args", value}});
  json::Object out{{"schedulerName", profile.schedulerName}, {"plugins", std::move(plugins)}};
  if (!args.empty()) out["pluginConfig"] = std::move(args);
  if (profile.percentageOfNodesToScore)
    out["percentageOfNodesToScore"] = *profile.percentageOfNodesToScore;
  return out;
}

void addLines(std::string& out, std::string_view name, const PodInfo& pod,
              const api::ResourceList& amounts) {
  for (const auto& entry : amounts) {
    const std::string_view resource = entry.name.view();
    const double value = resource == "cpu" ? static_cast<double>(entry.amount.milliValue()) / 1000
                                           : static_cast<double>(entry.amount.value());
    const std::string_view unit = resource == "cpu"      ? "cores"
                                  : resource == "memory" ? "bytes"
                                                         : "integer";
    out += fmt::format(
        R"({}{{namespace="{}",pod="{}",node="{}",scheduler="{}",priority="{}",resource="{}",unit="{}"}} {})"
        "\n",
        name, pod.pod->meta.ns.view(), pod.pod->meta.name.view(), pod.nodeName.view(),
        pod.pod->spec->schedulerName.view(), pod.cls->priority, resource, unit, value);
  }
}

}  // namespace

std::string configPage(const SchedulerConfig& config) {
  json::Array profiles;
  for (const auto& profile : config.profiles) profiles.push_back(toJson(profile));
  const auto& lease = config.leaderElection;
  json::Object out{
      {"apiVersion", "kubescheduler.config.k8s.io/v1"},
      {"kind", "KubeSchedulerConfiguration"},
      {"percentageOfNodesToScore", config.percentageOfNodesToScore},
      {"podInitialBackoffSeconds",
       std::chrono::duration_cast<std::chrono::seconds>(config.podInitialBackoff).count()},
      {"podMaxBackoffSeconds",
       std::chrono::duration_cast<std::chrono::seconds>(config.podMaxBackoff).count()},
      {"leaderElection", json::Object{{"leaderElect", lease.leaderElect},
                                      {"leaseDuration", inSeconds(lease.leaseDuration)},
                                      {"renewDeadline", inSeconds(lease.renewDeadline)},
                                      {"retryPeriod", inSeconds(lease.retryPeriod)},
                                      {"resourceLock", "leases"},
                                      {"resourceName", lease.resourceName},
                                      {"resourceNamespace", lease.resourceNamespace}}},
      {"profiles", std::move(profiles)}};
  return json::write(json::Object{{"componentconfig", std::move(out)}});
}

std::string resourcePage(const Cluster& cluster) {
  std::string requests =
      "# HELP kube_pod_resource_request What pods ask of their nodes.\n"
      "# TYPE kube_pod_resource_request gauge\n";
  std::string limits =
      "# HELP kube_pod_resource_limit What pods may use at most.\n"
      "# TYPE kube_pod_resource_limit gauge\n";
  cluster.eachPod([&](const PodPtr& pod) {
    addLines(requests, "kube_pod_resource_request", *pod, api::podRequests(*pod->pod->spec));
    addLines(limits, "kube_pod_resource_limit", *pod, api::podLimits(*pod->pod->spec));
  });
  return requests + limits;
}

ServiceAnswer setDebugFlag(DebugFlags& flags, std::string_view name, std::string_view value) {
  const bool isNumber = name == "s" || name == "v";
  if (!isNumber && name != "f" && name != "d" && name != "db")
    return {404, fmt::format("no flag '{}': want v, s, f, d or db\n", name)};
  const auto number = parseInt<int64_t>(value);
  const bool yes = value == "true" || value == "1";
  const bool good = isNumber ? number && *number >= 0 : yes || value == "false" || value == "0";
  if (!good)
    return {400, fmt::format("flag {}: '{}' is not {}\n", name, value,
                             name == "s"   ? "a number of nodes"
                             : name == "v" ? "a verbosity, 0 or more"
                                           : "true or false")};
  if (name == "s") flags.topScores = *number;
  if (name == "v") flags.verbosity = *number;
  if (name == "f") flags.filters = yes;
  if (name == "d") flags.diagnosis = yes;
  return {200, fmt::format("successfully set flag {} to {}\n", name, value)};
}

}  // namespace mangrove::scheduler
