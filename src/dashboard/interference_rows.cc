#include "dashboard/interference_rows.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

namespace mangrove::dashboard {
namespace {

constexpr size_t kMostEpisodes = 200;

json::Value millis(WallTime when) {
  if (when == kZeroTime) return nullptr;
  return std::chrono::floor<std::chrono::milliseconds>(when).time_since_epoch().count();
}

bool isOpen(const api::InterferenceReport& report) {
  return report.status.outcome.empty();
}

const api::InterferenceSuspect* guiltyIn(const api::InterferenceReport& report) {
  for (const api::InterferenceSuspect& one : report.status.suspects)
    if (one.verified == "guilty") return &one;
  return nullptr;
}

json::Array suspectsOf(const api::InterferenceReport& report) {
  json::Array out;
  for (const api::InterferenceSuspect& one : report.status.suspects)
    out.push_back(json::Object{{"pod", one.pod},
                               {"score", one.score},
                               {"correlation", one.correlation},
                               {"share", one.share},
                               {"verified", one.verified},
                               {"verdict", one.verdict}});
  return out;
}

json::Object lineOf(WallTime at, std::string_view kind, std::string text) {
  return {{"at", millis(at)}, {"kind", kind}, {"text", std::move(text)}};
}

json::Array timelineOf(const api::InterferenceReport& report) {
  json::Array out;
  out.push_back(lineOf(report.spec.start, "evidence",
                       fmt::format("{} {:.3g}, fence {:.3g}", report.spec.signal,
                                   report.status.observed, report.status.fence)));
  for (const api::InterferenceAction& one : report.status.actions)
    out.push_back(lineOf(one.time, timelineKind(one.action), one.action));
  if (!isOpen(report)) out.push_back(lineOf(report.status.end, "end", report.status.outcome));
  return out;
}

json::Object rowOf(const api::InterferenceReport& report) {
  const api::InterferenceSuspect* guilty = guiltyIn(report);
  json::Array evidence;
  for (const std::string& one : report.status.evidence) evidence.emplace_back(one);
  return {{"name", report.meta.name.view()},
          {"victim", report.spec.victim},
          {"node", report.spec.node},
          {"signal", report.spec.signal},
          {"resource", report.spec.resource},
          {"start", millis(report.spec.start)},
          {"end", millis(report.status.end)},
          {"severity", report.status.severity},
          {"observed", report.status.observed},
          {"fence", report.status.fence},
          {"evidence", std::move(evidence)},
          {"outcome", report.status.outcome},
          {"guilty", guilty ? guilty->pod : ""},
          {"verdict", guilty ? guilty->verdict : ""},
          {"sentence", api::sentenceOf(report)},
          {"suspects", suspectsOf(report)},
          {"timeline", timelineOf(report)}};
}

json::Array pairsOf(const InterferenceObjects& reports) {
  struct Seen {
    int64_t times = 0;
    WallTime last = kZeroTime;
  };
  std::map<std::pair<std::string, std::string>, Seen> pairs;
  for (const auto& report : reports)
    if (const api::InterferenceSuspect* guilty = guiltyIn(*report)) {
      Seen& seen = pairs[{report->spec.application, guilty->application}];
      ++seen.times;
      seen.last = std::max(seen.last, report->spec.start);
    }
  json::Array out;
  for (const auto& [pair, seen] : pairs)
    out.push_back(json::Object{{"victim", pair.first},
                               {"by", pair.second},
                               {"times", seen.times},
                               {"last", millis(seen.last)}});
  return out;
}

}  // namespace

std::string_view timelineKind(std::string_view action) {
  if (action.starts_with("experiment")) return "experiment";
  for (const std::string_view word : {": guilty", ": innocent", ": not known"})
    if (action.find(word) != std::string_view::npos) return "verdict";
  return "step";
}

json::Object interferenceBoard(const InterferenceObjects& reports) {
  InterferenceObjects sorted = reports;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    if (isOpen(*a) != isOpen(*b)) return isOpen(*a);
    return a->spec.start > b->spec.start;
  });
  int64_t open = 0, resolved = 0, exonerated = 0;
  json::Array episodes;
  for (const auto& report : sorted) {
    open += isOpen(*report);
    resolved += report->status.outcome == "Resolved";
    exonerated += report->status.outcome == "Exonerated";
    if (episodes.size() < kMostEpisodes) episodes.push_back(rowOf(*report));
  }
  return {{"episodes", std::move(episodes)},
          {"pairs", pairsOf(reports)},
          {"open", open},
          {"resolved", resolved},
          {"exonerated", exonerated}};
}

}  // namespace mangrove::dashboard
