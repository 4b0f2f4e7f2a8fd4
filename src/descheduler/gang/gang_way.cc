#include "descheduler/gang/gang_way.h"

#include <algorithm>

#include <fmt/format.h>

namespace mangrove::descheduler {

GangVerdict gangWay(const GangFacts& facts, std::string_view gang, int32_t leaving) {
  const auto own = std::find_if(facts.parts.begin(), facts.parts.end(),
                                [&](const GangPart& part) { return part.id == gang; });
  if (own == facts.parts.end() || own->min <= 0)
    return {GangWay::kStays, fmt::format("how many members gang {} needs is not known", gang)};
  if (!facts.isStrict || own->bound - leaving - 1 >= own->min) return {GangWay::kAlone, ""};
  if (leaving > 0)
    return {GangWay::kStays,
            fmt::format("{} of the {} members of gang {} are moving, and it needs {}", leaving,
                        own->bound, gang, own->min)};
  if (facts.isNetworked)
    return {GangWay::kStays,
            fmt::format("gang {} asks for places near each other in the network, which a move does "
                        "not prove",
                        gang)};
  return {GangWay::kWhole, ""};
}

}  // namespace mangrove::descheduler
