#include "runtime/cri/pod_config.h"

#include <algorithm>

#include <fmt/core.h>

#include "runtime/core/cgroup_values.h"
#include "runtime/core/containment.h"
#include "runtime/cri/runtime_link.h"

namespace mangrove::runtime::cri {

namespace {

// What Kubernetes hides of /proc and /sys unless procMount says otherwise.
const std::vector<std::string> kMasked = {
    "/proc/asound",     "/proc/acpi",        "/proc/interrupts",
    "/proc/kcore",      "/proc/keys",        "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
    "/proc/scsi",       "/sys/firmware",     "/sys/devices/virtual/powercap"};
const std::vector<std::string> kReadOnly = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                            "/proc/sysrq-trigger"};

Namespaces namespacesOf(const RunPod& pod) {
  const auto& spec = *pod.pod.spec;
  Namespaces out;
  if (spec.hostNetwork) out.network = NamespaceMode::kNode;
  if (spec.hostIpc) out.ipc = NamespaceMode::kNode;
  if (pod.run.shareProcessNamespace) out.pid = NamespaceMode::kPod;
  if (spec.hostPid) out.pid = NamespaceMode::kNode;
  return out;
}

SeccompProfile seccompOf(const api::SecurityContext& pod, const api::SecurityContext& own) {
  const auto& profile = own.seccomp ? own.seccomp : pod.seccomp;
  if (profile && profile->type == "Unconfined") return {Seccomp::kUnconfined};
  if (profile && profile->type == "Localhost")
    return {Seccomp::kLocalhost, profile->localhostProfile};
  return {};
}

Resources resourcesOf(const RunPod& pod, const ContainerSpec& container, Bytes machine) {
  const CgroupValues values = containerValues(*container.spec);
  Resources out;
  out.shares = values.shares;
  if (!values.quota.isNone()) {
    out.period = kernel::kCfsPeriodUs;
    out.quota = values.quota.us();
  }
  if (values.memory) out.memory = values.memory->v;
  out.oomScoreAdj = oomScoreAdj(*pod.pod.spec, *container.spec, machine);
  return out;
}

Texts labelsOf(const RunPod& pod) {
  return {{kPodName, pod.name()}, {kPodNamespace, pod.ns()}, {kPodUid, pod.uid()}};
}

}  // namespace

bool isForRuntime(const RunPod& pod) {
  return pod.pod.spec->runtimeClassName.view() != kOwnRuntimeClass && !callerEnvironment(pod);
}

SandboxConfig sandboxConfigOf(const RunPod& pod, const SandboxPlace& place) {
  SandboxConfig out;
  out.name = pod.name();
  out.uid = pod.uid();
  out.ns = pod.ns();
  out.hostname = pod.pod.spec->hostNetwork ? "" : hostnameOf(pod);
  out.logDirectory = place.logDir;
  out.labels = labelsOf(pod);
  for (const auto& label : pod.pod.meta.labels)
    out.labels.emplace(std::string(label.key.view()), std::string(label.value.view()));
  out.labels[kRunner] = place.runner;
  out.cgroupParent = place.cgroupParent;
  out.namespaces = namespacesOf(pod);
  const auto& security = pod.run.security;
  out.user = security.runAsUser;
  if (security.runAsUser) out.group = security.runAsGroup;  // a group alone is no user's
  out.groups = security.supplementalGroups;
  for (const auto& one : security.sysctls) out.sysctls[one.name] = one.value;
  for (const auto& one : containersOf(pod))
    out.privileged = out.privileged || one.run->security.privileged;
  return out;
}

ContainerConfig containerConfigOf(const RunPod& pod, const ContainerSpec& container, int attempt,
                                  Bytes machine) {
  const api::ContainerRun& run = *container.run;
  const auto &own = run.security, &theirs = pod.run.security;
  ContainerConfig out;
  out.name = run.name;
  out.attempt = static_cast<uint32_t>(attempt);
  out.wantedImage = run.image;
  out.workingDir = run.workingDir;
  out.labels = labelsOf(pod);
  out.labels[kContainerName] = run.name;
  out.logPath = fmt::format("{}/{}.log", run.name, attempt);
  out.openStdin = run.stdinOpen;
  out.stdinOnce = run.stdinOnce;
  out.tty = run.tty;
  out.resources = resourcesOf(pod, container, machine);
  out.addCapabilities = own.addCapabilities;
  out.dropCapabilities = own.dropCapabilities;
  out.privileged = own.privileged;
  out.namespaces = namespacesOf(pod);
  out.user = own.runAsUser ? own.runAsUser : theirs.runAsUser;
  out.group = own.runAsGroup ? own.runAsGroup : theirs.runAsGroup;
  out.groups = theirs.supplementalGroups;
  if (theirs.fsGroup) out.groups.push_back(*theirs.fsGroup);
  out.readOnlyRoot = own.readOnlyRootFilesystem;
  out.noNewPrivileges = own.allowPrivilegeEscalation == false;
  if (own.procMount != "Unmasked" && !own.privileged) {
    out.maskedPaths = kMasked;
    out.readOnlyPaths = kReadOnly;
  }
  out.seccomp = own.privileged ? SeccompProfile{Seccomp::kUnconfined} : seccompOf(theirs, own);
  return out;
}

std::string userRefusal(const RunPod& pod, const api::ContainerRun& run,
                        const std::optional<int64_t>& imageUser, const std::string& imageUserName) {
  const auto &own = run.security, &theirs = pod.run.security;
  if (pod.run.hostUsers == false)
    return "hostUsers is false, and containers of a runtime have the machine's users here: leave "
           "it "
           "out, or use the runtime class mangrove-process";
  const auto nonRoot = own.runAsNonRoot ? own.runAsNonRoot : theirs.runAsNonRoot;
  if (!nonRoot.value_or(false)) return "";
  const auto user = own.runAsUser ? own.runAsUser : theirs.runAsUser;
  if (user) return *user == 0 ? "container's runAsUser breaks non-root policy" : "";
  if (!imageUserName.empty())
    return fmt::format(
        "container has runAsNonRoot and image has non-numeric user ({}), cannot verify user is "
        "non-root",
        imageUserName);
  return imageUser.value_or(0) == 0 ? "container has runAsNonRoot and image will run as root" : "";
}

}  // namespace mangrove::runtime::cri
