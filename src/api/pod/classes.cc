#include "api/pod/classes.h"

#include <algorithm>
#include <limits>

#include "api/wire/go_number.h"
#include "api/wire/names.h"

namespace mangrove::api {
namespace {

constexpr Word<Qos> kQosWords[] = {{"LSE", Qos::kLse},
                                   {"LSR", Qos::kLsr},
                                   {"LS", Qos::kLs},
                                   {"BE", Qos::kBe},
                                   {"SYSTEM", Qos::kSystem}};
constexpr Word<PriorityBand> kBandWords[] = {{"koord-prod", PriorityBand::kProd},
                                             {"koord-mid", PriorityBand::kMid},
                                             {"koord-batch", PriorityBand::kBatch},
                                             {"koord-free", PriorityBand::kFree}};

template <class E, size_t N>
E parseWord(std::string_view text, const Word<E> (&words)[N], E otherwise) {
  for (const auto& word : words)
    if (word.text == text) return word.value;
  return otherwise;
}

// cpu and memory of a list, as far as they are above zero.
struct CpuMemory {
  Quantity cpu, memory;
  bool hasCpu = false, hasMemory = false;

  void add(const ResourceList& list) {
    const ResourceNames& names = resourceNames();
    if (const Quantity* q = list.find(names.cpu); q && q->sign() > 0) cpu += *q, hasCpu = true;
    if (const Quantity* q = list.find(names.memory); q && q->sign() > 0)
      memory += *q, hasMemory = true;
  }
  bool hasBoth() const { return hasCpu && hasMemory; }
  bool hasAny() const { return hasCpu || hasMemory; }
  bool operator==(const CpuMemory&) const = default;
};

struct QosSums {
  CpuMemory requests, limits;
  bool allLimited = true;  // each container limits cpu and memory

  void add(const ResourceList& request, const ResourceList& limit) {
    CpuMemory own;
    own.add(limit);
    allLimited = allLimited && own.hasBoth();
    requests.add(request);
    limits.add(limit);
  }
};

}  // namespace

std::string_view qosName(Qos qos) {
  return wordFor(qos, kQosWords);
}
Qos parseQos(std::string_view text) {
  return parseWord(text, kQosWords, Qos::kNone);
}
std::string_view bandName(PriorityBand band) {
  return wordFor(band, kBandWords);
}
PriorityBand parseBand(std::string_view text) {
  return parseWord(text, kBandWords, PriorityBand::kNone);
}

KubeQos computeKubeQos(const PodSpec& spec) {
  QosSums sums;
  if (spec.hasPodResources) {
    sums.add(spec.podRequests, spec.podLimits);
  } else {
    for (const auto* list : {&spec.containers, &spec.initContainers})
      for (const Container& container : *list) sums.add(container.requests, container.limits);
  }
  if (!sums.requests.hasAny() && !sums.limits.hasAny()) return KubeQos::kBestEffort;
  return sums.allLimited && sums.requests == sums.limits ? KubeQos::kGuaranteed
                                                         : KubeQos::kBurstable;
}

KubeQos kubeQos(const Pod& pod) {
  return pod.status.qosClass != KubeQos::kUnset ? pod.status.qosClass : computeKubeQos(*pod.spec);
}

Qos rawQos(const Labels& labels) {
  return parseQos(labels.get(label::kQosClass).value_or(""));
}

Qos qosOf(KubeQos qos) {
  switch (qos) {
    case KubeQos::kGuaranteed:
      return Qos::kLsr;
    case KubeQos::kBurstable:
      return Qos::kLs;
    case KubeQos::kBestEffort:
      return Qos::kBe;
    case KubeQos::kUnset:
      break;
  }
  return Qos::kNone;
}

Qos qosWithDefault(const Pod& pod) {
  const Qos raw = rawQos(pod.meta.labels);
  return raw != Qos::kNone ? raw : qosOf(kubeQos(pod));
}

BandRange rangeOf(PriorityBand band) {
  switch (band) {
    case PriorityBand::kProd:
      return {9000, 9999, 9500, 9000};
    case PriorityBand::kMid:
      return {7000, 7999, 7500, 7000};
    case PriorityBand::kBatch:
      return {5000, 5999, 5500, 5000};
    case PriorityBand::kFree:
      return {3000, 3999, 3500, 3000};
    case PriorityBand::kNone:
      break;
  }
  return {0, 0, 0, 0};
}

PriorityBand bandOf(int32_t priority) {
  for (const auto& word : kBandWords) {
    const BandRange range = rangeOf(word.value);
    if (priority >= range.low && priority <= range.high) return word.value;
  }
  return PriorityBand::kNone;
}

PriorityBand bandOf(Qos qos) {
  if (qos == Qos::kNone) return PriorityBand::kNone;
  return qos == Qos::kBe ? PriorityBand::kBatch : PriorityBand::kProd;
}

PriorityBand rawBand(const Pod& pod) {
  if (auto text = pod.meta.labels.get(label::kPriorityClass)) return parseBand(*text);
  return pod.spec->priority ? bandOf(*pod.spec->priority) : PriorityBand::kNone;
}

PriorityBand bandWithDefault(const Pod& pod) {
  const PriorityBand raw = rawBand(pod);
  return raw != PriorityBand::kNone ? raw : bandOf(qosWithDefault(pod));
}

int32_t priorityWithDefault(const Pod& pod) {
  const int32_t own = pod.spec->priority.value_or(0);
  return own != 0 ? own : rangeOf(bandWithDefault(pod)).defaultValue;
}

bool isAllowed(Qos qos, PriorityBand band) {
  if (qos == Qos::kLsr) return band == PriorityBand::kProd;
  if (qos == Qos::kBe) return band != PriorityBand::kProd && band != PriorityBand::kNone;
  return true;
}

std::string_view translated(std::string_view name, PriorityBand band) {
  const bool cpu = name == resource::kCpu;
  if (!cpu && name != resource::kMemory) return name;
  switch (band) {
    case PriorityBand::kBatch:
      return cpu ? resource::kBatchCpu : resource::kBatchMemory;
    case PriorityBand::kMid:
      return cpu ? resource::kMidCpu : resource::kMidMemory;
    case PriorityBand::kFree:
      return "";
    case PriorityBand::kProd:
    case PriorityBand::kNone:
      break;
  }
  return name;
}

std::string_view currentResource(std::string_view deprecated) {
  static constexpr std::pair<std::string_view, std::string_view> renamed[] = {
      {resource::kOldBatchCpu, resource::kBatchCpu},
      {resource::kOldBatchMemory, resource::kBatchMemory},
      {resource::kOldRdma, resource::kRdma},
      {resource::kOldFpga, resource::kFpga},
      {resource::kOldGpu, resource::kGpu},
      {resource::kOldGpuCore, resource::kGpuCore},
      {resource::kOldGpuMemory, resource::kGpuMemory},
      {resource::kOldGpuMemoryRatio, resource::kGpuMemoryRatio},
  };
  for (auto [old, current] : renamed)
    if (old == deprecated) return current;
  return {};
}

Result<int32_t> subPriority(const Labels& labels) {
  const std::string_view text = labels.get(label::kPriority).value_or("");
  if (text.empty()) return 0;
  auto value = parseGoAnyBase(text);
  if (!value || *value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<int32_t>::max())
    return invalid("label {}='{}' must be an integer of 32 bits", label::kPriority, text);
  return static_cast<int32_t>(*value);
}

}  // namespace mangrove::api
