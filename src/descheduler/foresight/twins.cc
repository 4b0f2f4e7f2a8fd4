#include "descheduler/foresight/twins.h"

#include <algorithm>

namespace mangrove::descheduler {
namespace {

bool areTwins(const placement::ProfileConfig& a, const placement::ProfileConfig& b) {
  return a.percentageOfNodesToScore == b.percentageOfNodesToScore && a.points == b.points &&
         a.args == b.args;
}

}  // namespace

Folded foldTwins(placement::SchedulerConfig config) {
  Folded out;
  std::vector<placement::ProfileConfig> kept;
  for (placement::ProfileConfig& one : config.profiles) {
    const auto first = std::find_if(kept.begin(), kept.end(),
                                    [&](const auto& other) { return areTwins(one, other); });
    if (first == kept.end())
      kept.push_back(std::move(one));
    else
      out.names[one.schedulerName] = first->schedulerName;
  }
  config.profiles = std::move(kept);
  out.config = std::move(config);
  return out;
}

}  // namespace mangrove::descheduler
