#pragma once
// What a pod has at stake when it is asked to leave: the one place where a pod becomes a candidate
// of the order of victims (victims/order.h), for agent, scheduler and descheduler alike.
//
//   victims::Candidate one = candidateOf(pod, {.measuredCpuSeconds = 5'400, .evictedToday = 1});
//   one.frees = {memory};
//
// Pure functions, any thread.

#include <optional>
#include <string>

#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "victims/candidate.h"

namespace mangrove::stakes {

// What a pod works with.
struct Work {
  double cores = 0;
  double gpus = 0;
};

// What the pod itself does not say, or its caller has at hand.
struct Known {
  std::optional<double> measuredCpuSeconds = {};  // since it started
  int evictedToday = 0;                           // evictions of its job within 24 h
  std::optional<Work> work = {};                  // nullopt: summed up from the pod's requests
};

// Name, kind, rank, priority and progress. Gang and gain are the caller's: who is in a gang whole
// or by the way depends on how much of it the caller sees.
victims::Candidate candidateOf(const api::Pod& pod, const Known& known = {});
victims::Progress progressOf(const api::Pod& pod, const Known& known = {});

// Lower goes first: free 1, batch 2, mid 3, prod 4. Without a band a pod is as safe as one of prod.
int rankOf(api::PriorityBand band);

// Whose median stands in for those who are silent: "spark-executor", "flink-taskmanager",
// "kubeflow-worker", "ray-worker", else the kind of its owner, "Pod" without one.
std::string kindOf(const api::Pod& pod);
// What its evictions count for: the application or job, else its owner, else itself.
std::string jobOf(const api::Pod& pod);
// The strict gang it stands and falls with, "namespace/name"; "" for all others, also for members
// of gangs that go on without it.
std::string strictGangOf(const api::Pod& pod);

}  // namespace mangrove::stakes
