#include "manager/webhook/pod/translate.h"

#include "api/wire/names.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;
namespace resource = api::resource;

void requestWhatIsLimited(json::Object& resources, const ResourceNamesOfBand& names) {
  const json::Object* limits = findObject(resources, "limits");
  if (limits == nullptr) return;
  for (std::string_view name : {names.cpu, names.memory}) {
    const json::Value* limit = limits->if_contains(name);
    if (limit == nullptr) continue;
    const json::Value copy = *limit;  // objectIn may move the members
    json::Object& requests = objectIn(resources, "requests");
    if (!requests.contains(name)) requests.emplace(name, copy);
    limits = findObject(resources, "limits");
  }
}

bool translateContainer(json::Object& container, const ResourceNamesOfBand& names) {
  json::Object* resources = findObject(container, "resources");
  if (resources == nullptr) return false;
  bool changed = false;
  for (std::string_view part : {"requests", "limits"})
    if (json::Object* list = findObject(*resources, part)) changed |= translateList(*list, names);
  requestWhatIsLimited(*resources, names);
  return changed;
}

Quantity claimedByContainers(json::Object& podSpec, std::string_view part, std::string_view name) {
  Quantity sum;
  eachContainer(podSpec, kContainers, [&](json::Object& container) {
    const json::Object* resources = findObject(container, "resources");
    const json::Object* list = resources ? findObject(*resources, part) : nullptr;
    if (list == nullptr) return;
    if (auto amount = amountIn(*list, name)) sum += *amount;
  });
  return sum;
}

void moveDown(json::Object& podSpec, json::Object& list, std::string_view part,
              std::string_view name) {
  const auto whole = amountIn(list, name);
  json::Array* containers = findArray(podSpec, kContainers);
  if (!whole || containers == nullptr || containers->empty()) return;
  const Quantity rest = *whole - claimedByContainers(podSpec, part, name);
  json::Object* first = containers->front().if_object();
  if (rest.sign() > 0 && first != nullptr) {
    json::Object& own = part == "requests" ? requestsOf(*first) : limitsOf(*first);
    setAmount(own, name, amountIn(own, name).value_or(Quantity()) + rest);
  }
  list.erase(name);
}

}  // namespace

ResourceNamesOfBand boughtNames(PriorityBand band) {
  if (band == PriorityBand::kBatch) return {resource::kBatchCpu, resource::kBatchMemory};
  if (band == PriorityBand::kMid) return {resource::kMidCpu, resource::kMidMemory};
  return {};
}

bool translateList(json::Object& list, const ResourceNamesOfBand& names) {
  const auto cpu = amountIn(list, resource::kCpu);
  if (cpu) {
    list.erase(resource::kCpu);
    setAmount(list, names.cpu, Quantity::of(cpu->milliValue()));
  }
  const auto memory = amountIn(list, resource::kMemory);
  if (memory) {
    list.erase(resource::kMemory);
    setAmount(list, names.memory, *memory);
  }
  return cpu || memory;
}

void movePodResourcesDown(json::Object& podSpec) {
  json::Object* resources = findObject(podSpec, "resources");
  if (resources == nullptr) return;
  for (std::string_view part : {"requests", "limits"}) {
    json::Object* list = findObject(*resources, part);
    if (list == nullptr) continue;
    for (std::string_view name : {resource::kCpu, resource::kMemory})
      moveDown(podSpec, *list, part, name);
    if (list->empty()) resources->erase(part);
  }
  if (resources->empty()) podSpec.erase("resources");
}

bool translateResources(json::Object& podSpec, PriorityBand band) {
  const ResourceNamesOfBand names = boughtNames(band);
  if (names.cpu.empty()) return false;
  movePodResourcesDown(podSpec);
  bool changed = false;
  for (std::string_view list : {kInitContainers, kContainers})
    eachContainer(podSpec, list, [&](json::Object& container) {
      changed |= translateContainer(container, names);
    });
  if (json::Object* overhead = findObject(podSpec, "overhead"))
    changed |= translateList(*overhead, names);
  return changed;
}

}  // namespace mangrove::manager
