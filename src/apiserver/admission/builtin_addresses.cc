#include "apiserver/admission/builtin_addresses.h"

#include <unordered_set>

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/auth/rbac_guard.h"
#include "apiserver/core/object.h"
#include "base/text/strings.h"
#include "net/loopback.h"

namespace mangrove::apiserver {

namespace {

using Targets = std::vector<std::string>;
constexpr size_t kMostTargets = 1000;  // each is a question to the kernel; what controllers write

void addText(const json::Value& value, Targets& out) {
  if (value.is_string()) out.emplace_back(std::string_view(value.get_string()));
}

template <class Each>
void eachObject(const json::Object& parent, std::string_view list, Each each) {
  const json::Array* found = findArray(parent, list);
  if (!found) return;
  for (const json::Value& value : *found)
    if (value.is_object()) each(value.get_object());
}

Targets ofEndpoints(const json::Object& object) {
  Targets out;
  eachObject(object, "subsets", [&](const json::Object& subset) {
    for (std::string_view list : {"addresses", "notReadyAddresses"})
      eachObject(subset, list,
                 [&](const json::Object& address) { out.emplace_back(textAt(address, "ip")); });
  });
  return out;
}

Targets ofSlice(const json::Object& object) {
  Targets out;
  eachObject(object, "endpoints", [&](const json::Object& endpoint) {
    const json::Array* addresses = findArray(endpoint, "addresses");
    for (const json::Value& address : addresses ? *addresses : json::Array()) addText(address, out);
  });
  return out;
}

Targets ofService(const json::Object& object) {
  Targets out;
  const json::Object* spec = findObject(object, "spec");
  if (!spec) return out;
  const json::Array* external = findArray(*spec, "externalIPs");
  for (const json::Value& address : external ? *external : json::Array()) addText(address, out);
  if (textAt(*spec, "type") == "ExternalName") out.emplace_back(textAt(*spec, "externalName"));
  return out;
}

// Names that mean the machine of whoever asks.
bool isLocalName(std::string_view target) {
  const std::string name = lower(target);
  return net::isLoopback(name) || name.ends_with(".localhost");
}

}  // namespace

Targets targetsOf(const KindInfo& kind, const json::Object& object) {
  if (kind.group.empty() && kind.kind == "Endpoints") return ofEndpoints(object);
  if (kind.group == "discovery.k8s.io" && kind.kind == "EndpointSlice") return ofSlice(object);
  if (kind.group.empty() && kind.kind == "Service") return ofService(object);
  return {};
}

void AddressGuard::validate(AdmissionRequest& request, Done done) {
  const bool isWrite =
      request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  if (!isWrite || !request.subresource.empty() || !request.object.is_object())
    return done(std::nullopt);
  if (request.who.in(group::kMasters)) return done(std::nullopt);
  const KindInfo& kind = *request.resource->kind;
  const Targets old =
      request.oldObject.is_object() ? targetsOf(kind, request.oldObject.get_object()) : Targets();
  const Targets now = targetsOf(kind, request.object.get_object());
  if (now.size() > kMostTargets)
    return done(admissionForbids(
        request, fmt::format("it names {} addresses; at most {} are looked through for this "
                             "machine's own",
                             now.size(), kMostTargets)));
  const std::unordered_set<std::string_view> before(old.begin(), old.end());
  for (const std::string& target : now) {
    if (before.contains(target) || !(isLocalName(target) || isOwn_(target))) continue;
    if (mayDoEverything(rbac_, request.who)) break;
    return done(admissionForbids(
        request, fmt::format("{} is this machine itself, and connections to a service come from "
                             "there, past whatever guards its ports: only who may do everything "
                             "can point a service at it",
                             target)));
  }
  done(std::nullopt);
}

}  // namespace mangrove::apiserver
