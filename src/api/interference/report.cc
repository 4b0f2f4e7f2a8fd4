#include "api/interference/report.h"

#include <algorithm>

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

std::string sentenceOf(const InterferenceReport& report) {
  const InterferenceReportSpec& spec = report.spec;
  const InterferenceReportStatus& status = report.status;
  const bool over = status.end != kZeroTime;
  std::string out = fmt::format("{} {} {}{} on {}: {} {:.3g}, fence {:.3g}", spec.victim,
                                over ? "was slow from" : "is slow since", formatTime(spec.start),
                                over ? " to " + formatTime(status.end) : "", spec.node, spec.signal,
                                status.observed, status.fence);
  const auto guilty =
      std::find_if(status.suspects.begin(), status.suspects.end(),
                   [](const InterferenceSuspect& one) { return one.verified == "guilty"; });
  if (guilty != status.suspects.end())
    out += fmt::format("; {} is the cause ({}), {}", guilty->pod, spec.resource, guilty->verdict);
  else
    out += fmt::format("; no cause is proved ({} suspects, {})", status.suspects.size(),
                       spec.resource);
  if (!status.actions.empty()) out += "; last: " + status.actions.back().action;
  if (!status.outcome.empty()) out += "; " + status.outcome;
  return out;
}

}  // namespace mangrove::api
