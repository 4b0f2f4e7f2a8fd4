#include "placement/engine/auditor.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "base/os/log.h"
#include "base/text/strings.h"

namespace mangrove::placement {

namespace {

const Logger log("auditor");

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::vector<double> doubling(int count) {
  std::vector<double> out;
  for (double value = 0.1; count > 0; count--, value *= 2) out.push_back(value);
  return out;
}

std::vector<double> upTo(int count) {
  std::vector<double> out;
  for (int value = 0; value < count; value++) out.push_back(value);
  return out;
}

std::vector<std::string> namesOf(const AuditorOptions& options,
                                 std::initializer_list<const char*> more = {}) {
  std::vector<std::string> out = {"priority"};
  for (const auto& [name, label] : options.labels) out.push_back(name);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// As series may have; those that are there already are none.
bool isLabelName(std::string_view name) {
  constexpr std::string_view kTaken[] = {"priority", "event_type", "outcome"};
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits) &&
         std::find(std::begin(kTaken), std::end(kTaken), name) == std::end(kTaken);
}

constexpr std::string_view kSeries = "scheduler_workload_auditor_";

std::string series(std::string_view name) {
  return std::string(kSeries) + std::string(name);
}

}  // namespace

std::string_view auditedName(Audited what) {
  constexpr std::array<std::string_view, kAuditedKinds> kNames = {
      "create",           "gatedByQueueAdmission", "admissionPassed", "scheduled",
      "preemptNominated", "preemptVictimDeleting", "preemptFailure",  "scheduleFailure",
      "victimAllDeleted", "minMemberSatisfied",    "allPodsAttempted"};
  return kNames[static_cast<size_t>(what)];
}

std::vector<std::pair<std::string, std::string>> auditorLabels(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(trim(pair.substr(0, equals)));
    const std::string label(trim(pair.substr(equals + 1)));
    if (isLabelName(name) && !label.empty()) out.emplace_back(name, label);
  }
  return out;
}

Auditor::Auditor(AuditorOptions options, Clock& clock, Registry& r)
    : options_(std::move(options)),
      clock_(clock),
      repeated_(r.counters(series("repeated_preemptions_total"),
                           "Pods for which room was made more than once.", namesOf(options_))),
      invalidations_(r.counters(series("preemption_invalidations_total"),
                                "Preemptions whose room was not used.", namesOf(options_))),
      rescheduleTime_(r.histograms(series("victim_reschedule_duration_seconds"),
                                   "Time from the end of the last victim to the next result.",
                                   namesOf(options_), doubling(15))),
      retries_(r.histograms(series("preemption_victim_deleting_retries"),
                            "Tries while victims were still going.", namesOf(options_), upTo(20))),
      deletionTime_(r.histograms(series("preemption_to_victim_deleted_seconds"),
                                 "Time from nomination to the end of the last victim.",
                                 namesOf(options_), doubling(15))),
      interruptedTime_(r.histograms(series("preemption_cycle_interrupted_seconds"),
                                    "Time from nomination to what came before the victims' end.",
                                    namesOf(options_), doubling(15))),
      beforeOutcome_(r.histograms(series("scheduling_events_before_outcome"),
                                  "Events of a pod until its end, by event.",
                                  namesOf(options_, {"event_type", "outcome"}), upTo(30))),
      silence_(r.histograms(series("scheduling_event_interval_seconds"),
                            "Time between two events of a pod.", namesOf(options_), doubling(20))) {
}

LabelValues Auditor::labelsOf(const api::Pod& pod) const {
  LabelValues out = {std::string(api::bandName(api::rawBand(pod)))};
  for (const auto& [name, label] : options_.labels)
    out.emplace_back(pod.meta.labels.get(label).value_or(""));
  return out;
}

void Auditor::created(const api::Pod& pod) {
  const auto [at, isNew] = records_.try_emplace(pod.meta.uid);
  if (!isNew) return;
  Record& record = at->second;
  record.key = pod.meta.ns.str() + "/" + pod.meta.name.str();
  record.labels = labelsOf(pod);
  note(record, Audited::kCreate, "");
  gated(pod);
}

void Auditor::gated(const api::Pod& pod) {
  const auto at = records_.find(pod.meta.uid);
  const bool now = !pod.spec->schedulingGates.empty();
  if (at == records_.end() || std::exchange(at->second.isGated, now) == now) return;
  note(at->second, now ? Audited::kGated : Audited::kAdmitted, "");
}

void Auditor::groupSeen(const std::string& group, const api::Pod& member, bool isFull) {
  const auto [at, isNew] = records_.try_emplace(api::Uid(group));
  Record& record = at->second;
  if (isNew) {
    record.key = "group " + group;
    record.labels = labelsOf(member);
    record.isGated = true;  // until enough are there
    note(record, Audited::kCreate, "");
    note(record, Audited::kGated, "");
  }
  if (std::exchange(record.isGated, !isFull) == !isFull) return;
  if (isFull) note(record, Audited::kEnoughMembers, "");
  note(record, isFull ? Audited::kAdmitted : Audited::kGated, "");
}

void Auditor::saw(const api::Uid& pod, Audited what, std::string_view message) {
  if (const auto at = records_.find(pod); at != records_.end()) note(at->second, what, message);
}

void Auditor::note(Record& record, Audited what, std::string_view message) {
  record.counts[static_cast<size_t>(what)]++;
  switch (what) {
    case Audited::kNominated:
      onNominated(record, what, message);
      break;
    case Audited::kPreemptFailure:
    case Audited::kFailure:
      invalidate(record, what, message);
      [[fallthrough]];
    case Audited::kScheduled:
      checkReschedule(record, what, message);
      endPreemption(record, what, message);
      break;
    case Audited::kVictimsGone:
      endPreemption(record, what, message);
      record.victimsGone = clock_.mono();
      break;
    case Audited::kVictimDeleting:
      record.retries++;
      break;
    case Audited::kGated:  // nobody tries it now
      record.victimsGone.reset();
      break;
    case Audited::kCreate:
    case Audited::kAdmitted:
    case Audited::kEnoughMembers:
    case Audited::kAllAttempted:
      break;
  }
  checkSilence(record, what, message);
}

void Auditor::onNominated(Record& record, Audited what, std::string_view message) {
  endPreemption(record, what, message);
  const int64_t times = record.counts[static_cast<size_t>(Audited::kNominated)];
  if (times > 1) {
    repeated_.with(record.labels).inc();
    alert(record, fmt::format("preempts for the {}. time", times), what, message);
    invalidate(record, what, message);
  }
  record.invalidated = false;
  record.nominated = clock_.mono();
  record.retries = 0;
  checkReschedule(record, what, message);
}

// Each nomination once.
void Auditor::invalidate(Record& record, Audited what, std::string_view message) {
  if (record.counts[static_cast<size_t>(Audited::kNominated)] == 0 || record.invalidated) return;
  record.invalidated = true;
  invalidations_.with(record.labels).inc();
  alert(record, "the room that preemption made was not used", what, message);
}

void Auditor::checkReschedule(Record& record, Audited what, std::string_view message) {
  if (!record.victimsGone) return;
  const Duration took = clock_.mono() - *std::exchange(record.victimsGone, std::nullopt);
  rescheduleTime_.with(record.labels).observe(secondsOf(took));
  if (took > options_.longestReschedule)
    alert(record, fmt::format("tried {:.1f} s after its last victim had gone", secondsOf(took)),
          what, message);
}

void Auditor::endPreemption(Record& record, Audited what, std::string_view message) {
  if (!record.nominated) return;
  const Duration took = clock_.mono() - *std::exchange(record.nominated, std::nullopt);
  const bool whole = what == Audited::kVictimsGone;
  (whole ? deletionTime_ : interruptedTime_).with(record.labels).observe(secondsOf(took));
  retries_.with(record.labels).observe(static_cast<double>(record.retries));
  if (record.retries > options_.mostRetries)
    alert(record, fmt::format("tried {} times while its victims were going", record.retries), what,
          message);
  if (took > options_.longestDeletion)
    alert(record,
          fmt::format("{} {:.1f} s after its nomination",
                      whole ? "victims went only" : "victims had not gone", secondsOf(took)),
          what, message);
}

// A gate ends the round; what opens it begins another one. The victims' end is no try.
void Auditor::checkSilence(Record& record, Audited what, std::string_view message) {
  if (what == Audited::kVictimsGone) return;
  if (what == Audited::kGated) return record.last.reset();
  const MonoTime now = clock_.mono();
  const auto before = std::exchange(record.last, now);
  if (what == Audited::kCreate || what == Audited::kAdmitted || !before) return;
  silence_.with(record.labels).observe(secondsOf(now - *before));
  if (now - *before > options_.longestSilence)
    alert(record, fmt::format("nothing happened for {:.0f} s", secondsOf(now - *before)), what,
          message);
}

void Auditor::ended(const api::Uid& pod, std::string_view outcome) {
  const auto at = records_.find(pod);
  if (at == records_.end()) return;
  Record record = std::move(at->second);
  records_.erase(at);
  if (record.nominated) {
    interruptedTime_.with(record.labels).observe(secondsOf(clock_.mono() - *record.nominated));
    retries_.with(record.labels).observe(static_cast<double>(record.retries));
  }
  for (size_t kind = 0; kind < kAuditedKinds; kind++) {
    if (record.counts[kind] == 0) continue;
    LabelValues labels = record.labels;
    labels.emplace_back(auditedName(static_cast<Audited>(kind)));
    labels.emplace_back(outcome);
    beforeOutcome_.with(labels).observe(static_cast<double>(record.counts[kind]));
  }
}

void Auditor::alert(const Record& record, std::string_view about, Audited what,
                    std::string_view message) {
  log.warn("ALERT: pod {} {{{}}}: {} ({}{}{})", record.key, join(record.labels, ", "), about,
           auditedName(what), message.empty() ? "" : ": ", message);
}

}  // namespace mangrove::placement
