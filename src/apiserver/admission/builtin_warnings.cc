#include "apiserver/admission/builtin_warnings.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>

#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

const json::Array& listIn(const json::Object& parent, std::string_view key) {
  static const json::Array kEmpty;
  const json::Array* found = findArray(parent, key);
  return found ? *found : kEmpty;
}

std::string portText(const json::Value& port) {
  if (!port.is_object()) return "";
  const json::Object& p = port.get_object();
  std::string text(textAt(p, "protocol"));
  for (std::string_view key : {"containerPort", "hostPort", "hostIP"})
    text += "/" + (p.contains(key) ? json::write(p.at(key)) : std::string());
  return text;
}

void warnOfVariables(const json::Array& env, const std::string& at, std::vector<std::string>& out) {
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < env.size(); ++i) {
    const std::string_view name = env[i].is_object() ? textAt(env[i].get_object(), "name") : "";
    if (!env[i].is_object() || seen.insert(name).second) continue;
    out.push_back(fmt::format(
        "{}.env[{}]: hides previous definition of \"{}\", which may be dropped when using apply",
        at, i, name));
  }
}

void warnOfPorts(const json::Array& ports, const std::string& at, std::vector<std::string>& out) {
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto [first, isNew] = seen.emplace(portText(ports[i]), i);
    if (!isNew)
      out.push_back(fmt::format("{0}.ports[{1}]: duplicate port definition with {0}.ports[{2}]", at,
                                i, first->second));
  }
}

// Stored for those who read the object; the runner of `mangrove up` has no such thing to carry out.
void warnOfSecurity(const json::Object& holder, const std::string& at,
                    std::vector<std::string>& out) {
  const json::Object* security = findObject(holder, "securityContext");
  if (security == nullptr) return;
  for (std::string_view field : {"seLinuxOptions", "appArmorProfile", "windowsOptions"})
    if (security->contains(field))
      out.push_back(fmt::format(
          "{}.securityContext.{}: stored, but not carried out by the built-in node runner", at,
          field));
  if (textAt(*security, "supplementalGroupsPolicy") == "Strict")
    out.push_back(fmt::format(
        "{}.securityContext.supplementalGroupsPolicy: groups that an image gives its user are "
        "added all the same by the built-in node runner",
        at));
}

// Where a kind keeps the pods it makes.
const json::Object* podSpecOf(const KindInfo& kind, const json::Object& object, std::string& path) {
  const json::Object* at = findObject(object, "spec");
  path = "spec";
  if (kind.group.empty() && kind.kind == "Pod") return at;
  if (at && kind.kind == "CronJob") {
    const json::Object* job = findObject(*at, "jobTemplate");
    at = job ? findObject(*job, "spec") : nullptr;
    path = "spec.jobTemplate.spec";
  }
  const json::Object* made = at ? findObject(*at, "template") : nullptr;
  path += ".template.spec";
  return made ? findObject(*made, "spec") : nullptr;
}

}  // namespace

std::vector<std::string> podWarnings(const json::Object& spec, const std::string& path) {
  std::vector<std::string> out;
  warnOfSecurity(spec, path, out);
  for (std::string_view list : {"initContainers", "containers"}) {
    const json::Array& containers = listIn(spec, list);
    for (size_t i = 0; i < containers.size(); ++i) {
      if (!containers[i].is_object()) continue;
      const json::Object& container = containers[i].get_object();
      const std::string at = fmt::format("{}.{}[{}]", path, list, i);
      warnOfSecurity(container, at, out);
      warnOfVariables(listIn(container, "env"), at, out);
      warnOfPorts(listIn(container, "ports"), at, out);
    }
  }
  return out;
}

std::string storedOnly(const KindInfo& kind) {
  struct Row {
    std::string_view group, kind, missing;
  };
  static constexpr Row kRows[] = {
      {"networking.k8s.io", "NetworkPolicy", "no traffic is refused because of it"},
      {"networking.k8s.io", "Ingress", "no request reaches its services through it"},
      {"networking.k8s.io", "IngressClass", "its controller has to be installed"},
      {"networking.k8s.io", "ServiceCIDR", "addresses of services stay in 10.96.0.0/12"},
      {"networking.k8s.io", "IPAddress", "addresses of services are not kept in these"},
      {"apiregistration.k8s.io", "APIService", "its server is not asked"},
      {"storage.k8s.io", "CSIDriver", "its driver is not asked"},
      {"storage.k8s.io", "VolumeAttachment", "nothing is attached"},
      {"storage.k8s.io", "VolumeAttributesClass", "volumes do not follow it"},
  };
  for (const Row& row : kRows)
    if (kind.group == row.group && kind.kind == row.kind && !kind.isCustom)
      return fmt::format("{} is stored, and nothing of Mangrove carries it out: {}", row.kind,
                         row.missing);
  return "";
}

void Warnings::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const json::Object* object = request.object.if_object();
  const bool isNew = request.operation == Operation::kCreate && request.subresource.empty();
  if (object && kind.group.empty() && kind.kind == "Endpoints")
    request.warnings.push_back(
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
  if (std::string text = isNew ? storedOnly(kind) : ""; object && !text.empty())
    request.warnings.push_back(std::move(text));
  const json::Object* service = object && isNew && kind.group.empty() && kind.kind == "Service"
                                    ? findObject(*object, "spec")
                                    : nullptr;
  if (service && textAt(*service, "type") == "LoadBalancer")
    request.warnings.push_back(
        "spec.type: LoadBalancer gets an address only from `mangrove up --load-balancer-address` "
        "or from a controller of your own");
  const bool makesPods = kind.kind == "Pod" || kind.group == "apps" || kind.group == "batch" ||
                         kind.kind == "ReplicationController";
  std::string path;
  const json::Object* spec =
      object && isNew && makesPods && !kind.isCustom ? podSpecOf(kind, *object, path) : nullptr;
  if (spec)
    for (auto& text : podWarnings(*spec, path)) request.warnings.push_back(std::move(text));
  done(std::nullopt);
}

}  // namespace mangrove::apiserver
