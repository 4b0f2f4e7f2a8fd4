#include "placement/cycle/diagnosis.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::placement {

Diagnosis Diagnosis::refusal(size_t nodes, std::string plugin, std::string reason) {
  Diagnosis out;
  out.nodes = nodes;
  out.preFilter = std::move(reason);
  out.plugins = {std::move(plugin)};
  return out;
}

bool Diagnosis::suggest(std::string_view type, std::string message) {
  if (suggestion) return false;
  suggestion = Suggestion{std::string(type), std::move(message)};
  return true;
}

std::string Diagnosis::message() const {
  if (isError) return error;
  if (nodes == 0) return "no nodes available to schedule pods";
  std::string out = fmt::format("0/{} nodes are available:", nodes);
  if (!preFilter.empty()) {
    out += fmt::format(" {}.", preFilter);
  } else {
    std::vector<std::string> parts;
    for (const auto& [reason, count] : reasons)
      parts.push_back(fmt::format("{} {}", count, reason));
    std::sort(parts.begin(), parts.end());
    if (!parts.empty()) out += fmt::format(" {}.", join(parts, ", "));
  }
  if (!postFilter.empty()) out += " " + postFilter;
  if (suggestion)
    out += fmt::format(" Suggestion: {{type: {}, message: {}}}", suggestion->type,
                       suggestion->message);
  return out;
}

}  // namespace mangrove::placement
