// mangrove explain pod NAME | mangrove explain -f pod.yaml: why a pod is where it is, or nowhere;
// and what the agent of its node holds for it.
#include <fmt/core.h>

#include "api/koordinator/node_metric.h"
#include "api/koordinator/yarn_use.h"
#include "api/pod/pod.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "cli/advice.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/explain_controls.h"
#include "cli/quota_view.h"
#include "cli/scheduler_config.h"
#include "cli/usage.h"
#include "cli/voice.h"
#include "frame/flags.h"
#include "json/yaml.h"
#include "net/loop.h"
#include "scheduler/explain/explain.h"

namespace mangrove::cli {

namespace {

struct Wanted {
  ClusterAccess access;
  AgentAccess agent;
  Output output;
  std::string config, file;
  std::vector<std::string> names;
  scheduler::ExplainRequest request;
};

// A pod, or the pod that a workload would make.
Result<json::Value> podIn(json::Value document, const std::string& file) {
  if (!document.is_object()) return invalid("{}: want a Pod", file);
  json::Object& object = document.get_object();
  const auto* kind = object.if_contains("kind");
  if (!kind || *kind == "Pod") return document;
  const auto* spec = object.if_contains("spec");
  const auto* made =
      spec && spec->is_object() ? spec->get_object().if_contains("template") : nullptr;
  if (!made || !made->is_object())
    return invalid("{}: want a Pod or something with a pod template, not a {}", file,
                   json::write(*kind));
  json::Object pod = made->get_object();
  json::Object& meta =
      pod["metadata"].is_object() ? pod["metadata"].get_object() : pod["metadata"].emplace_object();
  if (const auto* owner = object.if_contains("metadata"); owner && owner->is_object())
    for (auto key : {"namespace", "name"})
      if (const auto* value = owner->get_object().if_contains(key); value && !meta.contains(key))
        meta[key] = *value;
  return pod;
}

Result<> readManifest(Wanted& wanted) {
  if (wanted.file.empty()) return {};
  auto text = readFile(wanted.file);
  if (!text) return pass(text.error());
  auto document = json::parseYamlDocument(*text, wanted.file);
  if (!document) return pass(document.error());
  auto pod = podIn(std::move(*document), wanted.file);
  if (!pod) return pass(pod.error());
  wanted.request.manifest = json::write(*pod);
  return {};
}

// Of a pod that runs somewhere: what its node's agent holds for it and for its class.
Result<PodControls> heldFor(client::ApiClient& client, net::Loop& loop, const Wanted& wanted,
                            const std::string& node) {
  auto podText = client.get({client::kind::kPod, wanted.request.ns, wanted.request.name});
  auto nodeText = client.get({client::kind::kNode, "", node});
  if (!podText) return pass(podText.error());
  if (!nodeText) return pass(nodeText.error());
  auto pod = api::decodeText<api::Pod>(*podText);
  auto object = api::decodeText<api::Node>(*nodeText);
  if (!pod) return pass(pod.error());
  if (!object) return pass(object.error());
  auto told = askAgent(loop, wanted.agent, wanted.access, *object);
  if (!told) return pass(told.error());
  return podControls(*told, *pod);
}

// Of a pod that waits: what its quota and those above it say.
void addQuota(Told& told, client::ApiClient& client, const placement::SchedulerConfig& config,
              const Wanted& wanted) {
  auto text = client.get({client::kind::kPod, wanted.request.ns, wanted.request.name});
  const auto pod = text ? api::decodeText<api::Pod>(*text) : pass(text.error());
  const auto args = pod ? quotaArgsOf(config) : pass(pod.error());
  auto view = args ? QuotaView::load(client, *args) : pass(args.error());
  if (!view) {
    told.terms += fmt::format("\nQuota: not known: {}\n", view.error().text());
    return;
  }
  const std::string why = quotaWhy(**view, pod->meta.uid);
  if (why.empty()) return;
  told.terms += "\n" + why;
  if (auto page = placement::quotaPage((*view)->desk(), (*view)->picture().borrowings(),
                                       "pods/" + std::string(pod->meta.uid.str())))
    told.data["quota"] = std::move(*page);
}

void addControls(Told& told, const Result<PodControls>& held) {
  told.terms +=
      held ? "\n" + held->text : fmt::format("\nControls: not known: {}\n", held.error().text());
  told.data["controls"] =
      held ? held->controls : json::Value(json::Object{{"error", held.error().text()}});
  if (held && !held->limit.empty()) told.answer += "; " + held->limit;
}

// Of a NodeManager's pod: the applications of YARN whose containers run in it, as last reported.
void addApplications(Told& told, client::ApiClient& client, const Wanted& wanted,
                     const std::string& node) {
  const auto text = client.get({client::kind::kNodeMetric, "", node});
  const auto metric = text ? api::decodeText<api::NodeMetric>(*text) : pass(text.error());
  if (!metric) return;  // where nobody reports nobody measures YARN either
  for (const api::PodMetric& pod : metric->status.podsMetric) {
    if (pod.ns.view() != wanted.request.ns || pod.name.view() != wanted.request.name) continue;
    const std::vector<api::YarnUse> uses = api::yarnOf(pod);
    if (uses.empty()) continue;
    told.terms +=
        fmt::format("\nYARN applications, reported {}\n", formatTime(metric->status.updateTime));
    for (const api::YarnUse& use : uses)
      told.terms += fmt::format("  {}: {:.2f} cores, {} MiB, {} containers\n", use.application,
                                use.cores, use.memory.v / kMiB.v, use.containers);
    told.data["yarn"] = api::yarnJson(uses);
  }
}

// "shop/web" names the namespace too.
void splitName(Wanted& wanted) {
  if (wanted.names.empty()) return;
  const auto [ns, name, found] = cut(wanted.names[0], '/');
  if (found) wanted.request.ns = ns;
  wanted.request.name = found ? name : ns;
}

Result<Told> explain(Wanted& wanted) {
  if (auto ok = readManifest(wanted); !ok) return pass(ok.error());
  splitName(wanted);
  if (wanted.request.name.empty() && wanted.request.manifest.empty())
    return invalid("want the name of a pod, or -f FILE");
  net::Loop loop;
  auto client = wanted.access.open(loop);
  if (!client) return pass(client.error());
  auto config = schedulerConfigOf(wanted.config, **client);
  if (!config) return pass(config.error());
  auto found = scheduler::explainPod(**client, *config, wanted.request, realClock());
  if (!found) return pass(found.error());
  Told told = podVerdict(*found, !wanted.file.empty());
  told.terms = toText(*found);
  if (auto all = json::parse(toJsonText(*found)); all && all->is_object())
    told.data = all->get_object();
  if (!found->assignedTo.empty() && wanted.file.empty()) {
    addControls(told, heldFor(**client, loop, wanted, found->assignedTo));
    addApplications(told, **client, wanted, found->assignedTo);
  }
  if (found->assignedTo.empty() && wanted.file.empty()) addQuota(told, **client, *config, wanted);
  return told;
}

int tell(const std::string& command, const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags(command, "why a pod is where it is, or nowhere");
  wanted.access.declare(flags);
  flags.add("config", wanted.config, "KubeSchedulerConfiguration to judge by");
  flags.add("n", wanted.request.ns, "namespace of the pod");
  flags.add("f", wanted.file, "a manifest: judged as if it were created now");
  wanted.output.declare(flags);
  wanted.agent.declare(flags);
  flags.positionals("pod", wanted.names, "name of the pod, or namespace/name");
  if (const auto end = readArguments(flags, args)) return *end;
  const auto told = explain(wanted);
  return told ? say(*told, wanted.output) : complain(flags, told.error());
}

}  // namespace

int explainPod(const std::vector<std::string>& args) {
  return tell("mangrove explain pod", args);
}

int explainManifest(const std::vector<std::string>& args) {
  const bool isFlag = !args.empty() && args[0].starts_with("-");
  if (isFlag) return tell("mangrove explain", args);
  fmt::print(
      stderr,
      "mangrove explain: want 'explain node NAME', 'explain pod NAME', 'explain group NAME', "
      "'explain quota NAME', 'explain shape' or 'explain -f FILE'\n");
  return kWrongUsage;
}

}  // namespace mangrove::cli
