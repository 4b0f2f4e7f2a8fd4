#pragma once
// What a batch job will ask for before any of its pods exists: its components, how many replicas of
// each, and what one replica takes. Operators make the pods; the sizes here are those they will
// have, so that quotas, reservations and admission can count a job as a whole.
//
//   auto parts = componentsOf("sparkapplications", view);
//   // Scala, driver and one executor of 1 core and 512m: two components of 896 MiB each
//   inBand(atLeast(*parts), PriorityBand::kBatch)       // batch-cpu 2000, batch-memory 1879048192
//
// Known: sparkapplications, flinkdeployments, pytorchjobs, tfjobs, mpijobs, trainjobs, rayjobs,
// Volcano's and Kubernetes' jobs. Pure functions, any thread.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/classes.h"
#include "api/pod/resource_list.h"
#include "base/result.h"
#include "json/view.h"

namespace mangrove::api {

// Where a component's pods may run, as its author wrote it.
struct NodeClaim {
  std::map<std::string, std::string> nodeSelector;
  RawJson tolerations;
  RawJson affinity;
  std::string priorityClassName;
  std::string schedulerName;
};
bool read(const In& in, NodeClaim& out);

// Settings as operators take them: texts, or numbers and flags that stand for their text.
using Settings = std::map<std::string, std::string>;
bool readSettings(const In& in, Settings& out);

struct Component {
  std::string name = {};  // "driver", "executor", "jobmanager", "taskmanager", "Master", …
  int64_t replicas = 1;   // at the start
  int64_t minReplicas = 1;
  int64_t maxReplicas = 1;
  bool critical = false;  // the job falls with it: driver, job manager, master, launcher, head
  ResourceList requests = {}, limits = {};  // of one replica, in native names
  NodeClaim claim = {};
};

// `resource` is the plural name of the kind. nullopt: a kind nobody interprets here.
Result<std::optional<std::vector<Component>>> componentsOf(std::string_view resource,
                                                           json::View object);

// n times each amount.
ResourceList times(const ResourceList& one, int64_t count);
// What must be there for the job to begin: minReplicas of each component.
ResourceList atLeast(const std::vector<Component>& components);
// The same with cpu and memory under the names of a band, as admission rewrites pods: milli-cores
// and bytes as plain integers. Bands that sell nothing leave the list as it is.
ResourceList inBand(const ResourceList& native, PriorityBand band);

// ---- the kinds -------------------------------------------------------------------------------

Result<std::vector<Component>> sparkComponents(json::View application);
Result<std::vector<Component>> flinkComponents(json::View deployment);
Result<std::vector<Component>> replicaSpecComponents(json::View job);  // PyTorchJob, TFJob, MPIJob
Result<std::vector<Component>> trainJobComponents(json::View job);
Result<std::vector<Component>> rayComponents(json::View job);
Result<std::vector<Component>> jobComponents(json::View job);  // Kubernetes' or Volcano's

}  // namespace mangrove::api
