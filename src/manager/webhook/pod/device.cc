#include "manager/webhook/pod/device.h"

#include <array>

#include "api/wire/names.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

namespace resource = api::resource;

constexpr std::array kGpuNames = {resource::kGpu, resource::kGpuCore, resource::kGpuMemory,
                                  resource::kGpuMemoryRatio, resource::kGpuShared};
constexpr int64_t kOneCard = 100;  // percent

bool asksForGpu(const json::Object& resources) {
  for (std::string_view part : {"requests", "limits"})
    if (const json::Object* list = findObject(resources, part))
      for (std::string_view name : kGpuNames)
        if (list->contains(name)) return true;
  return false;
}

// Whole cards beyond the first, else one.
int64_t cardsOf(int64_t percent) {
  return percent > kOneCard && percent % kOneCard == 0 ? percent / kOneCard : 1;
}

int64_t sharedCards(const json::Object& requests) {
  if (auto ratio = amountIn(requests, resource::kGpuMemoryRatio)) return cardsOf(ratio->value());
  if (auto core = amountIn(requests, resource::kGpuCore)) return cardsOf(core->value());
  return 1;
}

void setBoth(json::Object& container, std::string_view name, const Quantity& amount) {
  setAmount(requestsOf(container), name, amount);
  setAmount(limitsOf(container), name, amount);
}

void expand(json::Object& container) {
  if (auto gpu = amountIn(requestsOf(container), resource::kGpu)) {
    setBoth(container, resource::kGpuCore, *gpu);
    setBoth(container, resource::kGpuMemoryRatio, *gpu);
    requestsOf(container).erase(resource::kGpu);
    limitsOf(container).erase(resource::kGpu);
  }
  if (!requestsOf(container).contains(resource::kGpuShared))
    setBoth(container, resource::kGpuShared, Quantity::of(sharedCards(requestsOf(container))));
}

}  // namespace

void expandGpuRequests(json::Object& podSpec) {
  eachContainer(podSpec, kContainers, [](json::Object& container) {
    const json::Object* resources = findObject(container, "resources");
    if (resources != nullptr && asksForGpu(*resources)) expand(container);
  });
}

}  // namespace mangrove::manager
