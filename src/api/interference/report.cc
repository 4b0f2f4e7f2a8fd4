#include "api/interference/report.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api/wire/schema.h"
#include "base/text/time_text.h"

namespace mangrove::api {

static constexpr Schema kSuspect{
    always<&InterferenceSuspect::pod>("pod"),
    always<&InterferenceSuspect::score>("score"),
    always<&InterferenceSuspect::correlation>("corr"),
    always<&InterferenceSuspect::share>("share"),
    unlessUnset<&InterferenceSuspect::verified>("verified"),
    unlessUnset<&InterferenceSuspect::verdict>("verdict"),
    unlessUnset<&InterferenceSuspect::application>("application"),
};
static bool read(const In& in, InterferenceSuspect& out) {
  return kSuspect.read(in, out);
}
static json::Value toJson(const InterferenceSuspect& value) {
  return kSuspect.write(value);
}
static constexpr Schema kAction{
    always<&InterferenceAction::time>("time"),
    always<&InterferenceAction::action>("action"),
};
static bool read(const In& in, InterferenceAction& out) {
  return kAction.read(in, out);
}
static json::Value toJson(const InterferenceAction& value) {
  return kAction.write(value);
}

static constexpr Schema kSpec{
    always<&InterferenceReportSpec::node>("node"),
    always<&InterferenceReportSpec::victim>("victim"),
    always<&InterferenceReportSpec::victimUid>("victimUID"),
    unlessUnset<&InterferenceReportSpec::application>("application"),
    always<&InterferenceReportSpec::signal>("signal"),
    always<&InterferenceReportSpec::resource>("resource"),
    always<&InterferenceReportSpec::start>("start"),
};
static bool read(const In& in, InterferenceReportSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const InterferenceReportSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kStatus{
    unlessUnset<&InterferenceReportStatus::end>("end"),
    always<&InterferenceReportStatus::severity>("severity"),
    always<&InterferenceReportStatus::observed>("observed"),
    always<&InterferenceReportStatus::fence>("fence"),
    unlessUnset<&InterferenceReportStatus::evidence>("evidence"),
    always<&InterferenceReportStatus::suspects>("suspects"),
    always<&InterferenceReportStatus::actions>("actions"),
    unlessUnset<&InterferenceReportStatus::outcome>("outcome"),
    unlessUnset<&InterferenceReportStatus::moveVictim>("moveVictim"),
};
static bool read(const In& in, InterferenceReportStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const InterferenceReportStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, InterferenceReport& out) {
  static constexpr Fields fields{
      field<&InterferenceReport::meta>("metadata"),
      field<&InterferenceReport::spec>("spec"),
      field<&InterferenceReport::status>("status"),
  };
  return fields.read(in, out);
}

namespace {

const InterferenceSuspect* guiltyIn(const InterferenceReport& report) {
  const auto& all = report.status.suspects;
  const auto found = std::find_if(all.begin(), all.end(), [](const InterferenceSuspect& one) {
    return one.verified == "guilty";
  });
  return found == all.end() ? nullptr : &*found;
}

// What it does to the service, by the resource that is short.
std::string_view harmOf(std::string_view resource) {
  constexpr std::pair<std::string_view, std::string_view> kHarms[] = {
      {"cpu", "takes its CPU time"},       {"llc", "takes its cache"},
      {"membw", "uses its memory bus"},    {"mem", "takes its memory"},
      {"io", "keeps its disks busy"},      {"net", "fills its network"},
      {"power", "takes its power budget"},
  };
  for (const auto& [name, harm] : kHarms)
    if (name == resource) return harm;
  return "slows it down";
}

// "guilty: +31 % [24, 39] by 10 pairs" without its first word.
std::string_view effectIn(std::string_view verdict) {
  const size_t at = verdict.find(": ");
  return at == std::string_view::npos ? verdict : verdict.substr(at + 2);
}

std::string holdsOf(const InterferenceReportStatus& status) {
  std::string out;
  for (const auto& [step, since] : standingSteps(status))
    out += fmt::format("{}{} since {}", out.empty() ? "" : ", ", step, formatTime(since));
  return out;
}

}  // namespace

// "L5 CPU quota: 1.6" begins or narrows a step, "L5 CPU quota back: 1.8" widens it, "… back: off" ends
// it.
std::vector<std::pair<std::string, WallTime>> standingSteps(
    const InterferenceReportStatus& status) {
  constexpr std::string_view kBack = " back";
  std::vector<std::pair<std::string, WallTime>> out;
  for (const InterferenceAction& one : status.actions) {
    const size_t colon = one.action.find(": ");
    if (colon == std::string::npos || !isStep(one.action)) continue;
    std::string name = one.action.substr(0, colon);
    const bool back = name.ends_with(kBack);
    if (back) name.resize(name.size() - kBack.size());
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const auto& step) { return step.first == name; });
    if (!back && known == out.end()) out.emplace_back(name, one.time);
    if (back && known != out.end() && one.action.substr(colon + 2) == "off") out.erase(known);
  }
  return out;
}

bool isStep(std::string_view action) {
  constexpr std::string_view kSteps[] = {"L1 ",
                                         "L2 ",
                                         "L3 ",
                                         "L4 ",
                                         "L5 ",
                                         "L6 ",
                                         "L7 ",
                                         "L8 ",
                                         "disk weight",
                                         "network class",
                                         "memory throttle"};
  return std::any_of(std::begin(kSteps), std::end(kSteps),
                     [&](std::string_view one) { return action.starts_with(one); });
}

std::string sentenceOf(const InterferenceReport& report, size_t proved) {
  const InterferenceReportSpec& spec = report.spec;
  const InterferenceReportStatus& status = report.status;
  const bool over = status.end != kZeroTime;
  std::string out =
      fmt::format("{} {} {}{} on {}", spec.victim, over ? "was slow from" : "is slow since",
                  formatTime(spec.start), over ? " to " + formatTime(status.end) : "", spec.node);
  if (const InterferenceSuspect* guilty = guiltyIn(report))
    out += fmt::format(" because {} {}: proved {}, {}", guilty->pod, harmOf(spec.resource),
                       proved > 1 ? fmt::format("{} times", proved) : "once",
                       effectIn(guilty->verdict));
  else
    out += fmt::format("; no cause is proved ({} suspects)", status.suspects.size());
  out += fmt::format("; {} {:.3g}, fence {:.3g}", spec.signal, status.observed, status.fence);
  if (const std::string holds = holdsOf(status); !holds.empty() && !over) out += "; " + holds;
  if (!status.outcome.empty()) out += "; " + status.outcome;
  return out;
}

}  // namespace mangrove::api
