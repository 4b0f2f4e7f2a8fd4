#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "cli/cluster_facts.h"

namespace mangrove::cli {
namespace {

namespace kind = client::kind;

constexpr client::Kind kEndpointSlice{"discovery.k8s.io", "v1", "EndpointSlice",
                                      "endpointslices",   true, false};
constexpr std::array kOurGroups = {"slo.koordinator.sh", "scheduling.koordinator.sh",
                                   "config.koordinator.sh"};
constexpr std::array kPriorities = {"koord-prod", "koord-mid", "koord-batch", "koord-free"};

struct Right {
  std::string_view account, verb, group, resource, subresource;
};
// The one write without which a role is of no use; the names of our manifests and the reference's.
constexpr std::array kRights = {
    Right{"mangrove-manager", "patch", "", "nodes", "status"},
    Right{"koord-manager", "patch", "", "nodes", "status"},
    Right{"mangrove-agent", "patch", "slo.koordinator.sh", "nodemetrics", "status"},
    Right{"koordlet", "patch", "slo.koordinator.sh", "nodemetrics", "status"},
    Right{"mangrove-scheduler", "create", "", "pods", "binding"},
    Right{"koord-scheduler", "create", "", "pods", "binding"}};

// Every page of a list, decoded; what cannot be read is noted and counts as empty.
template <class T>
std::vector<T> all(client::ApiClient& client, const client::Kind& kind, ClusterFacts& facts,
                   const std::string& ns = "") {
  std::vector<T> out;
  client::Query query{.limit = 500};
  do {
    auto page = client.list(kind, ns, query);
    if (!page) {
      if (page.error().code() != Code::kNotFound)
        facts.unknowns.push_back(fmt::format("{}: {}", kind.plural, page.error().text()));
      return out;
    }
    for (auto item : page->items)
      if (auto one = api::decodeText<T>(item)) out.push_back(std::move(*one));
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  return out;
}

std::vector<json::Value> allRaw(client::ApiClient& client, const client::Kind& kind,
                                ClusterFacts& facts, const std::string& ns = "",
                                const std::string& selector = "") {
  std::vector<json::Value> out;
  auto page = client.list(kind, ns, {.labelSelector = selector});
  if (!page) {
    facts.unknowns.push_back(fmt::format("{}: {}", kind.plural, page.error().text()));
    return out;
  }
  for (auto item : page->items)
    if (auto one = json::parse(item); one && one->is_object()) out.push_back(std::move(*one));
  return out;
}

const json::Value* at(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* here = &from;
  for (auto name : path) {
    here = here->is_object() ? here->get_object().if_contains(name) : nullptr;
    if (!here) return nullptr;
  }
  return here;
}
std::string textAt(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* found = at(from, path);
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

// Kinds of ours that the server does not serve.
void askCrds(client::ApiClient& client, ClusterFacts& facts) {
  for (const api::Kind& one : api::allKinds()) {
    if (std::find(kOurGroups.begin(), kOurGroups.end(), one.group) == kOurGroups.end()) continue;
    auto page = client.list(one, "", {.limit = 1});
    if (!page && page.error().code() == Code::kNotFound)
      facts.missingCrds.push_back(fmt::format("{}.{}", one.plural, one.group));
  }
}

std::optional<size_t> readyBehind(client::ApiClient& client, const std::string& ns,
                                  const std::string& name, ClusterFacts& facts) {
  const size_t before = facts.unknowns.size();
  const auto slices =
      allRaw(client, kEndpointSlice, facts, ns, "kubernetes.io/service-name=" + name);
  if (facts.unknowns.size() > before) return std::nullopt;
  size_t ready = 0;
  for (const auto& slice : slices)
    if (const auto* list = at(slice, {"endpoints"}); list && list->is_array())
      for (const auto& endpoint : list->get_array()) {
        const auto* state = at(endpoint, {"conditions", "ready"});
        ready += !state || !state->is_bool() || state->get_bool() ? 1 : 0;
      }
  return ready;
}

// Ours are told by their names: those of config/webhook and of the reference.
bool isOurs(const std::string& name) {
  return name.find("koord") != std::string::npos || name.find("mangrove") != std::string::npos;
}

void askWebhooks(client::ApiClient& client, ClusterFacts& facts) {
  for (const auto* of : {&kind::kMutatingWebhook, &kind::kValidatingWebhook})
    for (const auto& one : allRaw(client, *of, facts)) {
      const std::string name = textAt(one, {"metadata", "name"});
      const auto* hooks = at(one, {"webhooks"});
      if (!isOurs(name) || !hooks || !hooks->is_array() || hooks->get_array().empty()) continue;
      const json::Value& first = hooks->get_array().front();
      WebhookFact fact;
      fact.name = name;
      fact.hasBundle = !textAt(first, {"clientConfig", "caBundle"}).empty();
      fact.refuses = textAt(first, {"failurePolicy"}) != "Ignore";
      const std::string ns = textAt(first, {"clientConfig", "service", "namespace"});
      const std::string service = textAt(first, {"clientConfig", "service", "name"});
      if (!service.empty()) {
        fact.service = ns + "/" + service;
        fact.endpoints = readyBehind(client, ns, service, facts);
      }
      facts.webhooks.push_back(std::move(fact));
    }
}

std::optional<bool> mayIt(client::ApiClient& client, const std::string& ns, const Right& right) {
  const json::Object body{
      {"apiVersion", "authorization.k8s.io/v1"},
      {"kind", "SubjectAccessReview"},
      {"spec",
       json::Object{{"user", fmt::format("system:serviceaccount:{}:{}", ns, right.account)},
                    {"resourceAttributes", json::Object{{"verb", right.verb},
                                                        {"group", right.group},
                                                        {"resource", right.resource},
                                                        {"subresource", right.subresource}}}}}};
  auto answer = client.create(kind::kSubjectAccessReview, "", json::write(body));
  auto told = answer ? json::parse(*answer) : Result<json::Value>(pass(answer.error()));
  if (!told) return std::nullopt;
  const auto* allowed = at(*told, {"status", "allowed"});
  return allowed && allowed->is_bool() && allowed->get_bool();
}

// Accounts that are not there are nobody's: a role may run under any name, or in one process.
void askRights(client::ApiClient& client, const std::string& ns, ClusterFacts& facts) {
  std::vector<std::string> accounts;
  for (const auto& one : allRaw(client, kind::kServiceAccount, facts, ns))
    accounts.push_back(textAt(one, {"metadata", "name"}));
  for (const Right& right : kRights) {
    if (std::find(accounts.begin(), accounts.end(), right.account) == accounts.end()) continue;
    const auto allowed = mayIt(client, ns, right);
    if (allowed)
      facts.rights.push_back({std::string(right.account), std::string(right.verb),
                              fmt::format("{}/{}", right.resource, right.subresource), *allowed});
  }
}

void askPriorities(client::ApiClient& client, ClusterFacts& facts) {
  const auto there = all<api::PriorityClass>(client, kind::kPriorityClass, facts);
  for (const char* name : kPriorities)
    if (std::none_of(there.begin(), there.end(),
                     [&](const auto& one) { return one.meta.name.view() == name; }))
      facts.missingPriorities.emplace_back(name);
}

}  // namespace

Result<ClusterFacts> gatherFacts(client::ApiClient& client, const ClusterQuestion& question,
                                 WallTime now) {
  ClusterFacts facts;
  facts.now = now;
  facts.server = client.server();
  facts.configName = question.configNamespace + "/" + question.configName;
  client::Request version;
  version.path = "/version";
  auto said = client.call(std::move(version));
  if (!said) return pass(said.error());
  if (auto value = json::parse(said->body)) facts.version = textAt(*value, {"gitVersion"});
  askCrds(client, facts);
  askPriorities(client, facts);
  facts.nodes = all<api::Node>(client, kind::kNode, facts);
  for (auto& one : all<api::NodeMetric>(client, kind::kNodeMetric, facts))
    facts.metrics.emplace(one.meta.name.str(), std::move(one));
  for (const auto& one : allRaw(client, kind::kNodeSlo, facts))
    facts.slos.push_back(textAt(one, {"metadata", "name"}));
  facts.pods = all<api::Pod>(client, kind::kPod, facts);
  facts.leases = all<api::Lease>(client, kind::kLease, facts, question.configNamespace);
  auto config = client.get({kind::kConfigMap, question.configNamespace, question.configName});
  if (config)
    if (auto one = api::decodeText<api::ConfigMap>(*config)) facts.config = std::move(*one);
  askWebhooks(client, facts);
  askRights(client, question.configNamespace, facts);
  return facts;
}

}  // namespace mangrove::cli
