#pragma once
// A box of eight GPUs in pairs on four switches and two NUMA nodes, a NIC on each switch: the
// Device object, the node that has it, and pods that ask for parts of it. For tests.
//
//   Lab lab;
//   putBox(lab, "n1");
//   lab.pod(devicePod("a", {{"koordinator.sh/gpu-core", "50"}, …}));

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/koordinator/device.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {

struct BoxOptions {
  std::string labels = "{}";  // of the node
  std::string deviceLabels = "{}";
  int gpus = 8;
  int nics = 4;
  std::vector<int> ill = {};  // GPUs
  std::string notes = "{}";   // of the Device object
};
std::shared_ptr<api::Device> boxOf(std::string_view name, const BoxOptions& options = {});
// Node and Device.
void putBox(Lab& lab, std::string_view name, const BoxOptions& options = {});
// The Device alone, as its agent reports it; the scheduler hears of it.
void putDevice(Lab& lab, std::string_view name, std::shared_ptr<const api::Device> device);

using Asked = std::vector<std::pair<std::string, std::string>>;
std::string devicePod(std::string_view name, const Asked& asked, std::string_view notes = "",
                      std::string_view more = "", std::string_view labels = "");
inline Asked cards(int count) {
  return {{"nvidia.com/gpu", std::to_string(count)}};
}
inline Asked percent(int share) {
  return {{"koordinator.sh/gpu", std::to_string(share)}};
}

// "gpu 0 1; rdma 1(0000:1f:00.2)" of the pod's annotation, "" when it has none.
std::string devicesOf(const Lab& lab, std::string_view pod);

}  // namespace mangrove::placement
