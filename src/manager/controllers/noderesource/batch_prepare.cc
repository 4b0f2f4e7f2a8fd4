#include "manager/controllers/noderesource/batch_prepare.h"

#include "api/annotations/node.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

// Other resources that the annotation holds stay; an unreadable one starts anew.
std::string originText(const api::Annotations& annotations, const Quantity& cpu,
                       const Quantity& memory) {
  const auto now = api::parseOriginExtendedAllocatable(annotations);
  api::OriginAllocatable origin = now && *now ? **now : api::OriginAllocatable{};
  origin.resources.set(api::resource::kBatchCpu, cpu);
  origin.resources.set(api::resource::kBatchMemory, memory);
  return api::annotationText(origin);
}

void setOrigin(const api::Node& node, const Quantity& cpu, const Quantity& memory, NodeWish& wish) {
  if (node.meta.annotations.empty()) return;  // as the reference: no map, no annotation
  const auto now = api::parseOriginExtendedAllocatable(node.meta.annotations);
  // The same amounts in another spelling are no change.
  if (now && *now && (*now)->resources.amount(api::resource::kBatchCpu) == cpu &&
      (*now)->resources.amount(api::resource::kBatchMemory) == memory &&
      (*now)->resources.has(api::resource::kBatchCpu) &&
      (*now)->resources.has(api::resource::kBatchMemory))
    return;
  wish.annotations[std::string(api::annotation::kOriginExtendedAllocatable)] =
      originText(node.meta.annotations, cpu, memory);
}

void subtractFrom(NodeWish& wish, Interned name, const Quantity& taken) {
  const auto* have = wish.resource(name);
  wish.setResource(name, std::max(**have - taken, Quantity()));
}

}  // namespace

int64_t normalized(int64_t milliCpu, const std::optional<double>& ratio) {
  if (!ratio || *ratio <= 1) return milliCpu;
  return Quantity::of(milliCpu).mulMilli(*ratio).value();
}

int64_t denormalized(int64_t shown, const std::optional<double>& ratio) {
  if (!ratio || *ratio <= 1) return shown;
  auto amount = static_cast<int64_t>(static_cast<double>(shown) / *ratio) + 1;
  while (amount > 0 && normalized(amount, ratio) > shown) amount--;
  return amount;
}

// The annotation says it before third parties and other names take their shares; a node without
// annotations has neither.
std::optional<Sold> standingLedger(const api::Node& node) {
  const Quantity* cpu = node.status.allocatable.find(api::resource::kBatchCpu);
  const Quantity* memory = node.status.allocatable.find(api::resource::kBatchMemory);
  if (cpu == nullptr || memory == nullptr) return std::nullopt;
  Sold out{cpu->value(), memory->value()};
  const auto origin = api::parseOriginExtendedAllocatable(node.meta.annotations);
  if (origin && *origin) {
    const auto& amounts = (*origin)->resources;
    if (const auto* said = amounts.find(api::resource::kBatchCpu)) out.milliCpu = said->value();
    if (const auto* said = amounts.find(api::resource::kBatchMemory))
      out.memoryBytes = said->value();
  }
  const auto ratio = api::parseCpuNormalizationRatio(node.meta.annotations);
  if (ratio) out.milliCpu = denormalized(out.milliCpu, *ratio);
  return out;
}

Result<> prepareBatch(const api::Node& node, const BatchItem& item, NodeWish& wish) {
  const auto& names = api::resourceNames();
  if (item.reset) {
    wish.removeResource(names.batchCpu);
    wish.removeResource(names.batchMemory);
    setOrigin(node, Quantity(), Quantity(), wish);
    return {};
  }
  const Quantity cpu = Quantity::of(normalized(item.milliCpu, item.ratio));
  const Quantity memory = Quantity::of(Bytes{item.memoryBytes});
  wish.setResource(names.batchCpu, cpu);
  wish.setResource(names.batchMemory, memory);
  setOrigin(node, std::max(cpu, Quantity()), std::max(memory, Quantity()), wish);
  const auto third = api::parseThirdPartyAllocations(node.meta.annotations);
  if (!third) return pass(third.error());
  if (!*third) return {};
  const auto held = (*third)->sumOf(api::bandName(api::PriorityBand::kBatch));
  if (held.empty()) return {};
  subtractFrom(wish, names.batchCpu, held.amount(api::resource::kBatchCpu));
  subtractFrom(wish, names.batchMemory, held.amount(api::resource::kBatchMemory));
  return {};
}

}  // namespace mangrove::manager
