#include "manager/webhook/pod/profiles.h"

#include <algorithm>
#include <functional>

#include "base/number/rng.h"

namespace mangrove::manager {

Result<ChosenProfiles> chooseProfiles(const std::vector<const Profile*>& matched,
                                      const Surroundings& around, std::string_view questionUid) {
  Rng rng(std::hash<std::string_view>()(questionUid));
  ChosenProfiles out;
  bool skipsResources = false;
  for (const Profile* profile : matched) {
    skipsResources |= profile->skipsResources;
    if (!profile->percent)
      return profile->percent.error().in("ClusterColocationProfile {}", profile->name);
    const int draw = around.draw ? around.draw() : static_cast<int>(rng.below(100));
    if (draw >= *profile->percent) continue;
    if (profile->stopsOnMatch) out.applied.clear();
    out.applied.push_back(profile);
  }
  out.translates = !out.applied.empty() && !skipsResources && !around.gates.skipMutatingResources;
  return out;
}

}  // namespace mangrove::manager
