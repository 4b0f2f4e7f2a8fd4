#include "apiserver/auth/default_service_account.h"

#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"
#include "apiserver/core/write.h"
#include "base/check.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kAccount = "default";
constexpr std::string_view kConfigMap = "kube-root-ca.crt";
constexpr std::string_view kCaKey = "ca.crt";
constexpr std::string_view kDescription =
    "Holds the certificate by which pods recognise the API server; kept by the server itself.";

json::Object newObject(std::string_view kind, std::string_view ns, std::string_view name) {
  return {{"apiVersion", "v1"},
          {"kind", kind},
          {"metadata", json::Object{{"name", name}, {"namespace", ns}}}};
}

bool isTerminating(const store::Object& object) {
  auto value = json::parse(*object.json());
  return !value || !value->is_object() || isBeingDeleted(value->get_object());
}

}  // namespace

void DefaultAccounts::changed(const Resource& resource, const store::ObjectPtr& now,
                              const store::ObjectPtr& before) {
  if (!resource.kind->group.empty()) return;
  const store::Object& which = now ? *now : *before;
  std::string ns;
  if (resource.kind->plural == "namespaces" && now && !before) ns = which.name();
  const bool lostAccount =
      resource.kind->plural == "serviceaccounts" && !now && which.name() == kAccount;
  const bool touchedCa =
      resource.kind->plural == "configmaps" && before && which.name() == kConfigMap;
  if (lostAccount || touchedCa) ns = which.ns();
  // Later, so that the other observers hear of this change before they hear of ours.
  if (!ns.empty()) context_.owner.post([this, ns] { furnish(ns); });
}

void DefaultAccounts::refresh() {
  auto page = context_.store.list({.resource = Resources::storedName("", "namespaces")});
  if (!page) return;
  for (const auto& object : page->items) furnish(std::string(object->name()));
}

void DefaultAccounts::furnish(const std::string& ns) {
  const auto name = [](std::string_view plural) { return Resources::storedName("", plural); };
  auto home = context_.store.getHead(name("namespaces"), "", ns);
  if (!home || isTerminating(*home)) return;
  if (!context_.store.getHead(name("serviceaccounts"), ns, kAccount))
    create("serviceaccounts", newObject("ServiceAccount", ns, kAccount));
  if (caPem_.empty()) return;
  if (context_.store.getHead(name("configmaps"), ns, kConfigMap)) return restoreCa(ns);
  json::Object map = newObject("ConfigMap", ns, kConfigMap);
  metadataOf(map)["annotations"] = json::Object{{"kubernetes.io/description", kDescription}};
  map["data"] = json::Object{{kCaKey, caPem_}};
  create("configmaps", std::move(map));
}

void DefaultAccounts::setCa(std::string caPem) {
  caPem_ = std::move(caPem);
  refresh();
}

void DefaultAccounts::create(std::string_view plural, json::Object object) {
  auto resource = context_.resources.find("", "v1", plural);
  CHECK(resource, "no resource {}", plural);
  stampCreate(*resource->kind, object, context_.clock.wall(), context_.rng);
  // Somebody else was faster, or the disk is full: refresh() at the next start looks again.
  putObject(context_, resource, std::move(object), nullptr, [](const auto&) {});
}

void DefaultAccounts::restoreCa(const std::string& ns) {
  auto change = [pem = caPem_](json::Object& map) -> Outcome<> {
    const json::Object* data = findObject(map, "data");
    if (!data || data->size() != 1 || textAt(*data, kCaKey) != pem)
      map["data"] = json::Object{{kCaKey, pem}};
    return {};
  };
  changeObject(context_, context_.resources.find("", "v1", "configmaps"), ns,
               std::string(kConfigMap), std::move(change), [](const auto&) {});
}

}  // namespace mangrove::apiserver
