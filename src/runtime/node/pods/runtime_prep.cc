// Containers of a container runtime: what PodPrep knows of volumes and variables, said as CRI.
#include <filesystem>

#include <fmt/core.h>
#include <sys/mount.h>

#include "api/pod/classes.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "runtime/core/env_expand.h"
#include "runtime/cri/pod_config.h"
#include "runtime/cri/runtime_link.h"
#include "runtime/node/pods/pod_prep.h"
#include "runtime/shim/mounts.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

// An empty file that whoever the container runs as may write.
Result<> makeMessageFile(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (auto ok = writeFileAtomically(path, "", {.mode = 0666, .sync = false}); !ok) return ok;
  fs::permissions(path, static_cast<fs::perms>(0666), error);
  return {};
}

// Of an earlier run of the container.
void releaseParts(const std::string& podDir, const std::string& container) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(podDir + "/volumes", error)) {
    if (!entry.path().filename().string().starts_with(fmt::format("{}{}.", kPartPrefix, container)))
      continue;
    ::umount2(entry.path().c_str(), MNT_DETACH);
    fs::remove(entry.path(), error);
  }
}

}  // namespace

// What is mounted of a volume is opened beneath it first, and only that is shown to the runtime, at
// a place of ours: nobody in the pod can move a link in between.
Result<cri::Mount> PodPrep::runtimeMount(const RunPod& pod, const std::string& container,
                                         const MountSpec& mount, size_t number) {
  if (mount.sub.empty()) return cri::Mount{mount.source, mount.target, mount.readOnly};
  auto top = openPath(mount.source);
  auto found = top ? makeBeneath(top->get(), mount.sub, {.file = mount.isFile}) : std::move(top);
  auto tree = found ? cloneTree(found->get(), true) : std::move(found);
  if (!tree) return tree.error().in("subPath {}", mount.sub);
  const std::string place =
      fmt::format("{}/volumes/{}{}.{}", node_.podDir(pod.uid()), kPartPrefix, container, number);
  std::error_code error;
  if (mount.isFile) {
    if (auto ok = writeFileAtomically(place, "", {.sync = false}); !ok) return pass(ok.error());
  } else {
    fs::create_directories(place, error);
  }
  auto at = openPath(place);
  if (!at) return pass(at.error());
  if (auto ok = attach(tree->get(), at->get()); !ok) return ok.error().in("subPath {}", mount.sub);
  return cri::Mount{place, mount.target, mount.readOnly};
}

Result<BuiltContainer> PodPrep::buildForRuntime(const RunPod& pod, const ContainerSpec& container,
                                                int attempt, const std::string& podIp,
                                                const cri::HeldImage& image) {
  const DownwardFacts facts = downward(podIp);
  const std::string name(container.name());
  if (auto why = cri::userRefusal(pod, *container.run, image.user, image.userName); !why.empty())
    return invalid("{}", why);
  cri::ContainerConfig config = cri::containerConfigOf(pod, container, attempt, node_.memory);
  config.image = image.ref;
  ContainerSpecFile parts;  // variables, mounts and devices, as for a shim
  parts.name = name;
  Environment known;
  auto env = environment(pod, container, facts, known);
  if (!env) return pass(env.error());
  parts.env = std::move(*env);
  config.command = expand(container.run->command, known);
  config.args = expand(container.run->args, known);
  auto volumes = makeVolumes(pod, node_, facts, source_);
  if (!volumes) return pass(volumes.error());
  if (auto ok = mounts(pod, *container.run, *volumes, known, parts); !ok) return pass(ok.error());
  if (auto ok = equip(pod, parts); !ok) return pass(ok.error());
  for (const auto& variable : parts.env) {
    const auto halves = cut(variable, '=');
    config.env.emplace_back(halves.before, halves.after);
  }
  releaseParts(node_.podDir(pod.uid()), name);
  for (size_t i = 0; i < parts.mounts.size(); ++i) {
    auto mount = runtimeMount(pod, name, parts.mounts[i], i);
    if (!mount) return mount.error().in("container {}", name);
    config.mounts.push_back(std::move(*mount));
  }
  for (const auto& device : parts.devices) config.devices.push_back({device});
  const std::string message = cri::messagePath(node_.podDir(pod.uid()), name, attempt);
  if (auto ok = makeMessageFile(message); !ok) return pass(ok.error());
  const std::string& wanted = container.run->terminationMessagePath;
  config.mounts.push_back({message, wanted.empty() ? "/dev/termination-log" : wanted, false});
  std::error_code error;
  fs::create_directories(node_.logDir(pod.ns(), pod.name(), pod.uid()) + "/" + name, error);
  BuiltContainer out;
  out.grant = grantOf(*container.spec);
  out.config = std::move(config);
  return out;
}

void PodPrep::beforeStart(const RunPod& pod, const std::string& container, const std::string& id) {
  const api::KubeQos qos = api::kubeQos(pod.pod);
  const std::string parent = cgroups_.podPath(qos, pod.uid()), own = parent + "/" + id;
  for (const auto& one : containersOf(pod))
    if (one.name() == container) (void)cgroups_.make(own, containerValues(*one.spec));
  if (node_.beforeStart) node_.beforeStart({pod.uid(), parent, qos, id, container, own});
}

Result<std::string> PodPrep::runtimeHandler(const std::string& name) {
  return name.empty() ? std::string() : source_.runtimeHandler(name);
}

std::vector<cri::PullSecret> PodPrep::pullSecrets(const RunPod& pod,
                                                  std::vector<std::string>& missing) {
  std::vector<cri::PullSecret> out;
  for (const auto& name : pod.run.imagePullSecrets) {
    auto data = source_.secret(pod.ns(), name);
    if (!data) {
      missing.push_back(name);
      continue;
    }
    for (const char* key : {".dockerconfigjson", ".dockercfg"})
      if (auto found = data->find(key); found != data->end()) out.push_back({name, found->second});
  }
  return out;
}

}  // namespace mangrove::runtime
