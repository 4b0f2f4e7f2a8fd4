#include "base/feature_gates.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/go_bool.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"

namespace mangrove {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

const GateInfo* gateNamed(const std::vector<GateInfo>& known, std::string_view name) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](auto& gate) { return gate.name == name; });
  return found == known.end() ? nullptr : &*found;
}

Failure unknownGate(const std::vector<GateInfo>& known, std::string_view name) {
  std::vector<std::string_view> names = {kAllAlpha, kAllBeta};
  for (const GateInfo& gate : known) names.push_back(gate.name);
  return invalid("unknown feature gate '{}'{}", name, didYouMean(name, names));
}

// What one --feature-gates text asks for.
struct Wanted {
  std::map<std::string_view, bool> named;
  std::optional<bool> allAlpha;
  std::optional<bool> allBeta;
};

Result<> readOne(std::string_view part, const std::vector<GateInfo>& known, Wanted& wanted) {
  const Halves halves = cut(part, '=');
  const std::string_view name = trim(halves.before);
  const Result<bool> on = parseGoBool(trim(halves.after));
  if (!halves.found)
    return invalid("feature gate '{}' has no value: want {}=true or {}=false", part, name, name);
  if (!on) return invalid("feature gate {}='{}': want true or false", name, trim(halves.after));
  if (name == kAllAlpha) {
    wanted.allAlpha = *on;
    return {};
  }
  if (name == kAllBeta) {
    wanted.allBeta = *on;
    return {};
  }
  const GateInfo* gate = gateNamed(known, name);
  if (!gate) return unknownGate(known, name);
  if (gate->locked && *on != gate->onByDefault) {
    return invalid("feature gate {} is settled and stays {}", name, gate->onByDefault);
  }
  wanted.named[gate->name] = *on;
  return {};
}

}  // namespace

const char* maturityName(Maturity maturity) {
  switch (maturity) {
    case Maturity::kAlpha:
      return "ALPHA";
    case Maturity::kBeta:
      return "BETA";
    case Maturity::kGa:
      return "GA";
    case Maturity::kDeprecated:
      return "DEPRECATED";
  }
  return "UNKNOWN";
}

FeatureGates::FeatureGates(std::span<const GateInfo> known) : known_(known.begin(), known.end()) {
  std::sort(known_.begin(), known_.end(), [](auto& a, auto& b) { return a.name < b.name; });
  for (const GateInfo& gate : known_) {
    const bool fresh = on_.emplace(gate.name, gate.onByDefault).second;
    CHECK(fresh, "feature gate {} declared twice", gate.name);
  }
}

Result<> FeatureGates::set(std::string_view list) {
  Wanted wanted;
  for (std::string_view part : splitTrimmed(list, ',')) {
    if (Result<> read = readOne(part, known_, wanted); !read) return read;
  }
  for (const GateInfo& gate : known_) {
    const std::optional<bool> all = gate.maturity == Maturity::kAlpha  ? wanted.allAlpha
                                    : gate.maturity == Maturity::kBeta ? wanted.allBeta
                                                                       : std::nullopt;
    if (all && !gate.locked) on_[gate.name] = *all;
  }
  for (const auto& [name, on] : wanted.named) on_[name] = on;
  return {};
}

bool FeatureGates::on(std::string_view name) const {
  const auto found = on_.find(name);
  CHECK(found != on_.end(), "feature gate {} was never declared", name);
  return found->second;
}

std::string FeatureGates::help() const {
  std::string out =
      "AllAlpha=true|false (ALPHA - default=false)\nAllBeta=true|false (BETA - default=false)\n";
  for (const GateInfo& gate : known_) {
    fmt::format_to(std::back_inserter(out), "{}=true|false ({} - default={}){}{}\n", gate.name,
                   maturityName(gate.maturity), gate.onByDefault, gate.about.empty() ? "" : " ",
                   gate.about);
  }
  return out;
}

std::string FeatureGates::summary() const {
  std::vector<std::string> parts;
  for (const auto& [name, on] : on_) parts.push_back(fmt::format("{}={}", name, on));
  return join(parts, ",");
}

}  // namespace mangrove
