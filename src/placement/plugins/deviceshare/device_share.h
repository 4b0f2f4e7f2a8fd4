#pragma once
// DeviceShare: GPUs by share, whole and in groups, RDMA and FPGA beside them. Chooses the cards of
// a pod on a node, keeps the books of all cards and writes down what a pod got.

#include "placement/device/allocate.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/deviceshare/args.h"
#include "placement/plugins/deviceshare/device_books.h"
#include "placement/plugins/deviceshare/device_plan.h"
#include "placement/plugins/numa/hints.h"

namespace mangrove::placement {

// What a pod gets on one node.
struct DeviceChoice {
  api::DeviceAllocations allocations;
  api::Uid lender;  // the reservation they come from; empty: nobody's
};
using DeviceDecision = tl::expected<DeviceChoice, DeviceShortage>;

struct DeviceQuestion {
  const DevicePlan& pod;
  const api::Labels& nodeLabels;
  const DeviceBook& book;
  const std::vector<DeviceLoan>& loans;
  AllocationTerms terms;
};
// Why the node cannot serve the pod whatever is free there; nullopt: it could.
std::optional<DeviceShortage> unfitFor(const DevicePlan& pod, const api::Labels& node,
                                       const DeviceShareArgs& args);
DeviceDecision chooseDevices(const DeviceQuestion& question);
// 0..100 per device type that the pod asks for, by what is in use of all cards of the node.
int64_t scoreDevices(const DevicePlan& pod, const NodeDevices& node, CardScorer scorer);
// Which sets of NUMA nodes could give the pod its devices, by device type.
HintMap deviceHints(const DevicePlan& pod, const NodeDevices& node, const std::vector<int>& nodes,
                    const AllocationTerms& terms);

Result<std::unique_ptr<Plugin>> makeDeviceShare(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
