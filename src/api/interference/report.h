#pragma once
// InterferenceReport (colocation.mangrove.io): one episode in which a service suffered, with the
// evidence, the suspects and what experiments said of them, what was done and what came of it.
// Namespaced, in the namespace of the service; the node's agent writes it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object/meta.h"
#include "api/wire/kind.h"
#include "base/text/time_text.h"
#include "json/fwd.h"

namespace mangrove::api {

namespace kind {
inline constexpr Kind kInterferenceReport{
    "colocation.mangrove.io", "v1alpha1", "InterferenceReport", "interferencereports", true, false};
}

struct InterferenceSuspect {
  std::string pod;  // "namespace/name"
  double score = 0, correlation = 0, share = 0;
  std::string verified;  // "", "guilty", "innocent", "not known"
  std::string verdict;   // "guilty: +31 % [24, 39] by 10 pairs"
  std::string application = {};
  bool operator==(const InterferenceSuspect&) const = default;
};
struct InterferenceAction {
  WallTime time = kZeroTime;
  std::string action;
  bool operator==(const InterferenceAction&) const = default;
};
struct InterferenceReportSpec {
  std::string node, victim, victimUid, application;
  std::string signal, resource;
  WallTime start = kZeroTime;
};
struct InterferenceReportStatus {
  WallTime end = kZeroTime;  // it goes on
  double severity = 0, observed = 0, fence = 0;
  std::vector<std::string> evidence;
  std::vector<InterferenceSuspect> suspects;
  std::vector<InterferenceAction> actions;
  std::string outcome;  // "", Resolved, Exonerated, Escalated, Expired
  // Nothing else helped: the service's pod is to go elsewhere; the manager asks the descheduler.
  bool moveVictim = false;
};
struct InterferenceReport {
  ObjectMeta meta;
  InterferenceReportSpec spec;
  InterferenceReportStatus status;
};
bool read(const In& in, InterferenceReport& out);
json::Value toJson(const InterferenceReportSpec& value);
json::Value toJson(const InterferenceReportStatus& value);

// "shop/web is slow since 14:02 on n1 because batch/sort uses its memory bus: proved 3 times, +31 %
// [24, 39] by 10 pairs; cpi 2.6, fence 1.8; L5 CPU quota since 14:05": what `mangrove explain service`
// says of an episode. `proved`: in how many episodes that one was found guilty.
std::string sentenceOf(const InterferenceReport& report, size_t proved = 1);
// Whether an action is a step of the ladder, and which of these are in force since when.
bool isStep(std::string_view action);
std::vector<std::pair<std::string, WallTime>> standingSteps(const InterferenceReportStatus& status);

}  // namespace mangrove::api
