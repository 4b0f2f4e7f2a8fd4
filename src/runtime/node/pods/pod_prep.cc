#include "runtime/node/pods/pod_prep.h"

#include <filesystem>

#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/pod/classes.h"
#include "base/os/files.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "runtime/core/containment.h"
#include "runtime/core/device_variables.h"
#include "runtime/core/env_expand.h"
#include "runtime/core/names.h"
#include "runtime/node/pods/own_files.h"
#include "runtime/shim/mounts.h"
#include "runtime/shim/seccomp_filter.h"

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

// Only its kind is looked at here; the shim opens it beneath the volume again, when it mounts.
bool isFileBeneath(const std::string& volume, const std::string& sub) {
  auto top = openPath(volume);
  auto found = top ? openBeneath(top->get(), sub) : std::move(top);
  struct stat about {};
  return found && ::fstat(found->get(), &about) == 0 && !S_ISDIR(about.st_mode);
}

Result<MountSpec> mountOf(const api::VolumeMount& mount, const ReadyVolume& volume,
                          const Environment& known) {
  MountSpec out{volume.path, "", mount.readOnly || volume.readOnly, volume.isFile, ""};
  out.sub = mount.subPathExpr.empty() ? mount.subPath : expand(mount.subPathExpr, known);
  for (auto part : split(out.sub, '/'))
    if (part == "..") return invalid("subPath '{}' must not contain '..'", out.sub);
  if (out.sub.starts_with('/')) return invalid("subPath '{}' must be relative", out.sub);
  if (!out.sub.empty()) out.isFile = isFileBeneath(volume.path, out.sub);
  out.target = mount.mountPath.starts_with('/') ? mount.mountPath : "/" + mount.mountPath;
  while (out.target.size() > 1 && out.target.ends_with('/')) out.target.pop_back();
  return out;
}

std::string_view wordOf(View view) {
  return view == View::kMachine  ? kViewMachine
         : view == View::kCaller ? kViewCaller
                                 : kViewContained;
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
  // The first line is Kubernetes': people and tests look for it.
  std::string text =
      "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n";
  if (!podIp.empty()) text += podIp + "\t" + hostnameOf(pod) + "\n";
  if (!pod.run.hostAliases.empty()) text += "\n# Entries added by HostAliases.\n";
  for (const auto& alias : pod.run.hostAliases)
    text += alias.ip + "\t" + join(alias.hostnames, "\t") + "\n";
  (void)writeFileAtomically(node_.podDir(pod.uid()) + "/hosts", text, {.sync = false});
}

// Where the machine's own file is right there is none.
void PodPrep::resolverFileOf(const RunPod& pod) {
  const api::DnsConfig& config = pod.run.dnsConfig;
  ResolverWish wish{pod.run.dnsPolicy, config.nameservers, config.searches, {}};
  for (const api::DnsOption& one : config.options)
    wish.options.push_back(one.value.empty() ? one.name : one.name + ":" + one.value);
  const auto text = resolverFile(wish, pod.ns(), pod.pod.spec->hostNetwork, node_.nameServer,
                                 readFile("/etc/resolv.conf").value_or(""));
  const std::string path = node_.podDir(pod.uid()) + "/resolv.conf";
  if (text) (void)writeFileAtomically(path, *text, {.sync = false});
}

Result<> PodPrep::makeSandbox(const RunPod& pod, const std::string& podIp) {
  const std::string dir = node_.podDir(pod.uid());
  std::error_code error;
  for (const char* part : {"/state", "/specs", "/volumes", "/run"}) {
    fs::create_directories(dir + part, error);
    if (error) return failErrno(error.value(), dir + part);
  }
  hostsFile(pod, podIp);
  resolverFileOf(pod);
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
  // Cards are given by the scheduler, whatever the pod would like to see.
  const auto devices = deviceVariables(pod.pod.meta.annotations);
  if (!devices) return pass(devices.error());
  for (const auto& [name, value] : *devices) known[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : known) out.push_back(name + "=" + value);
  return out;
}

Result<> PodPrep::mounts(const RunPod& pod, const api::ContainerRun& run,
                         const ReadyVolumes& volumes, const Environment& known,
                         ContainerSpecFile& spec) {
  if (!pod.pod.spec->hostNetwork)
    spec.mounts.push_back({node_.podDir(pod.uid()) + "/hosts", "/etc/hosts", false, true});
  const std::string resolver = node_.podDir(pod.uid()) + "/resolv.conf";
  if (spec.view != kViewCaller && fs::exists(resolver))
    spec.mounts.push_back({resolver, "/etc/resolv.conf", false, true});
  const bool canMount = node_.isolation.mounts && spec.view != kViewCaller;
  for (const auto& mount : run.mounts) {
    if (!canMount && mount.mountPath == kTokenMount) continue;
    if (!canMount)
      return fail(Code::kUnsupported, "volume {} cannot be mounted at {}: {}", mount.name,
                  mount.mountPath,
                  node_.isolation.mounts ? "the command of a caller sees the machine's own files"
                                         : "this machine permits no mount namespaces");
    auto found = volumes.find(mount.name);
    if (found == volumes.end())
      return invalid("container {} mounts volume \"{}\", which the pod does not have", run.name,
                     mount.name);
    auto ready = mountOf(mount, found->second, known);
    if (!ready) return ready.error().in("container {}", run.name);
    spec.mounts.push_back(std::move(*ready));
  }
  return {};
}

// What comes with the devices that the pod was given.
Result<> PodPrep::equip(const RunPod& pod, ContainerSpecFile& spec) {
  if (!node_.equip) return {};
  auto gear = node_.equip(pod.pod, spec.name);
  if (!gear) return pass(gear.error());
  for (const auto& [name, value] : gear->env) {
    std::erase_if(spec.env, [&](const auto& one) { return one.starts_with(name + "="); });
    spec.env.push_back(name + "=" + value);
  }
  if (!node_.isolation.mounts || spec.view == kViewCaller) return {};  // it sees the machine's own
  spec.devices = std::move(gear->nodes);
  for (const DeviceGear::Mount& one : gear->mounts) {
    std::error_code error;
    if (one.isFolder && fs::create_directories(one.source, error))
      fs::permissions(one.source, fs::perms::all | fs::perms::sticky_bit, error);
    if (error) return failErrno(error.value(), one.source);
    spec.mounts.push_back({one.source, one.target, one.readOnly, !one.isFolder});
  }
  return {};
}

// Made once for each set of capabilities and each run of ours; shims read the file.
Result<> PodPrep::filterFor(uint64_t capabilities, ContainerSpecFile& spec) {
  const std::string path = fmt::format("{}/system-calls-{:x}", node_.dataDir, capabilities);
  std::lock_guard lock(filtersMutex_);
  if (!filters_.contains(capabilities)) {
    auto program = filterProgram(capabilities);
    if (!program) return pass(program.error());
    if (auto ok = writeFileAtomically(path, *program, {.mode = 0600, .sync = false}); !ok)
      return ok;
    filters_.insert(capabilities);
  }
  spec.filter = path;
  return {};
}

Result<> PodPrep::contain(const RunPod& pod, const api::ContainerRun& run,
                          ContainerSpecFile& spec) {
  setUser(pod, run, spec);
  const auto nonRoot =
      run.security.runAsNonRoot ? run.security.runAsNonRoot : pod.run.security.runAsNonRoot;
  if (nonRoot.value_or(false) && spec.uid == 0)
    return invalid("container has runAsNonRoot and would run as root; set runAsUser");
  const Without without = withoutOf(pod, node_.testProtections);
  auto held = containmentOf(pod, run, without);
  if (!held) return pass(held.error());
  spec.view = wordOf(held->view);
  spec.ownRoot = held->own;
  spec.capabilities = static_cast<int64_t>(held->capabilities);
  spec.noNewPrivileges = held->noNewPrivileges;
  if (auto ok = held->seccomp ? filterFor(held->capabilities, spec) : Result<>(); !ok) return ok;
  spec.maskKernel = held->maskKernel;
  spec.noDevices = held->noDevices;
  if (held->hideSecrets) spec.hidden = unreadableBelow("/etc");
  if (held->hideSecrets) spec.dataDir = node_.dataDir;
  spec.firstUser = firstUserOf(pod, node_.isolation.mapUsers, without);
  if (pod.run.hostUsers == false && spec.firstUser == 0)
    return fail(Code::kUnsupported,
                "hostUsers is false and users of this pod's own cannot be had: it shares a "
                "namespace of the machine, has users above 65535, is privileged, or this machine "
                "permits no mapping of users");
  auto caller = callerEnvironment(pod);
  auto variables = caller ? callerVariables(*caller, spec.uid) : std::vector<std::string>();
  if (!variables) return pass(variables.error());
  if (caller) spec.env = std::move(*variables);
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
  Environment known{{"PATH", std::string(kPath)}, {"HOSTNAME", hostnameOf(pod)}};
  auto env = environment(pod, container, facts, known);
  if (!env) return pass(env.error());
  spec.env = std::move(*env);
  const ImageCommand command = commandOf(*container.run, findProgram, node_.program);
  spec.argv = expand(command.argv, known);
  spec.cwd = container.run->workingDir.empty() ? "/" : container.run->workingDir;
  if (auto ok = contain(pod, *container.run, spec); !ok) return pass(ok.error());
  auto volumes = makeVolumes(pod, node_, facts, source_);
  if (!volumes) return pass(volumes.error());
  if (auto ok = mounts(pod, *container.run, *volumes, known, spec); !ok) return pass(ok.error());
  if (auto ok = equip(pod, spec); !ok) return pass(ok.error());

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
  if (node_.beforeStart)
    node_.beforeStart({pod.uid(), cgroups_.podPath(qos, pod.uid()), qos, spec.id, name, cgroup});
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
  spec.ownMounts = node_.isolation.mounts && spec.view != kViewCaller;
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
  // An empty one would be the whole pod, one with slashes somebody else's.
  if (id.size() != 64 || id.find_first_not_of("0123456789abcdef") != std::string::npos) return;
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
  source_.forget(uid);
  releaseVolumes(dir);
  std::error_code error;
  fs::remove_all(dir, error);
  if (!logDir.empty()) fs::remove_all(logDir, error);
  return {};
}

}  // namespace mangrove::runtime
