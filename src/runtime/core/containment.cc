#include "runtime/core/containment.h"

#include <algorithm>
#include <array>

#include "base/text/strings.h"

namespace mangrove::runtime {

namespace {

// In the kernel's order: the place is the number.
constexpr std::array<std::string_view, 41> kNames = {"CHOWN",
                                                     "DAC_OVERRIDE",
                                                     "DAC_READ_SEARCH",
                                                     "FOWNER",
                                                     "FSETID",
                                                     "KILL",
                                                     "SETGID",
                                                     "SETUID",
                                                     "SETPCAP",
                                                     "LINUX_IMMUTABLE",
                                                     "NET_BIND_SERVICE",
                                                     "NET_BROADCAST",
                                                     "NET_ADMIN",
                                                     "NET_RAW",
                                                     "IPC_LOCK",
                                                     "IPC_OWNER",
                                                     "SYS_MODULE",
                                                     "SYS_RAWIO",
                                                     "SYS_CHROOT",
                                                     "SYS_PTRACE",
                                                     "SYS_PACCT",
                                                     "SYS_ADMIN",
                                                     "SYS_BOOT",
                                                     "SYS_NICE",
                                                     "SYS_RESOURCE",
                                                     "SYS_TIME",
                                                     "SYS_TTY_CONFIG",
                                                     "MKNOD",
                                                     "LEASE",
                                                     "AUDIT_WRITE",
                                                     "AUDIT_CONTROL",
                                                     "SETFCAP",
                                                     "MAC_OVERRIDE",
                                                     "MAC_ADMIN",
                                                     "SYSLOG",
                                                     "WAKE_ALARM",
                                                     "BLOCK_SUSPEND",
                                                     "AUDIT_READ",
                                                     "PERFMON",
                                                     "BPF",
                                                     "CHECKPOINT_RESTORE"};

constexpr std::array<std::string_view, 14> kDefault = {
    "CHOWN",   "DAC_OVERRIDE", "FSETID",           "FOWNER",
    "MKNOD",   "NET_RAW",      "SETGID",           "SETUID",
    "SETFCAP", "SETPCAP",      "NET_BIND_SERVICE", "SYS_CHROOT",
    "KILL",    "AUDIT_WRITE"};

uint64_t bit(int number) {
  return uint64_t{1} << number;
}

Result<uint64_t> bitsOf(const std::vector<std::string>& names, std::string_view field) {
  uint64_t bits = 0;
  for (const auto& name : names) {
    if (name == "ALL") return allCapabilities();
    const auto number = capabilityNumber(name);
    if (!number)
      return invalid(
          "securityContext.capabilities.{}: '{}' is no capability of Linux; want a name such as "
          "NET_ADMIN, or ALL",
          field, name);
    bits |= bit(*number);
  }
  return bits;
}

// What is added by name stays, whatever is dropped as ALL; what is dropped by name goes.
Result<uint64_t> capabilitiesOf(const api::SecurityContext& security) {
  auto add = bitsOf(security.addCapabilities, "add");
  auto drop = bitsOf(security.dropCapabilities, "drop");
  if (!add) return pass(add.error());
  if (!drop) return pass(drop.error());
  if (*drop == allCapabilities()) return *add;
  return (defaultCapabilities() | *add) & ~*drop;
}

Result<bool> filtersCalls(const api::SecurityContext& pod, const api::SecurityContext& own) {
  const auto& profile = own.seccomp ? own.seccomp : pod.seccomp;
  if (!profile || profile->type == "RuntimeDefault" || profile->type.empty()) return true;
  if (profile->type == "Unconfined") return false;
  return invalid(
      "seccompProfile.type {}: this runner has one filter of its own; want RuntimeDefault or "
      "Unconfined",
      profile->type);
}

uint64_t digestOf(std::string_view text) {  // FNV-1a
  uint64_t hash = 14695981039346656037ULL;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return hash;
}

bool isBeyondMap(const std::optional<int64_t>& id) {
  return id && *id >= kMappedUsers;
}

bool fitsMap(const api::SecurityContext& security) {
  return !isBeyondMap(security.runAsUser) && !isBeyondMap(security.runAsGroup) &&
         !isBeyondMap(security.fsGroup) &&
         std::all_of(security.supplementalGroups.begin(), security.supplementalGroups.end(),
                     [](int64_t group) { return group < kMappedUsers; });
}

}  // namespace

uint64_t allCapabilities() {
  return bit(static_cast<int>(kNames.size())) - 1;
}

std::optional<int> capabilityNumber(std::string_view name) {
  if (name.starts_with("CAP_")) name.remove_prefix(4);
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<int>(found - kNames.begin());
}

uint64_t defaultCapabilities() {
  uint64_t bits = 0;
  for (auto name : kDefault) bits |= bit(*capabilityNumber(name));
  return bits;
}

std::optional<std::string> callerEnvironment(const RunPod& pod) {
  const auto value = pod.pod.meta.annotations.get(kCallerAnnotation);
  if (!value) return std::nullopt;
  return std::string(*value);
}

Without withoutOf(const RunPod& pod, bool permitted) {
  Without out;
  const auto words = pod.pod.meta.annotations.get(kWithoutAnnotation);
  if (!permitted || !words) return out;
  for (auto word : split(*words, ',')) out.emplace(word);
  return out;
}

Result<Containment> containmentOf(const RunPod& pod, const api::ContainerRun& run,
                                  const Without& without) {
  const auto& own = run.security;
  const auto on = [&](std::string_view layer) { return !without.contains(layer); };
  auto capabilities = capabilitiesOf(own);
  if (!capabilities) return pass(capabilities.error());
  auto seccomp = filtersCalls(pod.run.security, own);
  if (!seccomp) return pass(seccomp.error());
  if (own.privileged && own.allowPrivilegeEscalation == false)
    return invalid("a privileged container cannot have allowPrivilegeEscalation: false");
  if (own.privileged)
    return Containment{View::kMachine, allCapabilities(), false, false, false, false, false, false};
  Containment held;
  held.view = callerEnvironment(pod) ? View::kCaller : View::kContained;
  held.capabilities = on("capabilities") ? *capabilities : allCapabilities();
  held.noNewPrivileges = on("no-new-privileges") && !own.allowPrivilegeEscalation.value_or(false);
  held.seccomp = on("seccomp") && *seccomp;
  held.maskKernel = on("masked-paths") && own.procMount != "Unmasked";
  held.noDevices = on("no-devices");
  held.hideSecrets = on("hidden-secrets");
  held.own = on("private-root");
  return held;
}

int64_t firstUserOf(const RunPod& pod, bool kernelMaps, const Without& without) {
  if (!kernelMaps || without.contains("user-map") || pod.run.hostUsers.value_or(false)) return 0;
  const auto& spec = *pod.pod.spec;
  if (spec.hostNetwork || spec.hostPid || spec.hostIpc || callerEnvironment(pod)) return 0;
  if (!fitsMap(pod.run.security)) return 0;
  for (const auto& one : containersOf(pod))
    if (one.run->security.privileged || !fitsMap(one.run->security)) return 0;
  // Above the ranges that distributions give to people (/etc/subuid), below 2^31.
  constexpr uint64_t kFirst = 16, kRanges = 32'000;
  return static_cast<int64_t>(kFirst + digestOf(pod.uid()) % kRanges) * kMappedUsers;
}

}  // namespace mangrove::runtime
