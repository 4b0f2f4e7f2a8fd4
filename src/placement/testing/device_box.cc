#include "placement/testing/device_box.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/device.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "base/check.h"
#include "base/text/strings.h"

namespace mangrove::placement {
namespace {

std::string gpuText(int minor, bool healthy) {
  return fmt::format(
      R"({{"type":"gpu","id":"GPU-{0}","minor":{0},"health":{1},"resources":{{
          "koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"80Gi",
          "koordinator.sh/gpu-memory-ratio":"100"}},
          "topology":{{"socketID":-1,"nodeID":{2},"pcieID":"{3}"}}}})",
      minor, healthy, minor / 4, minor / 2);
}

std::string nicText(int minor) {
  const char digits[] = {'0', '1', '3', '5', '7'};
  const std::string bus = fmt::format("0000:{}f:00", digits[minor % 5]);
  return fmt::format(
      R"({{"type":"rdma","id":"NIC-{0}","minor":{0},"health":true,"labels":{{"type":"fakeW"}},
          "resources":{{"koordinator.sh/rdma":"100"}},
          "topology":{{"socketID":-1,"nodeID":{1},"pcieID":"{2}"}},
          "vfGroups":[{{"labels":{{"type":"general"}},"vfs":[
            {{"minor":3,"busID":"{3}.3"}},{{"minor":2,"busID":"{3}.2"}}]}}]}})",
      minor, (minor - 1) / 2, minor - 1, bus);
}

}  // namespace

std::shared_ptr<api::Device> boxOf(std::string_view name, const BoxOptions& options) {
  std::vector<std::string> all;
  for (int i = 0; i < options.gpus; ++i)
    all.push_back(
        gpuText(i, std::find(options.ill.begin(), options.ill.end(), i) == options.ill.end()));
  for (int i = 1; i <= options.nics; ++i) all.push_back(nicText(i));
  auto device = api::decodeText<api::Device>(fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{},"annotations":{}}},"spec":{{"devices":[{}]}}}})",
      name, options.deviceLabels, options.notes, join(all, ",")));
  CHECK(device.has_value(), "{}", device.error().text());
  return std::make_shared<api::Device>(std::move(*device));
}

void putBox(Lab& lab, std::string_view name, const BoxOptions& options) {
  lab.node(fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{}}},"status":{{"allocatable":{{"cpu":"128",
          "memory":"1024Gi","nvidia.com/gpu":"{}","koordinator.sh/gpu":"{}00",
          "koordinator.sh/gpu-core":"{}00","koordinator.sh/gpu-memory-ratio":"{}00",
          "koordinator.sh/gpu-memory":"640Gi","koordinator.sh/gpu.shared":"800",
          "huawei.com/npu-core":"800",
          "koordinator.sh/rdma":"{}00","koordinator.sh/fpga":"0"}}}}}})",
      name, options.labels, options.gpus, options.gpus, options.gpus, options.gpus, options.nics));
  putDevice(lab, name, boxOf(name, options));
}

void putDevice(Lab& lab, std::string_view name, std::shared_ptr<const api::Device> device) {
  ClusterEvent event;
  event.kind = EventKind::kDevice;
  event.label = "Device";
  event.row = lab.cluster().putDevice(name, std::move(device));
  lab.engine().happened(event);
}

std::string devicePod(std::string_view name, const Asked& asked, std::string_view notes,
                      std::string_view more, std::string_view labels) {
  std::vector<std::string> requests = {R"("cpu":"1")", R"("memory":"1Gi")"};
  for (const auto& [resource, amount] : asked)
    requests.push_back(fmt::format(R"("{}":"{}")", resource, amount));
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{{}}},"annotations":{{{}}}}},"spec":{{{}
          "containers":[{{"name":"c","resources":{{"requests":{{{}}}}}}}]}}}})",
      name, labels, notes, more, join(requests, ","));
}

std::string devicesOf(const Lab& lab, std::string_view pod) {
  const auto found = lab.find(pod);
  if (!found) return "";
  const auto got = api::parseDeviceAllocations(found->meta.annotations);
  if (!got || !*got) return "";
  std::vector<std::string> types;
  for (const auto& [type, list] : **got) {
    std::string text = type;
    for (const auto& one : list) {
      text += fmt::format(" {}", one.minor);
      if (one.extension)
        for (const auto& function : one.extension->vfs) text += fmt::format("({})", function.busId);
    }
    types.push_back(text);
  }
  return join(types, "; ");
}

}  // namespace mangrove::placement
