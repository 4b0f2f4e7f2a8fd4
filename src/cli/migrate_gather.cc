#include <array>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "cli/migrate_facts.h"
#include "cli/raw_objects.h"

namespace mangrove::cli {
namespace {

namespace kind = api::kind;

struct Part {
  std::string_view name, role;
};
constexpr std::array kParts = {
    Part{"koord-manager", "manager"}, Part{"koord-scheduler", "scheduler"},
    Part{"koordlet", "agent"},        Part{"koord-descheduler", "descheduler"},
    Part{"koord-runtime-proxy", ""},  Part{"koord-device-daemon", ""},
    Part{"koord-yarn-operator", ""},  Part{"koord-yarn-copilot", ""}};

constexpr std::array kCounted = {&kind::kReservation, &kind::kPodGroup, &kind::kElasticQuota,
                                 &kind::kDevice, &kind::kPodMigrationJob};

std::string nameOf(const json::Value& object) {
  const std::string ns = textAt(object, {"metadata", "namespace"});
  return (ns.empty() ? "" : ns + "/") + textAt(object, {"metadata", "name"});
}

// Objects of a kind; what may not be read is noted, and counts as none.
std::vector<json::Value> ask(client::ApiClient& client, const client::Kind& of, MigrateFacts& facts,
                             const std::string& ns = "") {
  auto found = listRaw(client, of, ns);
  if (found) return *std::move(found);
  facts.unknowns.push_back(fmt::format("{}: {}", of.plural, found.error().text()));
  return {};
}

void askComponents(client::ApiClient& client, MigrateFacts& facts) {
  for (const auto* of : {&kind::kDeployment, &kind::kDaemonSet})
    for (const auto& one : ask(client, *of, facts))
      for (const Part& part : kParts) {
        const bool named = textAt(one, {"metadata", "name"}) == part.name ||
                           textAt(one, {"metadata", "labels", "koord-app"}) == part.name;
        if (!named) continue;
        ComponentFact fact{nameOf(one), std::string(part.role), "", {}};
        for (const auto& container : elementsAt(one, {"spec", "template", "spec", "containers"})) {
          if (fact.image.empty()) fact.image = textAt(container, {"image"});
          for (std::string_view list : {"command", "args"})
            for (const auto& word : elementsAt(container, {list}))
              if (word.is_string()) fact.args.emplace_back(word.get_string());
        }
        facts.components.push_back(std::move(fact));
        break;
      }
}

void askCrds(client::ApiClient& client, MigrateFacts& facts) {
  for (const auto& one : ask(client, kind::kCustomResourceDefinition, facts)) {
    const std::string name = textAt(one, {"metadata", "name"});
    if (name.find(".koordinator.sh") == name.npos && name.find(".sigs.k8s.io") == name.npos &&
        name.find("topology.node.k8s.io") == name.npos)
      continue;
    for (const auto& version : elementsAt(one, {"spec", "versions"}))
      facts.crds[name].push_back(textAt(version, {"name"}));
  }
}

// Their own, not a domain that only ends like it.
bool isTheirs(std::string_view key) {
  return key.find("koordinator.sh/") != key.npos ||
         key.starts_with("pod-group.scheduling.sigs.k8s.io");
}

void countKeys(const json::Value& object, MigrateFacts& facts) {
  for (std::string_view list : {"labels", "annotations"}) {
    const json::Value* found = valueAt(object, {"metadata", list});
    if (found == nullptr || !found->is_object()) continue;
    for (const auto& member : found->get_object())
      if (isTheirs(member.key())) facts.keys[std::string(member.key())]++;
  }
}

void askConfigs(client::ApiClient& client, const MigrateQuestion& question, MigrateFacts& facts) {
  for (const auto& one : ask(client, kind::kConfigMap, facts, question.configNamespace)) {
    if (textAt(one, {"metadata", "name"}) == question.configName) {
      if (auto read = api::decodeText<api::ConfigMap>(json::write(one))) facts.config = *read;
      continue;
    }
    const json::Value* data = valueAt(one, {"data"});
    if (data == nullptr || !data->is_object()) continue;
    for (const auto& member : data->get_object())
      if (member.value().is_string() &&
          std::string_view(member.value().get_string()).find("KubeSchedulerConfiguration") !=
              std::string_view::npos)
        facts.schedulerConfigs.push_back({nameOf(one) + "/" + std::string(member.key()),
                                          std::string(member.value().get_string())});
  }
}

void askObjects(client::ApiClient& client, MigrateFacts& facts) {
  for (const auto* of : kCounted)
    if (const size_t count = ask(client, *of, facts).size(); count > 0)
      facts.objects[std::string(of->kind)] = count;
  for (const auto& one : ask(client, kind::kClusterColocationProfile, facts))
    facts.profiles.push_back({nameOf(one), json::write(one)});
  for (const auto* of : {&kind::kPod, &kind::kNode})
    for (const auto& one : ask(client, *of, facts)) countKeys(one, facts);
  for (const auto* of : {&kind::kMutatingWebhook, &kind::kValidatingWebhook})
    for (const auto& one : ask(client, *of, facts))
      if (nameOf(one).starts_with("koordinator-")) facts.webhooks.push_back(nameOf(one));
}

}  // namespace

Result<MigrateFacts> gatherMigration(client::ApiClient& client, const MigrateQuestion& question) {
  MigrateFacts facts;
  facts.server = client.server();
  facts.configName = question.configNamespace + "/" + question.configName;
  client::Request version;
  version.path = "/version";
  auto answer = client.call(std::move(version));
  if (!answer) return pass(answer.error());
  if (auto parsed = json::parse(answer->body)) facts.version = textAt(*parsed, {"gitVersion"});
  askComponents(client, facts);
  askCrds(client, facts);
  askConfigs(client, question, facts);
  askObjects(client, facts);
  return facts;
}

}  // namespace mangrove::cli
