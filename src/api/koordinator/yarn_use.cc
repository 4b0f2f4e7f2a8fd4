#include "api/koordinator/yarn_use.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

constexpr std::string_view kContainer = "container_";

bool isFigure(char c) {
  return c >= '0' && c <= '9';
}
bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isFigure);
}

// Epoch (left out for 0), cluster, application, attempt, container.
struct ContainerParts {
  std::string_view cluster, application;
};
std::optional<ContainerParts> partsOf(std::string_view container) {
  if (!container.starts_with(kContainer)) return std::nullopt;
  auto parts = split(container.substr(kContainer.size()), '_');
  if (parts.size() == 5 && parts[0].starts_with('e') && isNumber(parts[0].substr(1)))
    parts.erase(parts.begin());
  if (parts.size() != 4 || !std::all_of(parts.begin(), parts.end(), isNumber)) return std::nullopt;
  return ContainerParts{parts[0], parts[1]};
}

json::Object jsonOf(const YarnUse& use) {
  return {{"application", use.application},
          {"milliCpu", std::llround(use.cores * 1000)},
          {"memory", use.memory.v},
          {"containers", use.containers}};
}

}  // namespace

std::string yarnApplicationOf(std::string_view container) {
  const auto parts = partsOf(container);
  return parts ? fmt::format("application_{}_{}", parts->cluster, parts->application) : "";
}

std::string_view yarnContainerIn(std::string_view text) {
  for (size_t at = text.find(kContainer); at != std::string_view::npos;
       at = text.find(kContainer, at + 1)) {
    size_t end = at;
    while (end < text.size() &&
           (isFigure(text[end]) || text[end] == '_' || (text[end] >= 'a' && text[end] <= 'z')))
      ++end;
    if (partsOf(text.substr(at, end - at))) return text.substr(at, end - at);
  }
  return {};
}

json::Array yarnJson(const std::vector<YarnUse>& uses) {
  json::Array out;
  for (const YarnUse& use : uses) out.push_back(jsonOf(use));
  return out;
}

void addYarn(const std::vector<YarnUse>& uses, std::optional<Extensions>& out) {
  if (uses.empty()) return;
  if (!out) out.emplace();
  out->values[std::string(kYarnApplications)] = RawJson{json::write(yarnJson(uses))};
}

std::vector<YarnUse> yarnOf(const PodMetric& pod) {
  std::vector<YarnUse> out;
  if (!pod.extensions) return out;
  const auto found = pod.extensions->values.find(std::string(kYarnApplications));
  if (found == pod.extensions->values.end()) return out;
  const auto value = json::parse(found->second.text);
  if (!value || !value->is_array()) return out;
  for (const json::Value& one : value->get_array()) {
    if (!one.is_object()) continue;
    const auto number = [&](std::string_view key) {
      const json::Value* member = one.get_object().if_contains(key);
      return member != nullptr && member->is_number() ? member->to_number<double>() : 0;
    };
    const json::Value* name = one.get_object().if_contains("application");
    if (name == nullptr || !name->is_string()) continue;
    out.push_back({std::string(std::string_view(name->get_string())), number("milliCpu") / 1000,
                   Bytes{static_cast<int64_t>(number("memory"))},
                   static_cast<int64_t>(number("containers"))});
  }
  return out;
}

}  // namespace mangrove::api
