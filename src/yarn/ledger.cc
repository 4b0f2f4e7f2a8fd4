#include "yarn/ledger.h"

#include <algorithm>

#include "api/annotations/draining.h"
#include "api/object/node.h"
#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::yarn {
namespace {

namespace resource = api::resource;

Share batchOf(const api::ResourceList& list) {
  return {MilliCpu{list.amount(resource::kBatchCpu).value()},
          Bytes{list.amount(resource::kBatchMemory).value()}};
}

api::ResourceList listOf(const Share& share) {
  api::ResourceList out;
  out.set(resource::kBatchCpu, Quantity::of(share.cpu.v));
  out.set(resource::kBatchMemory, Quantity::of(share.memory.v));
  return out;
}

bool isClosed(const api::Node& node) {
  const auto& taints = node.spec.taints;
  return node.spec.unschedulable || std::any_of(taints.begin(), taints.end(), [](const auto& one) {
           return one.key.view() == api::kDrainingTaint;
         });
}

std::string textOf(const api::Annotations& annotations, std::string_view key) {
  return std::string(annotations.get(key).value_or(""));
}

}  // namespace

bool read(const api::In& in, YarnNode& out) {
  api::Node node;
  if (!read(in, node)) return false;
  out.isClosed = isClosed(node);
  out.sold = batchOf(node.status.allocatable);
  const auto origin = api::parseOriginExtendedAllocatable(node.meta.annotations);
  if (!origin)
    out.trouble = origin.error().text();
  else if (*origin)
    out.sold = batchOf((*origin)->resources);
  const auto third = api::parseThirdPartyAllocations(node.meta.annotations);
  if (!third)
    out.trouble = third.error().text();
  else if (*third)
    out.thirdParties = **third;
  return true;
}

bool read(const api::In& in, YarnPod& out) {
  api::Pod pod;
  if (!read(in, pod)) return false;
  out.node = pod.nodeName.str();
  out.isRunning = pod.status.phase == api::PodPhase::kRunning;
  if (!api::isTerminated(pod)) out.asks = batchOf(api::podRequests(pod));
  out.isManager = api::isNodeManager(pod.meta.labels) && !api::isTerminated(pod);
  if (!out.isManager) return true;
  out.isBestEffort = api::rawQos(pod.meta.labels) == api::Qos::kBe;
  out.started = pod.status.startTime;
  out.nodeId = textOf(pod.meta.annotations, api::annotation::kYarnNodeId);
  out.cluster = textOf(pod.meta.annotations, api::annotation::kYarnClusterId);
  out.capacity = textOf(pod.meta.annotations, api::annotation::kYarnCapacity);
  out.meta = std::move(pod.meta);
  return true;
}

Share allocatedTo(const api::ThirdPartyAllocations& all, std::string_view name) {
  Share out;
  for (const api::ThirdPartyAllocation& one : all.allocations)
    if (one.name == name) out = batchOf(one.resources);
  return out;
}

std::string thirdPartiesWith(const api::ThirdPartyAllocations& now, const Share& used) {
  api::ThirdPartyAllocations next = now;
  std::erase_if(next.allocations, [](const auto& one) { return one.name == api::kHadoopYarn; });
  next.allocations.push_back({std::string(api::kHadoopYarn),
                              std::string(api::bandName(api::PriorityBand::kBatch)), listOf(used)});
  return api::annotationText(next);
}

}  // namespace mangrove::yarn
