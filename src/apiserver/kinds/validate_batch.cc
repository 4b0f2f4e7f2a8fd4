// Jobs and cron jobs.
#include <algorithm>

#include <fmt/core.h>

#include "apiserver/kinds/validators.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

// The controller appends a time in minutes to the name of each job: 11 bytes of the 63 a label has.
constexpr size_t kLongestCronJobName = 52;

struct CronField {
  int least, most;
  std::string_view names;  // three letters each, from `least` on
};
constexpr CronField kCronFields[] = {
    {0, 59, ""},
    {0, 23, ""},
    {1, 31, ""},
    {1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    {0, 6, "sunmontuewedthufrisat"},
};

std::optional<int> cronNumber(std::string_view text, const CronField& field) {
  if (auto number = parseInt<int>(text)) return number;
  if (text.size() != 3) return std::nullopt;
  size_t at = field.names.find(lower(text));
  if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
  return field.least + static_cast<int>(at / 3);
}

// "*", "5", "1-5", each with "/step".
bool isCronPart(std::string_view part, const CronField& field) {
  Halves step = cut(part, '/');
  if (step.found && parseInt<int>(step.after).value_or(0) <= 0) return false;
  if (step.before == "*" || step.before == "?") return true;
  Halves range = cut(step.before, '-');
  std::optional<int> from = cronNumber(range.before, field);
  std::optional<int> to = range.found ? cronNumber(range.after, field) : from;
  return from && to && *from >= field.least && *to <= field.most && *from <= *to;
}

bool isSchedule(std::string_view text) {
  if (text.starts_with('@')) {
    if (text.starts_with("@every ")) return text.size() > 7;
    static constexpr std::string_view kMacros[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                                   "@daily",  "@midnight", "@hourly"};
    return std::find(std::begin(kMacros), std::end(kMacros), text) != std::end(kMacros);
  }
  std::vector<std::string_view> fields = splitTrimmed(text, ' ');
  if (fields.size() != std::size(kCronFields)) return false;
  for (size_t i = 0; i < fields.size(); ++i)
    for (std::string_view part : split(fields[i], ','))
      if (!isCronPart(part, kCronFields[i])) return false;
  return true;
}

void checkJobSpec(const Inspect& spec) {
  for (std::string_view key :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"})
    spec.notNegative(key);
  if (spec.text("completionMode") == "Indexed" && !spec.has("completions"))
    spec.required("completions", "when completion mode is Indexed");
  checkPodTemplate(spec);
  Inspect inside = spec.child("template");
  Inspect pod = inside.child("spec");
  std::string_view policy = pod.text("restartPolicy");
  if (policy.empty() || policy == "Always")
    pod.required("restartPolicy", "valid values: \"OnFailure\", \"Never\"");
  Inspect selector = spec.child("selector");
  checkSelector(selector);
}

// While suspended and never started, where its pods go may still change: the old spec with the new
// one's placement.
json::Object withPlacementOf(json::Object old, const json::Object& now) {
  json::Object* inside = mutableObject(old, "template");
  json::Object* pod = inside != nullptr ? mutableObject(*inside, "spec") : nullptr;
  if (pod == nullptr) return old;
  const json::Object& wanted = objectIn(now, "template");
  auto take = [](json::Object& to, const json::Object& from, std::string_view key) {
    if (const json::Value* value = from.if_contains(key))
      to[key] = *value;
    else
      to.erase(key);
  };
  for (std::string_view key : {"nodeSelector", "affinity", "tolerations", "schedulingGates"})
    take(*pod, objectIn(wanted, "spec"), key);
  take(*inside, wanted, "metadata");
  return old;
}

}  // namespace

void validateJob(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkJobSpec(spec);
}

void validateJobUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  const json::Object& before = objectIn(old, "spec");
  for (std::string_view key : {"selector", "completionMode", "podFailurePolicy", "successPolicy",
                               "backoffLimitPerIndex", "managedBy"})
    spec.immutable(key, before);
  // An indexed job may be resized when both numbers move together.
  bool isElastic = spec.text("completionMode") == "Indexed" &&
                   spec.value("completions") == spec.value("parallelism");
  if (!isElastic) spec.immutable("completions", before);
  bool isWaiting = textIn(objectIn(old, "status"), "startTime").empty() &&
                   before.contains("suspend") && before.at("suspend") == json::Value(true);
  json::Object fixed = isWaiting ? withPlacementOf(before, spec.object()) : before;
  spec.immutable("template", fixed);
}

void validateCronJob(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect meta = root.child("metadata");
  if (meta.text("name").size() > kLongestCronJobName)
    meta.invalid("name", fmt::format("must be no more than {} characters", kLongestCronJobName));
  Inspect spec = root.child("spec");
  if (spec.wants("schedule") && !isSchedule(spec.text("schedule")))
    spec.invalid("schedule",
                 "want five fields (minute hour day month weekday) or a macro such as @daily");
  for (std::string_view key :
       {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    spec.notNegative(key);
  Inspect job = spec.child("jobTemplate");
  Inspect jobSpec = job.child("spec");
  checkJobSpec(jobSpec);
  if (jobSpec.flag("manualSelector")) jobSpec.notSupported("manualSelector", {"nil", "false"});
}

}  // namespace mangrove::apiserver
