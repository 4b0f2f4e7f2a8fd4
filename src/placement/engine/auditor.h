#pragma once
// Watches over the way of pods through the scheduler and says when it takes a strange course:
// preempting again and again, victims that do not go, room that was made and then not used, long
// silence. Off unless asked for; series and limits are those of the reference's workload auditor.
//
//   Auditor auditor({.enabled = true}, clock, registry);
//   auditor.created(pod);
//   auditor.saw(uid, Audited::kNominated, "…");      // logs and counts what is strange about it
//   auditor.ended(uid, "scheduled");
//
// Owner thread only.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/pod/pod.h"
#include "base/clock.h"
#include "base/metrics.h"

namespace mangrove::placement {

enum class Audited : uint8_t {
  kCreate,
  kGated,
  kAdmitted,  // the last gate is gone
  kScheduled,
  kNominated,       // preemption made room
  kVictimDeleting,  // tried while victims are still going
  kPreemptFailure,
  kFailure,
  kVictimsGone,
  kEnoughMembers,  // of a group: as many as its minimum are there
  kAllAttempted,   // of a group: no pending member is left to be tried
};
inline constexpr size_t kAuditedKinds = 11;
std::string_view auditedName(Audited what);

struct AuditorOptions {
  bool enabled = false;
  // Further labels of the series after "priority": name and the pod label that gives the value.
  std::vector<std::pair<std::string, std::string>> labels = {};
  Duration longestReschedule = std::chrono::seconds(10);  // from the last victim's end to a result
  Duration longestDeletion = std::chrono::seconds(30);    // from nomination to the victims' end
  int64_t mostRetries = 3;                                // tries while victims are going
  Duration longestSilence = std::chrono::minutes(5);      // between two events of a pod
};
// "quota_name=quota.scheduling.koordinator.sh/name,…"; pairs that make no label are left out.
std::vector<std::pair<std::string, std::string>> auditorLabels(std::string_view text);

class Auditor {
 public:
  Auditor(AuditorOptions options, Clock& clock, Registry& registry);

  void created(const api::Pod& pod);
  // Gates may have come or gone; counts only when they did.
  void gated(const api::Pod& pod);
  // A member of a group was seen; groups are known by their id and have what the member has.
  // `isFull`: as many members as its minimum are there; counted when that becomes so.
  void groupSeen(const std::string& group, const api::Pod& member, bool isFull);
  void saw(const api::Uid& pod, Audited what, std::string_view message);
  // "scheduled" or "deleted"; the pod or group is forgotten.
  void ended(const api::Uid& pod, std::string_view outcome);
  size_t pods() const { return records_.size(); }

 private:
  struct Record {
    std::string key;  // ns/name
    LabelValues labels;
    std::array<int64_t, kAuditedKinds> counts{};
    std::optional<MonoTime> nominated, victimsGone, last;
    int64_t retries = 0;       // since the nomination
    bool invalidated = false;  // the last nomination
    bool isGated = false;
  };
  LabelValues labelsOf(const api::Pod& pod) const;
  void note(Record& record, Audited what, std::string_view message);
  void onNominated(Record& record, Audited what, std::string_view message);
  void invalidate(Record& record, Audited what, std::string_view message);
  void checkReschedule(Record& record, Audited what, std::string_view message);
  void endPreemption(Record& record, Audited what, std::string_view message);
  void checkSilence(Record& record, Audited what, std::string_view message);
  void alert(const Record& record, std::string_view about, Audited what, std::string_view message);

  AuditorOptions options_;
  Clock& clock_;
  CounterFamily& repeated_;
  CounterFamily& invalidations_;
  HistogramFamily& rescheduleTime_;
  HistogramFamily& retries_;
  HistogramFamily& deletionTime_;
  HistogramFamily& interruptedTime_;
  HistogramFamily& beforeOutcome_;
  HistogramFamily& silence_;
  std::unordered_map<api::Uid, Record> records_;
};

}  // namespace mangrove::placement
