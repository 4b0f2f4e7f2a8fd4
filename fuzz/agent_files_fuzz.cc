// What the agent reads beside kernel files: models and lessons of an earlier run, the kubelet's
// answers and state, descriptions of accelerators, queries of the audit log. Any text is read or
// refused.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "agent/collect/io_meter.h"
#include "agent/devices/nvml.h"
#include "agent/devices/rdma.h"
#include "agent/devices/xpu.h"
#include "agent/predict/checkpoint.h"
#include "agent/report/kubelet.h"
#include "agent/report/topology.h"
#include "base/check.h"

using namespace mangrove;
using namespace mangrove::agent;

namespace {

void checkModels(std::string_view text) {
  json::Doc doc;
  if (const auto view = doc.parse(text)) {
    const auto model = readCheckpoint(*view, {});
    if (model) {
      CHECK(!model->key.empty());
      CHECK(std::isfinite(model->model.cpu.percentile(0.95)));
      CHECK(std::isfinite(model->model.memory.percentile(0.98)));
    }
  }
  if (const auto lesson = parseLessonLine(text)) {
    CHECK(std::isfinite(lesson->lesson.cores) && lesson->lesson.cores >= 0);
    CHECK(std::isfinite(lesson->lesson.bytes) && lesson->lesson.bytes >= 0);
  }
}

void checkDevices(std::string_view text) {
  if (const auto devices = parseXpuFile(text))
    CHECK(xpuInventory(*devices).devices.size() == devices->size());
  if (const auto minor = rdmaMinorOf(text)) CHECK(*minor >= 0);
  CHECK(numaNodeOf(text) >= 0);
  CHECK(gpuModelOf(text).find(' ') == std::string::npos);
  (void)busIdOf(text);
  (void)pcieIdOf(text);
  (void)isWholeDisk(text);
  (void)gpuOfSubject(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkModels(text);
  checkDevices(text);
  if (const auto config = parseKubeletConfig(text)) CHECK(config->kubeReserved.v >= 0);
  (void)parseCpuManagerState(text);
  if (const auto pods = parsePodList(text))
    for (const PodPtr& pod : *pods) (void)cgroupUid(*pod);
  return 0;
}
