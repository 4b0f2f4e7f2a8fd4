#pragma once
// How a pod wants its devices chosen: its normalised request and the annotations that go with it,
// read once per pod and used for every node.
//
//   auto wish = deviceWish(podTotal, pod.meta.annotations);
//   if (!wish) … wish.error().text()     // names the annotation, the value and what would be right
//
// Values; const access from any thread.

#include "api/annotations/device.h"
#include "api/select/selector.h"
#include "base/result.h"
#include "placement/device/request.h"

namespace mangrove::placement {

enum class CardCount {
  kPlain,   // one card, or as many as the percent says
  kForAll,  // the amount on every card that matches
  kEach,    // the amount is a number of cards
};

struct TypeWish {
  std::optional<api::Selector> selector;
  std::optional<api::Selector> vfSelector;  // a virtual function on each card, from such a group
  CardCount count = CardCount::kPlain;
  int scope = 0;            // api::topologyScopeLevel; 0: none required
  bool wholeCards = false;  // a counted card is taken entirely
  bool ownSwitch = false;   // no switch on which a card of the type is in use
};

struct DeviceWish {
  DeviceRequest request;
  std::map<std::string, TypeWish, std::less<>> byType;  // those with a hint
  std::vector<std::string> jointTypes;                  // the first leads
  bool samePcie = false;
  std::optional<api::GpuPartitionSpec> partition;

  const TypeWish& of(std::string_view type) const;
};

Result<DeviceWish> deviceWish(const Amounts& podTotal, const api::Annotations& pod);

}  // namespace mangrove::placement
