#include "apiserver/pod_security/checks.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "api/pod/sysctls.h"
#include "apiserver/core/object.h"
#include "apiserver/pod_security/wording.h"

namespace mangrove::apiserver::pod_security {

namespace {

using Names = std::vector<std::string>;

bool isTrue(const json::Object* object, std::string_view key) {
  const json::Value* value = object ? object->if_contains(key) : nullptr;
  return value && value->is_bool() && value->get_bool();
}

const json::Object* inside(const json::Object* object, std::string_view key) {
  return object ? findObject(*object, key) : nullptr;
}

Names capabilityList(const Pod::Container& container, std::string_view key) {
  const json::Object* capabilities = inside(container.security, "capabilities");
  const json::Array* list = capabilities ? findArray(*capabilities, key) : nullptr;
  Names out;
  for (size_t i = 0; list && i < list->size(); ++i)
    if ((*list)[i].is_string()) out.emplace_back(std::string_view((*list)[i].get_string()));
  return out;
}

// Containers that add a capability which is not on the list, and which ones.
Broken forbiddenAdditions(const Pod& pod, const std::set<std::string, std::less<>>& allowed) {
  Names bad;
  std::set<std::string> added;
  for (const auto& container : pod.containers()) {
    bool breaks = false;
    for (const auto& name : capabilityList(container, "add")) {
      if (allowed.contains(name)) continue;
      added.insert(name);
      breaks = true;
    }
    if (breaks) bad.push_back(container.name);
  }
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} must not include {} in securityContext.capabilities.add", containers(bad),
                     quoted(added));
}

const json::Array& volumesOf(const Pod& pod) {
  static const json::Array kNone;
  const json::Array* list = findArray(pod.spec(), "volumes");
  return list ? *list : kNone;
}

std::string hostOf(const json::Object* action) {
  for (auto key : {"httpGet", "tcpSocket"})
    if (const json::Object* found = inside(action, key); found && !textAt(*found, "host").empty())
      return std::string(textAt(*found, "host"));
  return "";
}

constexpr std::string_view kArmour = "container.apparmor.security.beta.kubernetes.io/";

std::string profileType(const json::Object* security, std::string_view key) {
  const json::Object* profile = inside(security, key);
  return profile ? std::string(textAt(*profile, "type")) : "";
}

}  // namespace

Pod::Pod(const json::Object& metadata, const json::Object& spec, int minor)
    : metadata_(metadata),
      spec_(spec),
      minor_(minor),
      security_(findObject(spec, "securityContext")) {
  for (auto key : {"initContainers", "containers", "ephemeralContainers"}) {
    const json::Array* list = findArray(spec, key);
    for (size_t i = 0; list && i < list->size(); ++i) {
      if (!(*list)[i].is_object()) continue;
      const json::Object& one = (*list)[i].get_object();
      containers_.push_back(
          {std::string(textAt(one, "name")), &one, findObject(one, "securityContext")});
    }
  }
}

bool Pod::isWindows() const {
  const json::Object* os = findObject(spec_, "os");
  return os && textAt(*os, "name") == "windows";
}

bool Pod::hasOwnUsers() const {
  const json::Value* value = spec_.if_contains("hostUsers");
  return value && value->is_bool() && !value->get_bool();
}

Broken appArmor(const Pod& pod) {
  const auto bad = [](const std::string& type) {
    return !type.empty() && type != "RuntimeDefault" && type != "Localhost";
  };
  Setters setters = settersOf(pod, [&](const json::Object* security) {
    const std::string type = profileType(security, "appArmorProfile");
    return bad(type) ? type : "";
  });
  const json::Object* annotations = findObject(pod.metadata(), "annotations");
  for (const auto& [key, value] : annotations ? *annotations : json::Object()) {
    if (!std::string_view(key).starts_with(kArmour) || !value.is_string()) continue;
    const std::string_view profile = value.get_string();
    if (profile.empty() || profile == "runtime/default" || profile.starts_with("localhost/"))
      continue;
    setters.values.insert(fmt::format("{}={}", std::string_view(key), profile));
    setters.annotations = true;
  }
  if (setters.values.empty()) return std::nullopt;
  return fmt::format("{} must not set AppArmor profile type to {}", setters.who(),
                     quoted(setters.values));
}

Broken addedCapabilities(const Pod& pod) {
  return forbiddenAdditions(
      pod, {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
            "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"});
}

Broken hostNamespaces(const Pod& pod) {
  std::string out;
  for (auto key : {"hostNetwork", "hostPID", "hostIPC"})
    if (isTrue(&pod.spec(), key)) out += fmt::format("{}{}=true", out.empty() ? "" : ", ", key);
  return out.empty() ? Broken() : out;
}

Broken hostPaths(const Pod& pod) {
  Names bad;
  for (const auto& volume : volumesOf(pod))
    if (volume.is_object() && volume.get_object().contains("hostPath"))
      bad.emplace_back(textAt(volume.get_object(), "name"));
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} {}", bad.size() == 1 ? "volume" : "volumes", quoted(bad));
}

Broken hostPorts(const Pod& pod) {
  Names bad;
  std::set<int64_t> used;
  for (const auto& container : pod.containers()) {
    const json::Array* ports = findArray(*container.object, "ports");
    bool breaks = false;
    for (size_t i = 0; ports && i < ports->size(); ++i) {
      const json::Object* port = (*ports)[i].if_object();
      const json::Value* number = port ? port->if_contains("hostPort") : nullptr;
      if (!number || !number->is_int64() || number->get_int64() == 0) continue;
      used.insert(number->get_int64());
      breaks = true;
    }
    if (breaks) bad.push_back(container.name);
  }
  if (bad.empty()) return std::nullopt;
  std::string numbers;
  for (int64_t port : used) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", port);
  return fmt::format("{} {} {} {}", containers(bad), bad.size() == 1 ? "uses" : "use",
                     used.size() == 1 ? "hostPort" : "hostPorts", numbers);
}

Broken probedHosts(const Pod& pod) {
  Names bad;
  std::set<std::string> hosts;
  for (const auto& container : pod.containers()) {
    const json::Object* lifecycle = findObject(*container.object, "lifecycle");
    const json::Object* actions[] = {inside(container.object, "livenessProbe"),
                                     inside(container.object, "readinessProbe"),
                                     inside(container.object, "startupProbe"),
                                     inside(lifecycle, "postStart"), inside(lifecycle, "preStop")};
    const size_t before = bad.size();
    for (const json::Object* action : actions) {
      const std::string host = hostOf(action);
      if (host.empty()) continue;
      hosts.insert(host);
      if (bad.size() == before) bad.push_back(container.name);
    }
  }
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} {} {} {}", containers(bad), bad.size() == 1 ? "uses" : "use",
                     hosts.size() == 1 ? "probe or lifecycle host" : "probe or lifecycle hosts",
                     quoted(hosts));
}

Broken privileged(const Pod& pod) {
  Names bad;
  for (const auto& container : pod.containers())
    if (isTrue(container.security, "privileged")) bad.push_back(container.name);
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} must not set securityContext.privileged=true", containers(bad));
}

Broken procMount(const Pod& pod) {
  Names bad;
  std::set<std::string> kinds;
  for (const auto& container : pod.containers()) {
    const std::string kind(container.security ? textAt(*container.security, "procMount") : "");
    if (kind.empty() || kind == "Default") continue;
    bad.push_back(container.name);
    kinds.insert(kind);
  }
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} must not set securityContext.procMount to {}", containers(bad),
                     quoted(kinds));
}

Broken procMountOfMachineUsers(const Pod& pod) {
  return pod.hasOwnUsers() ? std::nullopt : procMount(pod);
}

Broken seLinux(const Pod& pod) {
  std::set<std::string, std::less<>> allowed = {"", "container_t", "container_init_t",
                                                "container_kvm_t"};
  if (pod.minor() >= 31) allowed.insert("container_engine_t");
  std::set<std::string> types;
  bool user = false, role = false;
  const Setters setters = settersOf(pod, [&](const json::Object* security) -> std::string {
    const json::Object* options = inside(security, "seLinuxOptions");
    if (!options) return "";
    const std::string type(textAt(*options, "type"));
    const bool badType = !allowed.contains(type);
    if (badType) types.insert(type);
    user |= !textAt(*options, "user").empty();
    role |= !textAt(*options, "role").empty();
    return badType || !textAt(*options, "user").empty() || !textAt(*options, "role").empty() ? "bad"
                                                                                             : "";
  });
  if (setters.values.empty()) return std::nullopt;
  Names what;
  if (!types.empty())
    what.push_back(fmt::format("{} {}", types.size() == 1 ? "type" : "types", quoted(types)));
  if (user) what.push_back("user may not be set");
  if (role) what.push_back("role may not be set");
  return fmt::format("{} set forbidden securityContext.seLinuxOptions: {}", setters.who(),
                     fmt::format("{}", joined(what, "; ")));
}

Broken sysctls(const Pod& pod) {
  const json::Array* list = pod.security() ? findArray(*pod.security(), "sysctls") : nullptr;
  Names bad;
  for (size_t i = 0; list && i < list->size(); ++i) {
    if (!(*list)[i].is_object()) continue;
    const std::string name(textAt((*list)[i].get_object(), "name"));
    const api::SafeSysctl* safe = api::safeSysctl(name);
    if (!safe || pod.minor() < safe->sinceMinor) bad.push_back(name);
  }
  return bad.empty() ? Broken() : joined(bad, ", ");
}

Broken hostProcess(const Pod& pod) {
  const Setters setters = settersOf(pod, [](const json::Object* security) {
    return isTrue(inside(security, "windowsOptions"), "hostProcess") ? "true" : "";
  });
  if (setters.values.empty()) return std::nullopt;
  return fmt::format("{} must not set securityContext.windowsOptions.hostProcess=true",
                     setters.who());
}

Broken callersFiles(const Pod& pod) {
  const json::Object* annotations = findObject(pod.metadata(), "annotations");
  if (!annotations || !annotations->contains(kCallerAnnotation)) return std::nullopt;
  return fmt::format("the annotation {} gives the pod the machine's files", kCallerAnnotation);
}

Broken escalation(const Pod& pod) {
  if (pod.isWindows() && pod.minor() >= 25) return std::nullopt;
  Names bad;
  for (const auto& container : pod.containers()) {
    const json::Value* value =
        container.security ? container.security->if_contains("allowPrivilegeEscalation") : nullptr;
    if (!value || !value->is_bool() || value->get_bool()) bad.push_back(container.name);
  }
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} must set securityContext.allowPrivilegeEscalation=false", containers(bad));
}

Broken keptCapabilities(const Pod& pod) {
  if (pod.isWindows() && pod.minor() >= 25) return std::nullopt;
  Names keeping;
  for (const auto& container : pod.containers()) {
    const Names dropped = capabilityList(container, "drop");
    if (std::find(dropped.begin(), dropped.end(), "ALL") == dropped.end())
      keeping.push_back(container.name);
  }
  Names what;
  if (!keeping.empty())
    what.push_back(fmt::format("{} must set securityContext.capabilities.drop=[\"ALL\"]",
                               containers(keeping)));
  if (auto added = forbiddenAdditions(pod, {"NET_BIND_SERVICE"})) what.push_back(*added);
  return what.empty() ? Broken() : joined(what, "; ");
}

Broken volumeTypes(const Pod& pod) {
  static const std::set<std::string_view> kAllowed = {
      "configMap", "csi",   "downwardAPI",           "emptyDir",
      "ephemeral", "image", "persistentVolumeClaim", "projected",
      "secret"};
  Names bad;
  std::set<std::string> types;
  for (const auto& volume : volumesOf(pod)) {
    const json::Object* object = volume.if_object();
    if (!object) continue;
    std::string type = "emptyDir";  // what a volume without a source becomes
    for (const auto& [key, value] : *object)
      if (key != "name" && !value.is_null()) type = std::string(std::string_view(key));
    if (kAllowed.contains(type)) continue;
    bad.emplace_back(textAt(*object, "name"));
    types.insert(type);
  }
  if (bad.empty()) return std::nullopt;
  return fmt::format("{} {} {} {} {}", bad.size() == 1 ? "volume" : "volumes", quoted(bad),
                     bad.size() == 1 ? "uses" : "use",
                     types.size() == 1 ? "restricted volume type" : "restricted volume types",
                     quoted(types));
}

Broken rootUser(const Pod& pod) {
  if (pod.hasOwnUsers() && pod.minor() >= 35) return std::nullopt;
  const Setters setters = settersOf(pod, [](const json::Object* security) {
    const json::Value* user = security ? security->if_contains("runAsUser") : nullptr;
    return user && user->is_int64() && user->get_int64() == 0 ? "0" : "";
  });
  if (setters.values.empty()) return std::nullopt;
  return fmt::format("{} must not set runAsUser=0", setters.who());
}

}  // namespace mangrove::apiserver::pod_security
