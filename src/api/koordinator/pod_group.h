#pragma once
// PodGroup (scheduling.sigs.k8s.io): a gang as an object. Namespaced; no status subresource; users
// write the spec, the scheduler the status.

#include <optional>
#include <string>

#include "api/object/meta.h"
#include "api/pod/resource_list.h"
#include "json/fwd.h"

namespace mangrove::api {

struct PodGroupSpec {
  int32_t minMember = 0;
  ResourceList minResources;
  std::optional<int32_t> scheduleTimeoutSeconds;
  bool operator==(const PodGroupSpec&) const = default;
};
bool read(const In& in, PodGroupSpec& out);
json::Value toJson(const PodGroupSpec& value);

struct PodGroupStatus {
  std::string
      phase;  // Pending, PreScheduling, Scheduling, Scheduled, Running, Unknown, Finished, Failed
  std::string occupiedBy;
  int32_t scheduled = 0;
  int32_t running = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
  WallTime scheduleStartTime = kZeroTime;
  bool operator==(const PodGroupStatus&) const = default;
};
bool read(const In& in, PodGroupStatus& out);
json::Value toJson(const PodGroupStatus& value);

struct PodGroup {
  ObjectMeta meta;
  PodGroupSpec spec;
  PodGroupStatus status;
};
bool read(const In& in, PodGroup& out);

}  // namespace mangrove::api
