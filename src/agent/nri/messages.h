#pragma once
// What of NRI's messages (nri.pkg.api.v1alpha1) the agent reads and writes. Fields it does not know
// are skipped. Pure functions, any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/meta.h"
#include "api/select/labels.h"
#include "base/result.h"

namespace mangrove::agent {

struct NriPod {
  std::string id, name, uid, ns;
  api::Labels labels;
  api::Annotations annotations;
  std::string cgroupParent;
};

struct NriContainer {
  std::string id, podId, name;
  std::optional<int64_t> quota;  // as the runtime was asked
};

// What a container shall get; absent: left to the runtime.
struct NriResources {
  std::optional<int64_t> shares, quota, memory;  // -1: without limit
  std::string cpus;
  std::string rdtClass;
  bool empty() const;
  bool operator==(const NriResources&) const = default;
};
// A character device that everybody in the container may read and write.
struct NriDevice {
  std::string path;
  int64_t major = 0, minor = 0;
  bool operator==(const NriDevice&) const = default;
};
// A file or folder of the node that the container sees too.
struct NriMount {
  std::string destination, source;
  bool readOnly = false;
  bool makeSource = false;  // a folder that is to be made first; not sent
  bool operator==(const NriMount&) const = default;
};
struct NriAdjustment {
  NriResources resources;
  std::vector<NriMount> mounts = {};
  std::vector<NriDevice> devices;
  std::map<std::string, std::string> env;
  bool operator==(const NriAdjustment&) const = default;
};

// Events by their numbers.
namespace nri_event {
inline constexpr int kRunPodSandbox = 1, kRemovePodSandbox = 3, kCreateContainer = 4,
                     kStartContainer = 6, kUpdateContainer = 8;
}
// Of Configure's answer: one bit per event.
int32_t eventMask(std::initializer_list<int> events);

struct NriRequest {
  int event = 0;  // of StateChange
  NriPod pod;
  NriContainer container;
  std::vector<NriPod> pods;  // of Synchronize
  std::vector<NriContainer> containers;
  std::string runtime, version, config;  // of Configure
  bool more = false;                     // of Synchronize: further pods follow
};
// CreateContainer, UpdateContainer: pod 1, container 2. StateChange: event 1, pod 2, container 3.
Result<NriRequest> readCreate(std::string_view bytes);
Result<NriRequest> readStateChange(std::string_view bytes);
Result<NriRequest> readSynchronize(std::string_view bytes);
Result<NriRequest> readConfigure(std::string_view bytes);

std::string writeRegister(std::string_view name, std::string_view index);
std::string writeConfigured(int32_t events);
std::string writeSynchronized(const std::vector<std::pair<std::string, NriResources>>& updates,
                              bool more);
std::string writeCreated(const NriAdjustment& adjustment);
std::string writeUpdated(std::string_view container, const NriResources& resources);

}  // namespace mangrove::agent
