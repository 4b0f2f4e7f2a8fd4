#pragma once
// Which service is hurt most, and in which order its neighbours are suspected. An order of suspicion
// and not of guilt. Pure functions and values; any thread.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/interference/signals.h"
#include "api/pod/classes.h"
#include "base/number/units.h"

namespace mangrove::agent::interference {

enum class Evidence : uint8_t { kCounters, kRegression, kPressure, kLatency };
std::string_view evidenceName(Evidence evidence);  // hardware, regression, software, latency

inline constexpr size_t kVictimsARound = 3;
// How badly a service suffers: by its class, how far beyond the fence, and how sure that is.
double severityOf(api::Qos qos, api::PriorityBand band, double observed, double fence,
                  Evidence evidence);
bool isSevere(double observed, double fence);

// What a suspect shares with the victim.
enum class Nearness : uint8_t { kFar, kSameNuma, kSameCache, kSibling };

struct Suspect {
  std::string uid;
  std::string name = {};  // "namespace/name"
  int rank = 0;           // class: lower first (stakes::rankOf)
  int32_t priority = 0;
  Duration running{};  // since it started
  double correlation = 0;
  double share = 0;  // of the offline use of the resource
  Nearness nearness = Nearness::kFar;
};
inline constexpr double kLeastScore = 0.2;
double scoreOf(const Suspect& suspect);

struct Ranked {
  Suspect suspect;
  double score = 0;
};
// Lowest class first, then by score; those below the least score only in an emergency.
std::vector<Ranked> rankSuspects(std::span<const Suspect> suspects, bool emergency);

}  // namespace mangrove::agent::interference
