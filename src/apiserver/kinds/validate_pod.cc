// The specification of pods, in pods themselves and in templates.
#include <limits>
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"
#include "apiserver/schema/formats.h"

namespace mangrove::apiserver {
namespace {

void checkContainers(const Inspect& spec, std::string_view key, std::set<std::string_view>& names) {
  spec.each(key, [&](const Inspect& container) {
    checkContainer(container, spec);
    std::string_view name = container.text("name");
    if (!name.empty() && !names.insert(name).second) container.duplicate("name");
  });
}

// Init containers that end have nobody to probe; those that stay (sidecars) are like the others.
void checkInitContainer(const Inspect& container) {
  std::string_view policy = container.text("restartPolicy");
  if (policy == "Always") return;
  for (std::string_view key : {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
    if (container.has(key))
      container.forbidden(key, "may not be set for init containers without restartPolicy=Always");
}

// All ports of the pod share the node's: one number and protocol, one owner.
void checkHostPorts(const Inspect& spec) {
  std::set<std::string> taken;
  spec.each("containers", [&](const Inspect& container) {
    container.each("ports", [&](const Inspect& port) {
      auto host = port.integer("hostPort");
      if (!host || *host == 0) return;
      std::string key = fmt::format("{}/{}/{}", port.text("protocol"), port.text("hostIP"), *host);
      if (!taken.insert(key).second) port.duplicate("hostPort");
    });
  });
}

void checkAliases(const Inspect& spec) {
  spec.each("hostAliases", [](const Inspect& alias) {
    if (!isIp(alias.text("ip"))) alias.invalid("ip", "must be a valid IP address");
    alias.eachValue("hostnames", [&](const json::Value& name, const FieldPath& at) {
      std::string trouble = name.is_string() ? subdomainTrouble(name.get_string()) : "";
      if (!trouble.empty()) alias.errors().invalid(at, name, trouble);
    });
  });
}

void checkDns(const Inspect& spec) {
  Inspect config = spec.child("dnsConfig");
  if (spec.text("dnsPolicy") == "None" && !spec.has("dnsConfig"))
    return spec.required("dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None");
  if (spec.text("dnsPolicy") == "None" && config.array("nameservers").empty())
    config.required("nameservers",
                    "must provide at least one DNS nameserver when `dnsPolicy` is "
                    "None");
  config.eachValue("nameservers", [&](const json::Value& server, const FieldPath& at) {
    if (server.is_string() && !isIp(server.get_string()))
      config.errors().invalid(at, server, "must be a valid IP address");
  });
}

void checkGates(const Inspect& spec) {
  std::set<std::string_view> names;
  spec.each("schedulingGates", [&](const Inspect& gate) {
    std::string trouble = qualifiedTrouble(gate.text("name"));
    if (!trouble.empty()) return gate.errors().invalid(gate.at(), gate.value("name"), trouble);
    if (!names.insert(gate.text("name")).second)
      gate.errors().duplicate(gate.at(), gate.value("name"));
  });
}

void checkNamesInSpec(const Inspect& spec) {
  for (std::string_view key : {"hostname", "subdomain"})
    if (!spec.text(key).empty()) spec.check(key, labelTrouble(spec.text(key)));
  for (std::string_view key :
       {"serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"})
    if (!spec.text(key).empty()) spec.check(key, subdomainTrouble(spec.text(key)));
}

void checkNumbers(const Inspect& spec) {
  spec.inRange("activeDeadlineSeconds", 1, std::numeric_limits<int32_t>::max());
  spec.notNegative("terminationGracePeriodSeconds");
  Inspect context = spec.child("securityContext");
  for (std::string_view key : {"runAsUser", "runAsGroup", "fsGroup"}) context.notNegative(key);
}

// "kernel.shm_rmid_forced", "net/ipv4/ip_forward".
bool isSysctl(std::string_view name) {
  const auto isEnd = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool isInside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '.' || c == '/') {
      if (!isInside || !isEnd(name[i - 1])) return false;
      isInside = false;
    } else {
      if (!isEnd(c) && !(isInside && (c == '-' || c == '_'))) return false;
      isInside = true;
    }
  }
  return isInside && isEnd(name.back()) && name.size() <= 253;
}

void checkSysctls(const Inspect& spec) {
  std::set<std::string_view> seen;
  Inspect context = spec.child("securityContext");
  context.each("sysctls", [&](const Inspect& one) {
    const std::string_view name = one.text("name");
    if (name.empty()) return one.required("name");
    if (!isSysctl(name))
      one.invalid(
          "name",
          "must have at most 253 characters and be lower-case words of letters, digits, '-' "
          "and '_', parted by '.' or '/'");
    if (!seen.insert(name).second) one.duplicate("name");
  });
}

}  // namespace

void checkPodSpec(const Inspect& spec) {
  std::set<std::string_view> names;
  spec.wantsSome("containers");
  checkContainers(spec, "containers", names);
  checkContainers(spec, "initContainers", names);
  checkContainers(spec, "ephemeralContainers", names);
  spec.each("initContainers", checkInitContainer);
  checkHostPorts(spec);
  checkSysctls(spec);
  checkVolumes(spec);
  checkPlacement(spec);
  checkAliases(spec);
  checkDns(spec);
  checkGates(spec);
  checkNamesInSpec(spec);
  checkNumbers(spec);
  checkResourceAmounts(spec, "overhead");
  Inspect resources = spec.child("resources");
  checkResources(resources);
}

void validatePod(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkPodSpec(spec);
}

void validatePodTemplate(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  checkPodTemplate(root);
}

}  // namespace mangrove::apiserver
