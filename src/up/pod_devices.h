#pragma once
// What a container of `up` gets for the cards that the scheduler gave its pod: the card's device
// files and the driver's own, those of RDMA functions, and HAMi-core where the pod asks for it. The
// rules are the agent's, by which it adjusts containers of other runtimes.
//
//   DeviceKit kit = deviceKit();                        // once, before the first pod
//   gearFor(kit, pod, "main")->nodes                    // {"/dev/nvidiactl", "/dev/nvidia1", …}
//
// Pure but for deviceKit; any thread.

#include <functional>
#include <string>
#include <string_view>

#include "agent/nri/gpu.h"
#include "agent/nri/rdma_nodes.h"
#include "api/pod/pod.h"
#include "base/result.h"
#include "runtime/core/device_gear.h"

namespace mangrove::up {

// What of devices this machine has.
struct DeviceKit {
  std::function<bool(const std::string& path)> exists;
  agent::RdmaNodes rdma;
  agent::HamiCore hami;
};
// Of the machine we run on; RDMA as it is now.
DeviceKit deviceKit();

// kNotFound: the pod asks for HAMi-core and it is not installed here.
Result<runtime::DeviceGear> gearFor(const DeviceKit& kit, const api::Pod& pod,
                                    std::string_view container);

}  // namespace mangrove::up
