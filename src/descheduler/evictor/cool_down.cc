#include "descheduler/evictor/cool_down.h"

namespace mangrove::descheduler {

void CoolDown::note(std::string_view workload, std::string_view node, WallTime when,
                    uint64_t cycle) {
  if (workload.empty() || node.empty() || rest_ <= Duration::zero()) return;
  std::erase_if(last_, [&](const auto& one) { return when - one.second.when >= rest_; });
  last_.insert_or_assign({std::string(workload), std::string(node)}, Move{when, cycle});
}

std::optional<Duration> CoolDown::left(std::string_view workload, std::string_view node,
                                       WallTime now, uint64_t cycle) const {
  const auto found = last_.find({std::string(workload), std::string(node)});
  if (found == last_.end() || found->second.cycle == cycle) return std::nullopt;
  const Duration since = now - found->second.when;
  if (since >= rest_) return std::nullopt;
  return rest_ - since;
}

}  // namespace mangrove::descheduler
