// The rules of colocation: classes stay what they were, reclaimed resources belong to BE, and pods
// with CPUs of their own ask for whole ones.
#include <fmt/format.h>

#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "manager/webhook/pod/validate.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;
using api::Qos;
namespace label = api::label;

std::string orNone(std::string_view text) {
  return text.empty() ? "none" : std::string(text);
}

void addImmutable(const api::Pod& pod, const api::Pod& old, bool skipPriority, Faults& out) {
  const auto changed = [&](std::string_view reason, std::string_view what, std::string_view from,
                           std::string_view to) {
    out.push_back({reason, fmt::format("{}: may not be changed, was {}, would be {}", what,
                                       orNone(from), orNone(to))});
  };
  const Qos qos = api::rawQos(pod.meta.labels), oldQos = api::rawQos(old.meta.labels);
  if (qos != oldQos)
    changed("immutable-qos-class", fmt::format("metadata.labels[{}]", label::kQosClass),
            api::qosName(oldQos), api::qosName(qos));
  const PriorityBand band = api::rawBand(pod), oldBand = api::rawBand(old);
  if (band != oldBand)
    changed("immutable-priority-class", "spec.priority", api::bandName(oldBand),
            api::bandName(band));
  const auto sub = pod.meta.labels.get(label::kPriority);
  const auto oldSub = old.meta.labels.get(label::kPriority);
  if (!skipPriority && sub.value_or("") != oldSub.value_or(""))
    changed("immutable-sub-priority", fmt::format("metadata.labels[{}]", label::kPriority),
            oldSub.value_or(""), sub.value_or(""));
}

void addCombination(Qos qos, PriorityBand band, bool strict, Faults& out) {
  const bool reservedForProd = qos == Qos::kLse || qos == Qos::kSystem;
  const bool refused =
      !api::isAllowed(qos, band) || (strict && reservedForProd && band != PriorityBand::kProd);
  if (!refused) return;
  const bool needsProd = qos == Qos::kLsr || reservedForProd;
  out.push_back({"qos-priority-combination",
                 fmt::format("QoS class {} does not go with priority class {}; want {}",
                             api::qosName(qos), orNone(api::bandName(band)),
                             needsProd ? "koord-prod" : "koord-mid, koord-batch or koord-free")});
}

// Request and limit of one container name the same amount where both are said: CPUs that are bound
// can be neither lent nor exceeded.
void addUnequalLimits(const api::PodSpec& spec, Qos qos, Faults& out) {
  for (const api::Container& container : spec.containers) {
    const Quantity* request = container.requests.find(api::resource::kCpu);
    const Quantity* limit = container.limits.find(api::resource::kCpu);
    if (request == nullptr || limit == nullptr || *request == *limit) continue;
    out.push_back(
        {"lsr-cpu-limit-differs",
         fmt::format("container {}: a pod of QoS class {} must request as much cpu as its "
                     "limit, has request {} and limit {}",
                     container.name.view(), api::qosName(qos), request->text(), limit->text())});
  }
}

void addBoundCpus(const api::PodSpec& spec, const api::ResourceList& total, Qos qos, Faults& out) {
  if (qos != Qos::kLsr && qos != Qos::kLse) return;
  const Quantity cpu = total.amount(api::resource::kCpu);
  if (cpu.isZero())
    out.push_back({"lsr-needs-cpu",
                   fmt::format("a pod of QoS class {} must request cpu", api::qosName(qos))});
  else if (!cpu.isExact(0))
    out.push_back({"lsr-cpu-not-integer",
                   fmt::format("a pod of QoS class {} must request whole cpus, requests {}",
                               api::qosName(qos), cpu.text())});
  addUnequalLimits(spec, qos, out);
}

}  // namespace

Faults colocationFaults(const api::Pod& pod, const api::Pod* old, const WebhookGates& gates) {
  Faults out;
  if (old != nullptr) addImmutable(pod, *old, gates.skipValidatingPriority, out);
  const Qos qos = api::rawQos(pod.meta.labels);
  const api::ResourceList total = api::podRequests(*pod.spec);
  for (std::string_view name : {api::resource::kBatchCpu, api::resource::kBatchMemory}) {
    if (qos == Qos::kBe || total.amount(name).isZero()) continue;
    out.push_back({"batch-resources-need-be",
                   fmt::format("metadata.labels[{}]: a pod that requests {} must be BE, is {}",
                               label::kQosClass, name, orNone(api::qosName(qos)))});
    break;
  }
  addCombination(qos, api::rawBand(pod), gates.strictQosMatrix, out);
  addBoundCpus(*pod.spec, total, qos, out);
  return out;
}

}  // namespace mangrove::manager
