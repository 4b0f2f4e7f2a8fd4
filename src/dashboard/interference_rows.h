#pragma once
// Episodes in which services suffered, as the interference page shows them: those that go on first,
// then the newest, each with its timeline of evidence, experiments, verdicts and steps.
//
//   {"episodes":[{"name":…,"victim":"shop/web","node":"n1","signal":"latency","resource":"unknown",
//     "start":ms,"end":null,"severity":0.4,"observed":180,"fence":100,"evidence":["latency"],
//     "outcome":"","guilty":"batch/sort","verdict":"guilty: +31 % …","sentence":…,
//     "suspects":[{"pod":…,"score":…,"correlation":…,"share":…,"verified":…,"verdict":…}],
//     "timeline":[{"at":ms,"kind":"experiment","text":…}]}],
//    "pairs":[{"victim":"shop/web","by":"batch/sort","times":3,"last":ms}],
//    "open":1,"resolved":4,"exonerated":2}
//
// Words are those of `mangrove explain service`. Pure functions, any thread.

#include <memory>
#include <string_view>
#include <vector>

#include "api/interference/report.h"
#include "json/value.h"

namespace mangrove::dashboard {

using InterferenceObjects = std::vector<std::shared_ptr<const api::InterferenceReport>>;

json::Object interferenceBoard(const InterferenceObjects& reports);
// evidence, experiment, verdict, step or end: what a line of an episode is about.
std::string_view timelineKind(std::string_view action);

}  // namespace mangrove::dashboard
