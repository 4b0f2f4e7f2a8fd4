#pragma once
// A pod as its runner sees it: what is wanted (the API object) and what has happened here (records
// of runs). Values; everything in core/ is decided from these, without files, clocks or clients.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/pod.h"
#include "api/pod/pod_run.h"
#include "base/number/units.h"

namespace mangrove::runtime {

// The object read twice over: what everybody reads, and what only a runner needs.
struct RunPod {
  api::Pod pod;
  api::PodRun run;

  std::string uid() const { return std::string(pod.meta.uid.str()); }
  std::string ns() const { return std::string(pod.meta.ns.view()); }
  std::string name() const { return std::string(pod.meta.name.view()); }
};
bool read(const api::In& in, RunPod& out);
using RunPodPtr = std::shared_ptr<const RunPod>;
std::string hostnameOf(const RunPod& pod);  // inside it

// Ephemeral ones are added to a running pod (kubectl debug): started once, never again.
enum class ContainerRole { kInit, kSidecar, kMain, kEphemeral };

// One container of the pod: both halves of its description. Points into the RunPod.
struct ContainerSpec {
  ContainerRole role = ContainerRole::kMain;
  const api::Container* spec = nullptr;
  const api::ContainerRun* run = nullptr;
  std::string_view name() const { return run->name; }
};
// Init containers and sidecars in their order, then the others, then ephemeral ones. Pairs that do
// not fit are left out.
std::vector<ContainerSpec> containersOf(const RunPod& pod);

// How one run ended.
struct ExitRecord {
  int exitCode = 0;
  int signal = 0;
  WallTime startedAt = kZeroTime;
  WallTime finishedAt = kZeroTime;
  std::string reason;   // Completed, Error, OOMKilled, StartError, ContainerCannotRun
  std::string message;  // the termination message
  std::string id;       // of the run
};

// What a container's cgroup was given.
struct Grant {
  api::ResourceList requests, limits;
  bool operator==(const Grant&) const = default;
};
Grant grantOf(const api::Container& container);

// What is known of one container. The present run is number `attempt`; 0 is the first.
struct ContainerRecord {
  std::string name;
  int attempt = 0;
  std::string id;       // of the present or last run; "": never started
  std::string imageId;  // of that run, where there are images
  bool running = false;
  bool starting = false;  // asked for, not confirmed
  bool stopping = false;  // told to stop
  WallTime startedAt = kZeroTime;
  std::optional<ExitRecord> last;    // the latest run that ended
  std::optional<ExitRecord> before;  // the one before it
  bool started = false;              // start-up probe passed, or there is none
  bool ready = false;                // readiness probe passes, or there is none
  int crashes = 0;                   // restarts in a row after short runs
  std::optional<Grant> grant;        // what the present run was given
  bool held = false;                 // waits for its back-off, as of the last decision
  // Why it cannot start (a missing ConfigMap, a volume that is not there); "": nothing known.
  std::string blockedReason, blockedMessage;
  bool everRan() const { return !id.empty(); }
};

// What is known of the pod as a whole.
struct PodRecord {
  std::vector<ContainerRecord> containers;
  bool sandbox = false;    // namespaces, cgroups and volumes are there
  bool hasInited = false;  // all init containers were through once
  std::string ip;
  WallTime startTime = kZeroTime;
  // Since when each of our conditions is as it is. Our own memory, because what the server shows is
  // an echo of what we said a moment ago, and following it could go on for ever.
  struct Transition {
    bool holds = false;
    WallTime since = kZeroTime;
  };
  std::map<std::string, Transition, std::less<>> transitions;
  // Why the resources of the spec are not in force: an unfeasible wish, a write that failed.
  std::string resizeReason, resizeMessage;
  // The pod must end: evicted, past its deadline, refused. Ends as Failed with this reason.
  std::string failReason, failMessage;
  bool isRefused = false;  // it was never begun: there is nothing to say of its containers

  ContainerRecord* find(std::string_view name);
  const ContainerRecord* find(std::string_view name) const;
};

}  // namespace mangrove::runtime
