#include "apiserver/pod_security/levels.h"

#include <charconv>

#include <fmt/core.h>

#include "apiserver/pod_security/checks.h"

namespace mangrove::apiserver::pod_security {

namespace {

struct Rule {
  Level level;
  int from;    // the first minor version that has it
  int until;   // the first that has it no more
  int yields;  // the first in which the restricted level has a stricter one in its place
  std::string_view reason;
  std::optional<std::string> (*check)(const Pod& pod);
};

constexpr int kNever = kLatest;
constexpr auto kB = Level::kBaseline, kR = Level::kRestricted;

constexpr Rule kRules[] = {
    {kB, 0, kNever, kNever, "forbidden AppArmor profile", &appArmor},
    {kB, 0, kNever, 22, "non-default capabilities", &addedCapabilities},
    {kB, 0, kNever, kNever, "host namespaces", &hostNamespaces},
    {kB, 0, kNever, 0, "hostPath volumes", &hostPaths},
    {kB, 0, kNever, kNever, "hostPort", &hostPorts},
    {kB, 34, kNever, kNever, "probe or lifecycle host", &probedHosts},
    {kB, 0, kNever, kNever, "privileged", &privileged},
    {kB, 0, 35, kNever, "procMount", &procMount},
    {kB, 35, kNever, 35, "procMount", &procMountOfMachineUsers},
    {kB, 0, 19, kNever, "seccompProfile", &seccompAnnotations},
    {kB, 19, kNever, 19, "seccompProfile", &seccompForbidden},
    {kB, 0, kNever, kNever, "seLinuxOptions", &seLinux},
    {kB, 0, kNever, kNever, "forbidden sysctls", &sysctls},
    {kB, 0, kNever, kNever, "hostProcess", &hostProcess},
    {kB, 0, kNever, kNever, "files of the machine", &callersFiles},
    {kR, 8, kNever, kNever, "allowPrivilegeEscalation != false", &escalation},
    {kR, 22, kNever, kNever, "unrestricted capabilities", &keptCapabilities},
    {kR, 35, kNever, kNever, "procMount", &procMount},
    {kR, 0, kNever, kNever, "restricted volume types", &volumeTypes},
    {kR, 0, kNever, kNever, "runAsNonRoot != true", &nonRoot},
    {kR, 23, kNever, kNever, "runAsUser=0", &rootUser},
    {kR, 19, kNever, kNever, "seccompProfile", &seccompRequired},
};

bool holds(const Rule& rule, const LevelVersion& at) {
  if (rule.level > at.level || at.minor < rule.from) return false;
  if (rule.until != kNever && at.minor >= rule.until) return false;
  return at.level != Level::kRestricted || rule.yields == kNever || at.minor < rule.yields;
}

}  // namespace

std::optional<Level> parseLevel(std::string_view text) {
  if (text == "privileged") return Level::kPrivileged;
  if (text == "baseline") return Level::kBaseline;
  if (text == "restricted") return Level::kRestricted;
  return std::nullopt;
}

const char* levelName(Level level) {
  return level == Level::kPrivileged ? "privileged"
         : level == Level::kBaseline ? "baseline"
                                     : "restricted";
}

std::optional<int> parseVersion(std::string_view text) {
  if (text == "latest") return kLatest;
  if (!text.starts_with("v1.") || text.size() < 4 || (text[3] == '0' && text.size() > 4))
    return std::nullopt;
  int minor = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + text.size(), minor);
  if (error != std::errc() || end != text.data() + text.size() || minor < 0) return std::nullopt;
  return minor;
}

std::string LevelVersion::text() const {
  return minor == kLatest ? fmt::format("{}:latest", levelName(level))
                          : fmt::format("{}:v1.{}", levelName(level), minor);
}

std::vector<Violation> violations(const LevelVersion& level, const json::Object& metadata,
                                  const json::Object& spec) {
  std::vector<Violation> out;
  if (level.level == Level::kPrivileged) return out;
  const Pod pod(metadata, spec, level.minor);
  for (const Rule& rule : kRules) {
    if (!holds(rule, level)) continue;
    if (auto detail = rule.check(pod))
      out.push_back({std::string(rule.reason), std::move(*detail)});
  }
  return out;
}

std::string describe(const std::vector<Violation>& violations) {
  std::string out;
  for (const auto& one : violations)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", one.reason, one.detail);
  return out;
}

}  // namespace mangrove::apiserver::pod_security
