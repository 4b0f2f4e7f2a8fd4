// One container: name, image, ports, environment, mounts, amounts.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

void checkPorts(const Inspect& container, bool hostNetwork) {
  std::set<std::string_view> names;
  container.each("ports", [&](const Inspect& port) {
    if (std::string_view name = port.text("name"); !name.empty()) {
      port.check("name", portNameTrouble(name));
      if (!names.insert(name).second) port.duplicate("name");
    }
    if (!port.integer("containerPort") || port.integer("containerPort") == 0)
      port.required("containerPort");
    else
      checkPort(port, "containerPort");
    auto host = port.integer("hostPort");
    if (!host || *host == 0) return;
    checkPort(port, "hostPort");
    if (hostNetwork && host != port.integer("containerPort"))
      port.invalid("containerPort", "must match `hostPort` when `hostNetwork` is true");
  });
}

constexpr std::string_view kEnvSources[] = {"fieldRef", "resourceFieldRef", "configMapKeyRef",
                                            "secretKeyRef", "fileKeyRef"};

constexpr std::string_view kEnvPaths[] = {"metadata.name",
                                          "metadata.namespace",
                                          "metadata.uid",
                                          "spec.nodeName",
                                          "spec.serviceAccountName",
                                          "status.hostIP",
                                          "status.hostIPs",
                                          "status.podIP",
                                          "status.podIPs"};

// A misspelt path would only show when the container starts, as a failure nobody understands.
void checkEnvPath(const Inspect& field) {
  const std::string_view path = field.text("fieldPath");
  const bool isEntry =
      (path.starts_with("metadata.labels['") || path.starts_with("metadata.annotations['")) &&
      path.ends_with("']");
  const bool isKnown =
      std::find(std::begin(kEnvPaths), std::end(kEnvPaths), path) != std::end(kEnvPaths);
  if (!isEntry && !isKnown)
    field.invalid("fieldPath",
                  fmt::format("error converting fieldPath: field label not supported: {}", path));
}

void checkEnvSource(const Inspect& variable) {
  if (!variable.has("valueFrom")) return;
  if (!variable.text("value").empty())
    variable.invalid("valueFrom", "may not be specified when `value` is not empty");
  Inspect source = variable.child("valueFrom");
  size_t count = 0;
  for (std::string_view key : kEnvSources) count += source.has(key) ? 1 : 0;
  if (count == 0)
    variable.invalid("valueFrom",
                     "must specify one of: `fieldRef`, "
                     "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  if (count > 1)
    variable.invalid("valueFrom", "may not have more than one field specified at a time");
  Inspect field = source.child("fieldRef");
  if (source.has("fieldRef") && field.wants("fieldPath")) checkEnvPath(field);
  for (std::string_view key : {"configMapKeyRef", "secretKeyRef"}) {
    if (!source.has(key)) continue;
    Inspect reference = source.child(key);
    reference.wants("name");
    if (reference.wants("key")) reference.check("key", configKeyTrouble(reference.text("key")));
  }
}

void checkEnvironment(const Inspect& container) {
  container.each("env", [](const Inspect& variable) {
    if (variable.wants("name")) variable.check("name", variableTrouble(variable.text("name")));
    checkEnvSource(variable);
  });
  container.each("envFrom", [](const Inspect& source) {
    bool both = source.has("configMapRef") && source.has("secretRef");
    if (both || !(source.has("configMapRef") || source.has("secretRef")))
      source.errors().invalid(source.at(), source.object(),
                              "must specify exactly one of: `configMapRef` or `secretRef`");
  });
}

bool hasVolume(const Inspect& spec, std::string_view name) {
  for (const json::Value& volume : spec.array("volumes"))
    if (volume.is_object() && textIn(volume.get_object(), "name") == name) return true;
  return false;
}

void checkMounts(const Inspect& container, const Inspect& spec) {
  std::set<std::string_view> paths;
  container.each("volumeMounts", [&](const Inspect& mount) {
    if (mount.wants("name") && !hasVolume(spec, mount.text("name"))) mount.notFound("name");
    if (mount.wants("mountPath") && !paths.insert(mount.text("mountPath")).second)
      mount.invalid("mountPath", "must be unique");
    if (!mount.text("subPath").empty())
      mount.check("subPath", pathInVolumeTrouble(mount.text("subPath")));
    if (mount.has("subPath") && mount.has("subPathExpr"))
      mount.invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive");
  });
}

void checkImage(const Inspect& container) {
  std::string_view image = container.text("image");
  if (!container.wants("image")) return;
  if (image.find_first_of(" \t\n") == 0 || image.find_last_of(" \t\n") == image.size() - 1)
    container.invalid("image", "must not have leading or trailing whitespace");
}

void checkConfinement(const Inspect& container) {
  Inspect context = container.child("securityContext");
  context.notNegative("runAsUser");
  context.notNegative("runAsGroup");
  const json::Value* escalation = context.find("allowPrivilegeEscalation");
  bool denied = escalation != nullptr && *escalation == json::Value(false);
  if (denied && context.flag("privileged"))
    container.invalid("securityContext",
                      "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

}  // namespace

void checkContainer(const Inspect& container, const Inspect& spec) {
  if (container.wants("name")) container.check("name", labelTrouble(container.text("name")));
  checkImage(container);
  checkPorts(container, spec.flag("hostNetwork"));
  checkEnvironment(container);
  checkMounts(container, spec);
  checkProbes(container);
  Inspect resources = container.child("resources");
  checkResources(resources);
  checkConfinement(container);
}

}  // namespace mangrove::apiserver
