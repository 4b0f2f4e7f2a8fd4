#pragma once
// The slow half of running a pod: directories, volumes, cgroups, and each container's description
// for the shim. Blocking; runs on preparing threads, one pod on one thread at a time.

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/api_client.h"
#include "runtime/core/image_command.h"
#include "runtime/core/pod_model.h"
#include "runtime/cri/image_keeper.h"
#include "runtime/node/network/service_forwarder.h"
#include "runtime/node/node_facts.h"
#include "runtime/node/pods/cgroups.h"
#include "runtime/node/volumes/config_source.h"
#include "runtime/node/volumes/volumes.h"
#include "runtime/shim/container_spec.h"

namespace mangrove::runtime {

struct BuiltContainer {
  std::string specPath;
  std::string id;    // "": the container runtime will give it one
  std::string note;  // for an Event: what an image without a command became
  bool standIn = false;
  Grant grant;                                      // the resources its cgroup was made for
  std::optional<cri::ContainerConfig> config = {};  // for a container runtime, instead of a file
};

class PodPrep {
 public:
  PodPrep(client::ApiClient& client, const Cgroups& cgroups, const NodeFacts& node,
          const ServiceBook& services)
      : cgroups_(cgroups), node_(node), services_(services), source_(client, realClock()) {}

  // Directories, volumes and the pod's cgroup. May be repeated.
  Result<> makeSandbox(const RunPod& pod, const std::string& podIp);
  // kNotFound for a missing ConfigMap or Secret of a variable: CreateContainerConfigError.
  Result<BuiltContainer> build(const RunPod& pod, const ContainerSpec& container, int attempt,
                               const std::string& podIp);
  // The same for a container runtime, with the image that it has.
  Result<BuiltContainer> buildForRuntime(const RunPod& pod, const ContainerSpec& container,
                                         int attempt, const std::string& podIp,
                                         const cri::HeldImage& image);
  // Its cgroup, made and set up before the runtime puts the first process there.
  void beforeStart(const RunPod& pod, const std::string& container, const std::string& id);
  // What RuntimeClass `name` calls its handler.
  Result<std::string> runtimeHandler(const std::string& name);
  // Those of the pod's pull secrets that are there; the others are named in `missing`.
  std::vector<cri::PullSecret> pullSecrets(const RunPod& pod, std::vector<std::string>& missing);
  // ConfigMaps and the like that have changed appear in the volumes of a running pod.
  void refreshVolumes(const RunPod& pod, const std::string& podIp);
  // Everything of the pod on this machine, logs included. kUnavailable: something is still in use.
  Result<> remove(const std::string& uid, const std::string& cgroup, const std::string& logDir);
  void removeLogs(const std::string& logDir);
  // The cgroup of a run that has ended.
  void removeRun(const RunPod& pod, const std::string& id);

 private:
  DownwardFacts downward(const std::string& podIp) const;
  Result<std::vector<std::string>> environment(
      const RunPod& pod, const ContainerSpec& container, const DownwardFacts& facts,
      std::map<std::string, std::string, std::less<>>& known);
  Result<std::string> valueOf(const RunPod& pod, const ContainerSpec& container,
                              const DownwardFacts& facts, const api::EnvVar& var,
                              std::map<std::string, std::string, std::less<>>& known);
  Result<> mounts(const RunPod& pod, const api::ContainerRun& run, const ReadyVolumes& volumes,
                  const std::map<std::string, std::string, std::less<>>& known,
                  ContainerSpecFile& spec);
  // User, view and confinement; kInvalid and kUnsupported name a field that cannot be honoured.
  Result<> contain(const RunPod& pod, const api::ContainerRun& run, ContainerSpecFile& spec);
  Result<> equip(const RunPod& pod, ContainerSpecFile& spec);
  Result<> filterFor(uint64_t capabilities, ContainerSpecFile& spec);
  Result<cri::Mount> runtimeMount(const RunPod& pod, const std::string& container,
                                  const MountSpec& mount, size_t number);
  void hostsFile(const RunPod& pod, const std::string& podIp);
  void resolverFileOf(const RunPod& pod);

  const Cgroups& cgroups_;
  const NodeFacts& node_;
  const ServiceBook& services_;
  ConfigSource source_;
  std::mutex filtersMutex_;  // preparing threads are several
  std::set<uint64_t> filters_;
};

// A fresh id for a run: 64 hexadecimal digits.
std::string newContainerId();
// Where a program of that name is on this machine; "" when nowhere.
std::string findProgram(std::string_view name);

}  // namespace mangrove::runtime
