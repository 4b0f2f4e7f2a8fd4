#pragma once
// The profiles that apply to one object: matched, drawn, and cut by stop-on-match.
//
// Pure; any thread.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manager/profile/profile.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

struct ChosenProfiles {
  std::vector<const Profile*> applied;  // in order; later ones win
  bool translates = false;  // at least one is applied and none that matched forbids translation
};

// `matched` in order of application. Fails when a probability cannot be read. Each profile is
// applied when its draw, 0…99, is below its percent.
Result<ChosenProfiles> chooseProfiles(const std::vector<const Profile*>& matched,
                                      const Surroundings& around, std::string_view questionUid);

}  // namespace mangrove::manager
