#include "manager/webhook/pod/colocate.h"

#include <string>

#include "api/wire/names.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/apply_profile.h"
#include "manager/webhook/pod/jvm.h"
#include "manager/webhook/pod/translate.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;
namespace resource = api::resource;

std::optional<PriorityBand> bandAsked(std::optional<std::string_view> caster,
                                      std::optional<std::string_view> own) {
  if (own == "batch" || caster == "colocation") return PriorityBand::kBatch;
  if (own == "mid") return PriorityBand::kMid;
  return std::nullopt;
}

// {container name: its resources}, for those that name native amounts.
json::Object nativeAmounts(const json::Object& podSpec) {
  json::Object out;
  for (std::string_view list : {kInitContainers, kContainers}) {
    const json::Array* containers = findArray(podSpec, list);
    if (containers == nullptr) continue;
    for (const json::Value& element : *containers) {
      const json::Object* container = element.if_object();
      const json::Object* resources = container ? findObject(*container, "resources") : nullptr;
      if (resources != nullptr && !resources->empty())
        out[textIn(*container, "name").value_or("")] = *resources;
    }
  }
  return out;
}

bool named(const json::Object& container, std::string_view name) {
  const json::Object* resources = findObject(container, "resources");
  for (std::string_view part : {"requests", "limits"}) {
    const json::Object* list = resources ? findObject(*resources, part) : nullptr;
    if (list != nullptr && list->contains(name)) return true;
  }
  return false;
}

Result<> fillMissing(json::Object& container, std::string_view native, std::string_view bought,
                     const Quantity& amount, bool refuse) {
  if (named(container, native) || named(container, bought)) return {};
  if (refuse)
    return invalid("container {} asks for no {}; colocated pods must say how much they need",
                   textIn(container, "name").value_or(""), native);
  setAmount(requestsOf(container), native, amount);
  return {};
}

// Request and limit each stand in for the other where only one is said. Names outside
// kubernetes.io/ are extended resources to an API server, which wants both equal: the larger one.
void pairUp(json::Object& container, std::string_view name, bool mustBeEqual) {
  const auto request = amountIn(requestsOf(container), name);
  const auto limit = amountIn(limitsOf(container), name);
  if (!request && !limit) return;
  const Quantity larger = request && (!limit || *request > *limit) ? *request : *limit;
  if (!request || mustBeEqual)
    setAmount(requestsOf(container), name, mustBeEqual ? larger : *limit);
  if (!limit || mustBeEqual) setAmount(limitsOf(container), name, larger);
}

Result<> rewriteContainer(json::Object& container, const ResourceNamesOfBand& names,
                          const ColocationByLabel& options) {
  const bool refuse = options.refuseWithoutAmounts;
  auto cpu = fillMissing(container, resource::kCpu, names.cpu, options.missingCpu, refuse);
  if (!cpu) return cpu;
  auto memory =
      fillMissing(container, resource::kMemory, names.memory, options.missingMemory, refuse);
  if (!memory) return memory;
  translateList(requestsOf(container), names);
  translateList(limitsOf(container), names);
  const bool extended = !names.cpu.starts_with("kubernetes.io/");
  pairUp(container, names.cpu, extended);
  pairUp(container, names.memory, extended);
  return {};
}

void addClasses(json::Object& pod, json::Object& podSpec, PriorityBand band,
                const PriorityClasses& classes) {
  json::Object& labels = objectIn(metadataOf(pod), "labels");
  const std::string_view qos = band == PriorityBand::kBatch ? "BE" : "LS";
  if (!labels.contains(api::label::kQosClass)) setText(labels, api::label::kQosClass, qos);
  if (!labels.contains(api::label::kPriorityClass))
    setText(labels, api::label::kPriorityClass, api::bandName(band));
  // The class as a number too, where the cluster has it and the pod has not chosen another.
  const auto chosen = textIn(podSpec, "priorityClassName");
  if ((!chosen || chosen->empty()) && classes.contains(api::bandName(band)))
    (void)setPriorityClass(podSpec, api::bandName(band), classes);
}

}  // namespace

std::optional<PriorityBand> askedBand(const api::Labels& labels) {
  return bandAsked(labels.get(kCasterResourceType), labels.get(kResourceType));
}

std::optional<PriorityBand> askedBand(const json::Object& pod) {
  return bandAsked(labelOf(pod, kCasterResourceType), labelOf(pod, kResourceType));
}

Result<> colocateByLabel(json::Object& pod, PriorityBand band, const Surroundings& around) {
  metadataOf(pod);  // made first: a new member moves its neighbours
  json::Object& podSpec = objectIn(pod, "spec");
  const bool caster = around.byLabel.casterNames && band == PriorityBand::kBatch;
  const ResourceNamesOfBand names =
      caster ? ResourceNamesOfBand{kCasterCpu, kCasterMemory} : boughtNames(band);
  movePodResourcesDown(podSpec);
  if (!annotationOf(pod, kOriginalResources)) {
    const json::Object original = nativeAmounts(podSpec);
    if (!original.empty())
      setText(objectIn(metadataOf(pod), "annotations"), kOriginalResources,
              json::writeSorted(original));
    if (runsJvm(pod) && !original.empty()) tellJvms(pod, original);
  }
  Result<> done;
  for (std::string_view list : {kInitContainers, kContainers})
    eachContainer(podSpec, list, [&](json::Object& container) {
      if (done) done = rewriteContainer(container, names, around.byLabel);
    });
  if (!done) return done;
  if (json::Object* overhead = findObject(podSpec, "overhead")) translateList(*overhead, names);
  addClasses(pod, objectIn(pod, "spec"), band, *around.priorityClasses);
  return {};
}

}  // namespace mangrove::manager
