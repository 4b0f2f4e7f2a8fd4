#include "placement/testing/random_objects.h"

#include <fmt/core.h>

namespace mangrove::placement {

std::string pick(Rng& rng, std::initializer_list<std::string_view> words) {
  return std::string(*(words.begin() + rng.below(words.size())));
}

std::string randomNode(Rng& rng, size_t number, const NodeExtras& extras) {
  std::string labels = fmt::format(R"("kubernetes.io/hostname":"n{}"{})", number, extras.labels);
  if (rng.chance(0.9))
    labels += fmt::format(R"(,"topology.kubernetes.io/zone":"{}")", pick(rng, {"a", "b", "c"}));
  if (rng.chance(0.5)) labels += fmt::format(R"(,"disk":"{}")", pick(rng, {"ssd", "hdd"}));
  std::string taints;
  if (rng.chance(0.3))
    taints = fmt::format(R"({{"key":"{}","effect":"{}"}})", pick(rng, {"k", "l"}),
                         pick(rng, {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
  const int64_t cpu = extras.cpu != 0 ? extras.cpu : 1 + static_cast<int64_t>(rng.below(8));
  std::string images;
  for (auto image : {"web:latest", "db:1"})
    if (rng.chance(0.3))
      images += fmt::format(R"({}{{"names":["{}"],"sizeBytes":{}}})", images.empty() ? "" : ",",
                            image, 400'000'000);
  return fmt::format(
      R"({{"metadata":{{"name":"n{}","labels":{{{}}},"annotations":{{{}}}}},
          "spec":{{"unschedulable":{},"taints":[{}]}},
          "status":{{"images":[{}],"allocatable":{{"cpu":"{}","memory":"{}Gi","pods":"{}"{}}}}}}})",
      number, labels, extras.annotations, rng.chance(0.05), taints, images, cpu, 1 + rng.below(16),
      1 + rng.below(12), rng.chance(0.3) ? R"(,"kubernetes.io/batch-cpu":"4000")" : "");
}

namespace {

std::string randomTerm(Rng& rng) {
  return fmt::format(R"({{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}{}}})",
                     pick(rng, {"kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk"}),
                     pick(rng, {"x", "y"}),
                     rng.chance(0.3) ? R"(,"namespaces":["default","other"])" : "");
}

std::string randomAffinity(Rng& rng) {
  std::string out;
  for (auto kind : {"podAffinity", "podAntiAffinity"}) {
    if (rng.chance(0.7)) continue;
    if (rng.chance(0.5))
      out += fmt::format(R"(,"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}})", kind,
                         randomTerm(rng));
    else
      out += fmt::format(
          R"(,"{}":{{"preferredDuringSchedulingIgnoredDuringExecution":[
              {{"weight":{},"podAffinityTerm":{}}}]}})",
          kind, 1 + rng.below(100), randomTerm(rng));
  }
  if (rng.chance(0.25))
    out += fmt::format(
        R"(,"nodeAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},
            "preference":{{"matchExpressions":[{{"key":"disk","operator":"In","values":["{}"]}}]}}}}]}})",
        1 + rng.below(100), pick(rng, {"ssd", "hdd"}));
  return out.empty() ? "" : fmt::format(R"(,"affinity":{{{}}})", out.substr(1));
}

std::string randomSpread(Rng& rng) {
  if (rng.chance(0.6)) return "";
  return fmt::format(
      R"(,"topologySpreadConstraints":[{{"maxSkew":{},"topologyKey":"{}","whenUnsatisfiable":"{}",
          "nodeTaintsPolicy":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}}}])",
      1 + rng.below(2),
      pick(rng, {"kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk"}),
      pick(rng, {"DoNotSchedule", "ScheduleAnyway"}), pick(rng, {"Ignore", "Honor"}),
      pick(rng, {"x", "y"}));
}

std::string randomRequests(Rng& rng) {
  std::string requests;
  if (rng.chance(0.8)) requests = fmt::format(R"("cpu":"{}m")", 100 * (1 + rng.below(20)));
  if (rng.chance(0.7))
    requests +=
        fmt::format(R"({}"memory":"{}Mi")", requests.empty() ? "" : ",", 128 * (1 + rng.below(20)));
  if (rng.chance(0.1))
    requests += fmt::format(R"({}"kubernetes.io/batch-cpu":"500")", requests.empty() ? "" : ",");
  return requests;
}

}  // namespace

std::string randomPod(Rng& rng, size_t number, const PodExtras& extras) {
  std::string spec = extras.spec;
  if (rng.chance(0.2))
    spec += fmt::format(R"(,"nodeSelector":{{"disk":"{}"}})", pick(rng, {"ssd", "hdd"}));
  if (rng.chance(0.4))
    spec += fmt::format(R"(,"tolerations":[{{"key":"{}","operator":"Exists"}}])",
                        pick(rng, {"k", "l"}));
  if (rng.chance(extras.constraints)) spec += randomSpread(rng) + randomAffinity(rng);
  const std::string requests = extras.requests.empty() ? randomRequests(rng) : extras.requests;
  const std::string ports =
      rng.chance(0.1) ? fmt::format(R"(,"ports":[{{"hostPort":{}}}])", 80 + rng.below(2)) : "";
  const std::string ns = extras.ns.empty() ? pick(rng, {"default", "other"}) : extras.ns;
  return fmt::format(
      R"({{"metadata":{{"name":"p{}","namespace":"{}","labels":{{"app":"{}"{}}},"annotations":{{{}}}}},
          "spec":{{"schedulerName":"plain","preemptionPolicy":"Never",
          "containers":[{{"name":"c","image":"{}","resources":{{"requests":{{{}}}{}}}{}}}]{}}}}})",
      number, ns, pick(rng, {"x", "y", "z"}), extras.labels, extras.annotations,
      pick(rng, {"web", "db:1", "cache"}), requests, extras.limits, ports, spec);
}

}  // namespace mangrove::placement
