#include "runtime/node/pods/pod_prep.h"

#include <filesystem>

#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include "api/pod/classes.h"
#include "base/os/files.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "runtime/core/env_expand.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Every pod has it, asked for or not.
constexpr std::string_view kTokenMount = "/var/run/secrets/kubernetes.io/serviceaccount";

constexpr std::string_view kStandIn = "/run/mangrove/stand-in";

bool isOptionalMiss(const Error& error, const api::KeyRef& ref) {
  return ref.optional && error.code() == Code::kNotFound;
}

void setUser(const RunPod& pod, const api::ContainerRun& run, ContainerSpecFile& spec) {
  const auto& ours = run.security;
  const auto& theirs = pod.run.security;
  spec.uid = ours.runAsUser.value_or(theirs.runAsUser.value_or(::geteuid()));
  spec.gid = ours.runAsGroup.value_or(theirs.runAsGroup.value_or(::getegid()));
  spec.groups = theirs.supplementalGroups;
  if (theirs.fsGroup) spec.groups.push_back(*theirs.fsGroup);
}

}  // namespace

std::string newContainerId() {
  char bytes[32] = {};
  (void)!::getrandom(bytes, sizeof bytes, 0);
  return hexEncode({bytes, sizeof bytes});
}

std::string findProgram(std::string_view name) {
  if (name.empty() || name.find('/') != std::string_view::npos) return "";
  for (auto dir : split(kPath, ':')) {
    const std::string path = std::string(dir) + "/" + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

DownwardFacts PodPrep::downward(const std::string& podIp) const {
  return {node_.nodeName, node_.hostIp, podIp, node_.cpu, node_.memory};
}

void PodPrep::hostsFile(const RunPod& pod, const std::string& podIp) {
  std::string text =
      "# written by mangrove for this pod\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n";
  const std::string hostname = pod.run.hostname.empty() ? pod.name() : pod.run.hostname;
  if (!podIp.empty()) text += podIp + "\t" + hostname + "\n";
  for (const auto& alias : pod.run.hostAliases)
    text += alias.ip + "\t" + join(alias.hostnames, " ") + "\n";
  (void)writeFileAtomically(node_.podDir(pod.uid()) + "/hosts", text, {.sync = false});
}

Result<> PodPrep::makeSandbox(const RunPod& pod, const std::string& podIp) {
  const std::string dir = node_.podDir(pod.uid());
  std::error_code error;
  for (const char* part : {"/state", "/specs", "/volumes", "/run"}) {
    fs::create_directories(dir + part, error);
    if (error) return failErrno(error.value(), dir + part);
  }
  hostsFile(pod, podIp);
  auto volumes = makeVolumes(pod, node_, downward(podIp), source_);
  if (!volumes) return pass(volumes.error());
  const api::KubeQos qos = api::kubeQos(pod.pod);
  CgroupValues values = podValues(*pod.pod.spec);
  values.pids = node_.podPids;
  return cgroups_.make(cgroups_.podPath(qos, pod.uid()), values);
}

Result<std::string> PodPrep::valueOf(const RunPod& pod, const ContainerSpec& container,
                                     const DownwardFacts& facts, const api::EnvVar& var,
                                     Environment& known) {
  if (var.fieldPath) return fieldValue(pod, facts, *var.fieldPath);
  if (var.resourceField) return resourceValue(pod, facts, container.name(), *var.resourceField);
  const bool isMap = var.configMap.has_value();
  if (!isMap && !var.secret) return expand(var.value, known);
  const api::KeyRef& ref = isMap ? *var.configMap : *var.secret;
  auto data = isMap ? source_.configMap(pod.ns(), ref.name) : source_.secret(pod.ns(), ref.name);
  if (!data) return pass(data.error());
  auto found = data->find(ref.key);
  if (found == data->end())
    return fail(Code::kNotFound, "couldn't find key {} in {} {}/{}", ref.key,
                isMap ? "ConfigMap" : "Secret", pod.ns(), ref.name);
  return found->second;
}

Result<std::vector<std::string>> PodPrep::environment(const RunPod& pod,
                                                      const ContainerSpec& container,
                                                      const DownwardFacts& facts,
                                                      Environment& known) {
  known["PATH"] = kPath;
  known["HOSTNAME"] = pod.run.hostname.empty() ? pod.name() : pod.run.hostname;
  services_.addVariables(pod.ns(), known);
  for (const auto& from : container.run->envFrom) {
    const bool isMap = from.configMap.has_value();
    if (!isMap && !from.secret) continue;
    const api::KeyRef& ref = isMap ? *from.configMap : *from.secret;
    auto data = isMap ? source_.configMap(pod.ns(), ref.name) : source_.secret(pod.ns(), ref.name);
    if (!data && isOptionalMiss(data.error(), ref)) continue;
    if (!data) return pass(data.error());
    for (const auto& [key, value] : *data) known[from.prefix + key] = value;
  }
  for (const auto& var : container.run->env) {
    auto value = valueOf(pod, container, facts, var, known);
    const api::KeyRef* ref = var.configMap ? &*var.configMap : var.secret ? &*var.secret : nullptr;
    if (!value && ref && isOptionalMiss(value.error(), *ref)) continue;
    if (!value) return pass(value.error());
    known[var.name] = std::move(*value);
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : known) out.push_back(name + "=" + value);
  return out;
}

Result<> PodPrep::mounts(const RunPod& pod, const api::ContainerRun& run,
                         const ReadyVolumes& volumes, const Environment& known,
                         ContainerSpecFile& spec) {
  if (!pod.pod.spec->hostNetwork)
    spec.mounts.push_back({node_.podDir(pod.uid()) + "/hosts", "/etc/hosts", false, true});
  for (const auto& mount : run.mounts) {
    if (!node_.isolation.mounts && mount.mountPath == kTokenMount) continue;
    if (!node_.isolation.mounts)
      return fail(Code::kUnsupported,
                  "volume {} cannot be mounted at {}: this machine permits no mount namespaces",
                  mount.name, mount.mountPath);
    auto found = volumes.find(mount.name);
    if (found == volumes.end())
      return invalid("container {} mounts volume \"{}\", which the pod does not have", run.name,
                     mount.name);
    const ReadyVolume& volume = found->second;
    std::string source = volume.path;
    const std::string sub =
        mount.subPathExpr.empty() ? mount.subPath : expand(mount.subPathExpr, known);
    if (sub.find("..") != std::string::npos) return invalid("subPath '{}' must not leave", sub);
    std::error_code error;
    bool isFile = volume.isFile;
    if (!sub.empty()) {
      source += "/" + sub;
      if (!fs::exists(source, error)) fs::create_directories(source, error);
      isFile = !fs::is_directory(source, error);
    }
    std::string target = mount.mountPath.starts_with('/') ? mount.mountPath : "/" + mount.mountPath;
    while (target.size() > 1 && target.ends_with('/')) target.pop_back();
    spec.mounts.push_back({source, target, mount.readOnly || volume.readOnly, isFile});
  }
  return {};
}

Result<BuiltContainer> PodPrep::build(const RunPod& pod, const ContainerSpec& container,
                                      int attempt, const std::string& podIp) {
  const std::string dir = node_.podDir(pod.uid()), name(container.name());
  const DownwardFacts facts = downward(podIp);
  ContainerSpecFile spec;
  spec.name = name;
  spec.id = newContainerId();
  spec.attempt = attempt;
  Environment known;
  auto env = environment(pod, container, facts, known);
  if (!env) return pass(env.error());
  spec.env = std::move(*env);
  const ImageCommand command = commandOf(*container.run, findProgram, node_.program);
  spec.argv = expand(command.argv, known);
  spec.cwd = container.run->workingDir.empty() ? "/" : container.run->workingDir;
  setUser(pod, *container.run, spec);
  if ((container.run->security.runAsNonRoot || pod.run.security.runAsNonRoot) && spec.uid == 0)
    return invalid("container has runAsNonRoot and would run as root; set runAsUser");
  auto volumes = makeVolumes(pod, node_, facts, source_);
  if (!volumes) return pass(volumes.error());
  if (auto ok = mounts(pod, *container.run, *volumes, known, spec); !ok) return pass(ok.error());

  // Our own binary may lie where containers cannot see it.
  if (command.standIn && node_.isolation.mounts) {
    spec.argv[0] = kStandIn;
    spec.mounts.push_back({node_.program, std::string(kStandIn), true, true});
  }

  const api::KubeQos qos = api::kubeQos(pod.pod);
  const std::string cgroup = cgroups_.podPath(qos, pod.uid()) + "/" + spec.id;
  if (auto ok = cgroups_.make(cgroup, containerValues(*container.spec)); !ok)
    return pass(ok.error());
  cgroups_.killTogether(cgroup);
  spec.cgroups = cgroups_.joinDirs(cgroup);
  spec.scratch = fmt::format("{}/run/{}-{}", dir, name, attempt);
  const std::string logs = node_.logDir(pod.ns(), pod.name(), pod.uid()) + "/" + name;
  std::error_code error;
  fs::create_directories(spec.scratch, error);
  fs::create_directories(logs, error);
  spec.logPath = fmt::format("{}/{}.log", logs, attempt);
  spec.oomScoreAdj = oomScoreAdj(*pod.pod.spec, *container.spec, node_.memory);
  spec.ownPids = node_.isolation.pids && !pod.pod.spec->hostPid;
  spec.sharePids = pod.run.shareProcessNamespace;
  spec.pidsOf = container.run->targetContainer;
  spec.ownMounts = node_.isolation.mounts;
  spec.hostDevices = container.run->security.privileged;
  spec.readOnlyRoot = container.run->security.readOnlyRootFilesystem;
  if (!container.run->terminationMessagePath.empty())
    spec.messagePath = container.run->terminationMessagePath;
  spec.tty = container.run->tty;
  spec.openStdin = container.run->stdinOpen;
  spec.stdinOnce = container.run->stdinOnce;
  const std::string path = fmt::format("{}/specs/{}-{}.json", dir, name, attempt);
  if (auto ok = writeFileAtomically(path, spec.text(), {.mode = 0600, .sync = false}); !ok)
    return pass(ok.error());
  return BuiltContainer{path, spec.id, command.sentence, command.standIn, grantOf(*container.spec)};
}

void PodPrep::refreshVolumes(const RunPod& pod, const std::string& podIp) {
  std::error_code error;
  if (!fs::exists(node_.podDir(pod.uid()) + "/volumes", error)) return;  // taken down meanwhile
  (void)makeVolumes(pod, node_, downward(podIp), source_);
}

void PodPrep::removeRun(const RunPod& pod, const std::string& id) {
  if (id.empty()) return;  // that would be the whole pod
  const std::string cgroup = cgroups_.podPath(api::kubeQos(pod.pod), pod.uid()) + "/" + id;
  cgroups_.kill(cgroup);
  (void)cgroups_.remove(cgroup);
}

void PodPrep::removeLogs(const std::string& logDir) {
  std::error_code error;
  fs::remove_all(logDir, error);
}

Result<> PodPrep::remove(const std::string& uid, const std::string& cgroup,
                         const std::string& logDir) {
  cgroups_.kill(cgroup);
  if (auto ok = cgroups_.remove(cgroup); !ok) return ok;
  const std::string dir = node_.podDir(uid);
  releaseVolumes(dir);
  std::error_code error;
  fs::remove_all(dir, error);
  if (!logDir.empty()) fs::remove_all(logDir, error);
  return {};
}

}  // namespace mangrove::runtime
