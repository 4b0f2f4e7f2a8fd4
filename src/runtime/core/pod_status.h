#pragma once
// The status a runner reports for a pod: phase, conditions, one state per container. Pure.
//
//   json::Object status = podStatus(pod, record, {.hostIp = "10.0.0.1", .now = now});
//   // a merge patch {"status": status}: lists are whole, conditions of others are kept

#include <string>

#include "json/value.h"
#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct StatusFacts {
  std::string hostIp;
  WallTime now = kZeroTime;
};

api::PodPhase phaseOf(const RunPod& pod, const PodRecord& record);
bool isReady(const RunPod& pod, const PodRecord& record);
// Remembers in the record since when each condition holds; before podStatus.
void noteTransitions(const RunPod& pod, PodRecord& record, WallTime now);
json::Object podStatus(const RunPod& pod, const PodRecord& record, const StatusFacts& facts);
// "back-off 40s restarting failed container=main pod=web_default(uid)".
std::string backOffMessage(const RunPod& pod, const ContainerRecord& container);

}  // namespace mangrove::runtime
