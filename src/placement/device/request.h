#pragma once
// What a pod asks of a node's devices, in one spelling. Users write cards by vendor, percents, bytes
// or counts of shared cards; the allocator reads totals per device type, and for GPUs how many
// cards with how much of each.
//
//   readDeviceRequest({{"nvidia.com/gpu", 2}})
//     → gpu: {gpu-core 200, gpu-memory-ratio 200}; 2 cards of {100, 100}, not shared
//   readDeviceRequest({{"koordinator.sh/gpu-core", 100}})
//     → refused: cores alone say nothing about memory
//
// gpu-memory in bytes, everything else in units. Pure functions, any thread.

#include <map>
#include <optional>
#include <string>

#include "placement/quota/amounts.h"

namespace mangrove::placement {

namespace device_type {
inline constexpr std::string_view kGpu = "gpu";
inline constexpr std::string_view kRdma = "rdma";
inline constexpr std::string_view kFpga = "fpga";
}  // namespace device_type

// Handles of the names that allocations are counted in, interned once.
struct DeviceNames {
  Interned core, memory, ratio, rdma, fpga;
};
const DeviceNames& deviceNames();

enum class DeviceFault {
  kUnit,         // gpu, rdma or fpga above 100 and no multiple of 100
  kCombination,  // names that do not go together, or values that do not
};

struct DeviceRefusal {
  DeviceFault fault = DeviceFault::kCombination;
  std::string message;  // names what was asked and what would be right
};

struct GpuShare {
  int64_t count = 1;
  Amounts perGpu;
  bool shared = false;  // leaves part of each card to others; bytes of memory always count as part
};

struct DeviceRequest {
  std::map<std::string, Amounts, std::less<>> byType;  // gpu, rdma, fpga; empty: no device
  std::optional<GpuShare> gpu;
};

struct DeviceReading {
  DeviceRequest request;
  std::optional<DeviceRefusal> refusal;  // then the request is empty
};

// From the pod's total requests; names that are no device are passed over, zeros count as absent.
DeviceReading readDeviceRequest(const Amounts& podTotal);

}  // namespace mangrove::placement
