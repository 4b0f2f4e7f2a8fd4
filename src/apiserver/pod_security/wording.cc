#include "apiserver/pod_security/wording.h"

#include <fmt/core.h>

namespace mangrove::apiserver::pod_security {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

std::string quoted(const std::vector<std::string>& words) {
  std::vector<std::string> marked;
  for (const auto& word : words) marked.push_back(fmt::format("\"{}\"", word));
  return joined(marked, ", ");
}

std::string quoted(const std::set<std::string>& words) {
  return quoted(std::vector<std::string>(words.begin(), words.end()));
}

std::string containers(const std::vector<std::string>& names) {
  return fmt::format("{} {}", names.size() == 1 ? "container" : "containers", quoted(names));
}

std::string Setters::who() const {
  std::vector<std::string> parts;
  if (pod) parts.emplace_back("pod");
  if (!names.empty()) parts.push_back(containers(names));
  if (annotations) parts.emplace_back("annotation");
  return joined(parts, " and ");
}

Setters settersOf(const Pod& pod, const std::function<std::string(const json::Object*)>& badValue) {
  Setters out;
  if (std::string value = badValue(pod.security()); !value.empty()) {
    out.pod = true;
    out.values.insert(std::move(value));
  }
  for (const auto& container : pod.containers()) {
    std::string value = badValue(container.security);
    if (value.empty()) continue;
    out.names.push_back(container.name);
    out.values.insert(std::move(value));
  }
  return out;
}

}  // namespace mangrove::apiserver::pod_security
