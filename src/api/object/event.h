#pragma once
// Events: what users read to learn why. One struct for both wire shapes, core/v1 (kubectl describe,
// most writers) and events.k8s.io/v1 (the scheduler).
//
//   Event event{.regarding = refTo(kind::kPod, pod.meta), .type = "Warning",
//               .reason = "FailedScheduling", …};
//   client.create(kind::kEvent, event.toCoreJson());
//
// Values; const access from any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "api/object/meta.h"
#include "api/wire/decode.h"
#include "api/wire/kind.h"
#include "json/fwd.h"

namespace mangrove::api {

inline constexpr size_t kMaxEventNote = 1024;  // bytes; servers refuse longer messages

struct Event {
  ObjectMeta meta;
  ObjectRef regarding;  // involvedObject
  ObjectRef related;
  std::string type;  // "Normal" or "Warning"
  std::string reason;
  std::string action;
  std::string note;  // message
  std::string reportingController;
  std::string reportingInstance;
  std::string host;                // core: source.host
  WallTime eventTime = kZeroTime;  // first seen
  WallTime lastTime = kZeroTime;   // last seen
  int32_t count = 1;               // core: count; events.k8s.io: series.count

  json::Object toCoreJson() const;
  json::Object toEventsJson() const;  // events.k8s.io/v1; a series when count > 1
};
bool read(const In& in, Event& out);  // either shape

ObjectRef refTo(const Kind& kind, const ObjectMeta& meta);

// "<name>.<16 hex digits of the time in ns>": how clients name events, unique enough per object.
std::string eventName(std::string_view object, WallTime time);
// Cut to kMaxEventNote bytes, ending " ...", never inside a UTF-8 character.
std::string eventNote(std::string_view text);

}  // namespace mangrove::api
