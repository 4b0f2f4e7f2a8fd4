#pragma once
// The checkpoint contract: a pod says how it can be told to save its work, and since when it has
// saved; who wants it gone asks first, with a date, and waits. Ours; Koordinator has nothing like
// it.
//
//   colocation.mangrove.io/checkpoint: {"mode":"signal","signal":"SIGUSR1","intervalSeconds":600,
//                                       "maxSeconds":60,"restartSeconds":30}
//   colocation.mangrove.io/checkpoint-last: "2026-11-17T15:00:00Z"         the pod, after each save
//   colocation.mangrove.io/checkpoint-request: {"at":…,"notBefore":…,"deadline":…,"by":…}
//
//   const SaidCheckpoint said = saidCheckpoint(pod.meta.annotations);
//   switch (stepOf(said, now).step) …
//
// Pure functions, any thread.

#include <optional>
#include <string>
#include <string_view>

#include "api/annotations/annotation.h"
#include "base/number/units.h"

namespace mangrove::api {

namespace annotation {
inline constexpr std::string_view kCheckpoint = "colocation.mangrove.io/checkpoint";
inline constexpr std::string_view kCheckpointLast = "colocation.mangrove.io/checkpoint-last";
inline constexpr std::string_view kCheckpointRequest = "colocation.mangrove.io/checkpoint-request";
}  // namespace annotation

struct Checkpoint {
  // kSignal: the agent sends `signal` to the main process of `container`. kHttp: it posts to `url`
  // on the pod's own address and `port`. kOperator: the manager asks the job's operator. kNone:
  // nothing can be saved.
  enum class Mode : uint8_t { kNone, kSignal, kHttp, kOperator } mode = Mode::kNone;
  std::string signal = "SIGUSR1";
  std::string container;  // "": the first
  std::string url = "/checkpoint";
  int32_t port = 0;
  std::optional<Duration> interval;  // saves by itself that often
  std::optional<WallTime> last;      // lastTime; checkpoint-last is newer where both are there
  Duration maxWait = std::chrono::seconds(120);
  std::optional<Duration> restart;
  bool operator==(const Checkpoint&) const = default;
};
std::string_view modeName(Checkpoint::Mode mode);

// The signals that may be asked for: those a program must ask for to get, and that nobody else sends.
int signalNumber(std::string_view name);  // 0: not one of them

// nullopt: the pod says nothing. What makes no sense is an error that names member and value.
Result<std::optional<Checkpoint>> parseCheckpoint(const Annotations& pod);

struct CheckpointRequest {
  WallTime at = kZeroTime;         // what is saved from here on counts
  WallTime notBefore = kZeroTime;  // one that is due by itself is waited for until here
  WallTime deadline = kZeroTime;
  std::string by;
  std::string reason;
  bool operator==(const CheckpointRequest&) const = default;
};
bool read(const In& in, CheckpointRequest& out);
json::Value toJson(const CheckpointRequest& value);

// All three annotations together. What cannot be read counts as not said, and `trouble` says so.
struct SaidCheckpoint {
  std::optional<Checkpoint> contract;
  std::optional<WallTime> last;  // the newest that is known
  std::optional<CheckpointRequest> request;
  std::string trouble;
};
SaidCheckpoint saidCheckpoint(const Annotations& pod);

// What is to be done with a pod that somebody wants gone.
struct CheckpointStep {
  enum class Step : uint8_t {
    kNothingToSave,  // it may go: no contract, or mode none
    kAsk,            // write a request
    kWait,           // it was asked; until `until` at most
    kSaved,          // it has saved since: it may go
    kTooLate,        // it was asked and has not: the mighty insist, others take the next one
  } step = Step::kNothingToSave;
  WallTime until = kZeroTime;
  bool mayGo() const { return step == Step::kNothingToSave || step == Step::kSaved; }
};
inline constexpr Duration kLongestCheckpoint = std::chrono::seconds(120);
inline constexpr Duration kDueSoon = std::chrono::seconds(60);
// A request that was not answered is forgotten this long after its deadline, and may be made anew.
inline constexpr Duration kForgetRequest = std::chrono::minutes(10);
CheckpointStep stepOf(const SaidCheckpoint& said, WallTime now);

// The request to write for kAsk. One that is due within a minute by itself is waited for first;
// then the pod has its own maximum, `longest` at most.
CheckpointRequest requestFor(const SaidCheckpoint& said, std::string by, std::string reason,
                             WallTime now, Duration longest = kLongestCheckpoint);
// The merge patch that puts it on the pod.
std::string requestPatch(const CheckpointRequest& request);

}  // namespace mangrove::api
