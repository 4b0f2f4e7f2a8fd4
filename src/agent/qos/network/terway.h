#pragma once
// The network's division told to Terway's data plane, by two files: what the link and each class
// may use, and which pod is in which class. Pure functions, any thread.
//
//   terwayGlobal(strategy, total)             // "hw_tx_bps_max 125000000\n…"
//   terwayPods({{.name = "web", …}})          // {"<uid>":{"podName":"web",…}}
//
// On the wire of NodeSLO and annotations numbers are bits per second, in the files bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "api/koordinator/resource_qos.h"
#include "api/pod/classes.h"

namespace mangrove::agent {

// global_bps_config: "l1" is services, "l2" batch work; a class that is not enabled has zeros. An
// amount beyond the link is the link.
std::string terwayGlobal(const api::ResourceQosStrategy& strategy, int64_t totalBits);

// 0 the system, 1 services, 2 batch work; pods without a label by their Kubernetes class.
int terwayPriority(api::Qos raw, api::KubeQos kube);

struct TerwayPod {
  std::string name, ns, uid;
  int priority = 0;
  std::string cgroupDir;            // absolute
  int64_t ingress = 0, egress = 0;  // bytes per second; 0: no limit of its own
};
// pod.json, sorted by uid.
std::string terwayPods(std::vector<TerwayPod> pods);

}  // namespace mangrove::agent
