// mangrove explain pod NAME | mangrove explain -f pod.yaml: why a pod is where it is, or nowhere;
// and what the agent of its node holds for it.
#include <fmt/core.h>

#include "agent/qos/controls_text.h"
#include "api/pod.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/explain_controls.h"
#include "client/http_api_client.h"
#include "client/kubeconfig.h"
#include "frame/flags.h"
#include "json/yaml.h"
#include "net/loop.h"
#include "scheduler/explain/explain.h"

namespace mangrove::cli {

namespace {

struct Wanted {
  std::string kubeconfig, context, config, file, agent, output = "text";
  std::vector<std::string> names;
  scheduler::ExplainRequest request;
};

Result<scheduler::SchedulerConfig> configOf(const Wanted& wanted) {
  if (wanted.config.empty())
    return scheduler::defaultConfig({"koord-scheduler", "default-scheduler"});
  auto text = readFile(wanted.config);
  if (!text) return pass(text.error());
  return scheduler::readConfig(*text, wanted.config);
}

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

struct Held {
  json::Value controls;
  std::string text;
};

// Of a pod that runs somewhere.
Result<Held> heldFor(client::ApiClient& client, net::Loop& loop, const Wanted& wanted,
                     const std::string& node) {
  auto podText = client.get({client::kind::kPod, wanted.request.ns, wanted.request.name});
  auto nodeText = client.get({client::kind::kNode, "", node});
  if (!podText) return pass(podText.error());
  if (!nodeText) return pass(nodeText.error());
  auto pod = api::decodeText<api::Pod>(*podText);
  auto object = api::decodeText<api::Node>(*nodeText);
  if (!pod) return pass(pod.error());
  if (!object) return pass(object.error());
  auto told = askAgent(loop, agentAddress(wanted.agent, *object));
  if (!told) return pass(told.error());
  const std::string uid = pod->meta.uid.str();
  return Held{agent::controlsOf(*told, uid), agent::controlsText(*told, uid)};
}

std::string join(const scheduler::Explanation& found, const std::string& output,
                 const Result<Held>& held) {
  if (output != "json")
    return toText(found) + "\n" +
           (held ? held->text : fmt::format("Controls: not known: {}\n", held.error().text()));
  auto all = json::parse(toJsonText(found));
  if (!all || !all->is_object()) return toJsonText(found);
  all->get_object()["controls"] =
      held ? held->controls : json::Value(json::Object{{"error", held.error().text()}});
  return json::write(*all) + "\n";
}

Result<std::string> explain(Wanted wanted) {
  if (auto ok = readManifest(wanted); !ok) return pass(ok.error());
  if (!wanted.names.empty()) wanted.request.name = wanted.names[0];
  if (wanted.request.name.empty() && wanted.request.manifest.empty())
    return invalid("want the name of a pod, or -f FILE");
  auto config = configOf(wanted);
  if (!config) return pass(config.error());
  client::ConfigRequest where;
  where.kubeconfig = wanted.kubeconfig;
  where.context = wanted.context;
  auto resolved = client::loadClientConfig(where);
  if (!resolved) return pass(resolved.error());
  net::Loop loop;
  auto client = client::HttpApiClient::make(loop, realClock(), *resolved, {.perSecond = 0});
  if (!client) return pass(client.error());
  auto found = scheduler::explainPod(**client, *config, wanted.request, realClock());
  if (!found) return pass(found.error());
  if (found->assignedTo.empty() || !wanted.file.empty())
    return wanted.output == "json" ? toJsonText(*found) : toText(*found);
  return join(*found, wanted.output, heldFor(**client, loop, wanted, found->assignedTo));
}

}  // namespace

namespace {

int tell(const std::string& command, const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags(command, "why a pod is where it is, or nowhere");
  flags.add("kubeconfig", wanted.kubeconfig, "file with the API server's address and credentials");
  flags.add("context", wanted.context, "context of the kubeconfig");
  flags.add("config", wanted.config, "KubeSchedulerConfiguration to judge by");
  flags.add("n", wanted.request.ns, "namespace of the pod");
  flags.add("f", wanted.file, "a manifest: judged as if it were created now");
  flags.add("o", wanted.output, "text or json");
  flags.add("agent", wanted.agent, "the agent's address; default: the node's, port 9316");
  flags.positionals("pod", wanted.names, "name of the pod");
  auto go = flags.parse(args);
  if (!go) {
    fmt::print(stderr, "{}: {}\n", command, go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  auto text = explain(std::move(wanted));
  if (!text) {
    fmt::print(stderr, "{}: {}\n", command, text.error().text());
    return kFailed;
  }
  fmt::print("{}", *text);
  return 0;
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
      "mangrove explain: want 'explain node NAME', 'explain pod NAME' or 'explain -f FILE'\n");
  return kWrongUsage;
}

}  // namespace mangrove::cli
