// mangrove explain pod NAME | mangrove explain pod -f pod.yaml: why a pod is where it is, or
// nowhere.
#include <fmt/core.h>

#include "base/files.h"
#include "cli/command.h"
#include "client/http_api_client.h"
#include "client/kubeconfig.h"
#include "frame/flags.h"
#include "json/yaml.h"
#include "net/loop.h"
#include "scheduler/explain/explain.h"

namespace mangrove::cli {

namespace {

struct Wanted {
  std::string kubeconfig, context, config, file, output = "text";
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

Result<> readManifest(Wanted& wanted) {
  if (wanted.file.empty()) return {};
  auto text = readFile(wanted.file);
  if (!text) return pass(text.error());
  auto document = json::parseYamlDocument(*text, wanted.file);
  if (!document) return pass(document.error());
  wanted.request.manifest = json::write(*document);
  return {};
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
  return wanted.output == "json" ? toJsonText(*found) : toText(*found);
}

}  // namespace

int explainPod(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove explain pod", "why a pod is where it is, or nowhere");
  flags.add("kubeconfig", wanted.kubeconfig, "file with the API server's address and credentials");
  flags.add("context", wanted.context, "context of the kubeconfig");
  flags.add("config", wanted.config, "KubeSchedulerConfiguration to judge by");
  flags.add("n", wanted.request.ns, "namespace of the pod");
  flags.add("f", wanted.file, "a manifest: judged as if it were created now");
  flags.add("o", wanted.output, "text or json");
  flags.positionals("pod", wanted.names, "name of the pod");
  auto go = flags.parse(args);
  if (!go) {
    fmt::print(stderr, "mangrove explain pod: {}\n", go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  auto text = explain(std::move(wanted));
  if (!text) {
    fmt::print(stderr, "mangrove explain pod: {}\n", text.error().text());
    return kFailed;
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace mangrove::cli
