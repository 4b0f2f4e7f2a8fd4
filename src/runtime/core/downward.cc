#include "runtime/core/downward.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::runtime {

namespace {

// key="value" lines, sorted, with Go's quoting for the few characters that need it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

template <class Map>
std::string allOf(const Map& map) {
  std::vector<std::string> lines;
  for (const auto& entry : map)
    lines.push_back(std::string(entry.key.view()) + "=" + quoted(entry.value.view()));
  std::sort(lines.begin(), lines.end());
  return join(lines, "\n");
}

template <class Map>
std::string oneOf(const Map& map, std::string_view wanted) {
  return std::string(map.get(wanted).value_or(""));
}

// The part between [' and '] of "metadata.labels['app']"; nullopt when there is none.
std::optional<std::string_view> subscript(std::string_view path, std::string_view head) {
  if (!path.starts_with(head)) return std::nullopt;
  path.remove_prefix(head.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 4) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

int64_t ceilDiv(int64_t amount, int64_t divisor) {
  return divisor <= 0 ? amount : (amount + divisor - 1) / divisor;
}

const api::Container* findContainer(const RunPod& pod, std::string_view name) {
  for (const auto* list : {&pod.pod.spec->containers, &pod.pod.spec->initContainers})
    for (const auto& one : *list)
      if (one.name.view() == name) return &one;
  return nullptr;
}

// Containers without a limit see the whole machine.
int64_t amountOf(const api::Container& container, std::string_view kind, std::string_view resource,
                 const DownwardFacts& facts) {
  const bool limit = kind == "limits";
  const api::ResourceList& list = limit ? container.limits : container.requests;
  if (resource == "cpu") return limit && !list.has("cpu") ? facts.machineCpu.v : list.cpu().v;
  if (resource == "memory" && limit && !list.has("memory")) return facts.machineMemory.v;
  return list.amount(resource).scaled(0);
}

}  // namespace

Result<std::string> fieldValue(const RunPod& pod, const DownwardFacts& facts,
                               std::string_view path) {
  const auto& meta = pod.pod.meta;
  if (auto key = subscript(path, "metadata.labels")) return oneOf(meta.labels, *key);
  if (auto key = subscript(path, "metadata.annotations")) return oneOf(meta.annotations, *key);
  if (path == "metadata.name") return pod.name();
  if (path == "metadata.namespace") return pod.ns();
  if (path == "metadata.uid") return pod.uid();
  if (path == "metadata.labels") return allOf(meta.labels);
  if (path == "metadata.annotations") return allOf(meta.annotations);
  if (path == "spec.nodeName") return facts.nodeName;
  if (path == "spec.serviceAccountName") return pod.run.serviceAccountName;
  if (path == "status.hostIP" || path == "status.hostIPs") return facts.hostIp;
  if (path == "status.podIP" || path == "status.podIPs") return facts.podIp;
  return invalid(
      "fieldPath '{}': want metadata.name, .namespace, .uid, .labels, .annotations, "
      "spec.nodeName, spec.serviceAccountName, status.hostIP or status.podIP",
      path);
}

Result<std::string> resourceValue(const RunPod& pod, const DownwardFacts& facts,
                                  std::string_view container,
                                  const api::EnvVar::ResourceField& field) {
  const std::string_view name = field.container.empty() ? container : field.container;
  const api::Container* found = findContainer(pod, name);
  if (!found) return invalid("resourceFieldRef: the pod has no container '{}'", name);
  const auto parts = cut(field.resource, '.');
  if (!parts.found || (parts.before != "limits" && parts.before != "requests"))
    return invalid("resourceFieldRef '{}': want limits.NAME or requests.NAME", field.resource);
  const int64_t amount = amountOf(*found, parts.before, parts.after, facts);
  // "0" is what the server writes where nobody chose one.
  const bool isCpu = parts.after == "cpu";
  const int64_t chosen = field.divisor ? field.divisor->scaled(isCpu ? -3 : 0) : 0;
  return std::to_string(ceilDiv(amount, chosen > 0 ? chosen : isCpu ? 1000 : 1));
}

}  // namespace mangrove::runtime
