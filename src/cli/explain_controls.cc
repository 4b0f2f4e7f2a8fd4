#include "cli/explain_controls.h"

#include <fmt/format.h>

#include "agent/qos/controls_text.h"
#include "api/pod/classes.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "kernel/resource_names.h"
#include "net/client/http_client.h"
#include "net/http/url.h"
#include "net/loopback.h"

namespace mangrove::cli {
namespace {

constexpr int kAgentPort = 9316;
constexpr Duration kPatience = std::chrono::seconds(3);

std::string textAt(const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

// The group all best-effort pods share, not one of them.
bool isBestEffortGroup(std::string_view cgroup) {
  const auto last = cgroup.substr(cgroup.rfind('/') + 1);
  return last == "besteffort" || last == "kubepods-besteffort" ||
         last == "kubepods-besteffort.slice";
}

json::Array filesOfClass(const json::Value& told) {
  json::Array out;
  const json::Object* top = told.if_object();
  const json::Value* files = top ? top->if_contains("files") : nullptr;
  if (!files || !files->is_array()) return out;
  for (const json::Value& one : files->get_array())
    if (const auto* file = one.if_object(); file && isBestEffortGroup(textAt(*file, "cgroup")))
      out.push_back(one);
  return out;
}

bool isQuota(std::string_view file) {
  return file == kernel::resource_name::kCpuQuota;
}

// "cpu-suppress holds all best-effort pods together to cpu.cfs_quota_us = 2000: …", or that it
// leaves them free and why. A quota says more than the CPUs it is used on.
std::string limitIn(const json::Array& files) {
  std::string cpus;
  for (const json::Value& one : files) {
    const auto& file = one.get_object();
    const std::string name = textAt(file, "file"), now = textAt(file, "now");
    const bool free = now == "-1" || now.starts_with("max");
    const auto clause = [&] {
      return fmt::format("{} {} {} = {}: {}", textAt(file, "owner"),
                         free ? "leaves best-effort pods all the time nobody else needs,"
                              : "holds all best-effort pods together to",
                         name, now, textAt(file, "why"));
    };
    if (isQuota(name)) return clause();
    if (name == kernel::resource_name::kCpuset) cpus = clause();
  }
  return cpus;
}

Result<std::string> tokenOf(const AgentAccess& access, const ClusterAccess& cluster,
                            const net::Url& agent) {
  if (access.tokenFile.empty()) {
    const auto config = net::isLoopback(agent.host)
                            ? cluster.config()
                            : Result<client::ClientConfig>(client::ClientConfig());
    return config ? config->token : std::string();
  }
  auto text = readFile(access.tokenFile);
  if (!text) return text.error().in("--token-file");
  return std::string(trim(*text));
}

}  // namespace

void AgentAccess::declare(frame::Flags& flags) {
  flags.add("agent", address,
            "the agent's address; default: as the Node says, else its address and port 9316");
  flags.add(
      "token-file", tokenFile,
      "file with a token the agent's pages accept; default: the kubeconfig's own, on this machine");
}

std::string agentAddress(const std::string& said, const api::Node& node) {
  if (!said.empty()) return said.find("://") == std::string::npos ? "http://" + said : said;
  if (const auto own = node.meta.annotations.get(kAgentAddress)) return std::string(*own);
  for (const api::NodeAddress& one : node.status.addresses)
    if (one.type.view() == "InternalIP")
      return fmt::format("http://{}:{}", one.address.view(), kAgentPort);
  return fmt::format("http://127.0.0.1:{}", kAgentPort);
}

Result<json::Value> askAgent(net::Loop& loop, const AgentAccess& access,
                             const ClusterAccess& cluster, const api::Node& node,
                             std::string path) {
  const std::string address = agentAddress(access.address, node);
  auto url = net::Url::parse(address);
  if (!url) return url.error().in("--agent '{}'", address);
  const auto token = tokenOf(access, cluster, *url);
  if (!token) return pass(token.error());
  auto client = net::HttpClient::create(loop, {.base = *url, .connectTimeout = kPatience});
  if (!client) return pass(client.error());
  net::HttpRequest request;
  request.target = path;
  if (!token->empty()) request.headers.set("Authorization", "Bearer " + *token);
  auto answer = (*client)->call(std::move(request), {.timeout = kPatience});
  if (!answer) return answer.error().in("the agent at {}", address);
  if (answer->status == 401)
    return fail(Code::kUnauthorized, "the agent at {} wants a token: --token-file", address);
  if (answer->status != 200)
    return fail(Code::kUnavailable, "the agent at {} answers {} to {}: it does not {}", address,
                answer->status, path, path == "/controls" ? "enforce" : "serve that");
  return json::parse(answer->body);
}

PodControls podControls(const json::Value& told, const api::Pod& pod) {
  PodControls out;
  const std::string uid = pod.meta.uid.str();
  out.controls = agent::controlsOf(told, uid);
  out.text = agent::controlsText(told, uid);
  if (api::qosWithDefault(pod) != api::Qos::kBe) return out;
  json::Array shared = filesOfClass(told);
  out.limit = limitIn(shared);
  if (shared.empty()) return out;
  const json::Value group = json::Object{
      {"enforcement", "of all best-effort pods"}, {"files", shared}, {"deeds", json::Array()}};
  const std::string text = agent::controlsText(group, "");
  out.text += "Controls of all best-effort pods together:\n" +
              text.substr(text.find('\n') + 1, text.find("Strategies:") - text.find('\n') - 1);
  if (out.controls.is_object()) out.controls.get_object()["class"] = std::move(shared);
  return out;
}

}  // namespace mangrove::cli
