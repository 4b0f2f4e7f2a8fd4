#include "client/events/event_correlator.h"

namespace mangrove::client {

namespace {

constexpr const char* kCombined = "(combined from similar events): ";

// Parts are joined with a character that none of them can contain.
template <class... Parts>
std::string keyFrom(const Parts&... parts) {
  std::string key;
  ((key.append(parts).push_back('\x1f')), ...);
  return key;
}

std::string objectKey(const api::ObjectRef& ref) {
  return keyFrom(ref.kind, ref.ns, ref.name, ref.uid, ref.apiVersion, ref.fieldPath);
}

std::string sourceKey(const api::Event& event) {
  return keyFrom(event.reportingController, event.host, objectKey(event.regarding));
}

std::string similarKey(const api::Event& event) {
  return keyFrom(sourceKey(event), event.type, event.reason, event.action);
}

}  // namespace

EventCorrelator::EventCorrelator(CorrelatorOptions options)
    : options_(options), similar_(options.memory), known_(options.memory), spam_(options.memory) {}

// Returns the key under which repetitions are counted.
std::string EventCorrelator::combine(api::Event& event, MonoTime now) {
  std::string group = similarKey(event);
  Similar* seen = similar_.find(group);
  if (seen == nullptr || now - seen->last > options_.similarWindow)
    seen = &similar_.put(group, Similar{{}, now});
  seen->last = now;
  seen->messages.insert(event.note);
  if (seen->messages.size() < options_.similarLimit) return keyFrom(group, event.note);
  seen->messages.erase(seen->messages.begin());  // the set stays at its limit
  event.note = kCombined + event.note;
  return group;
}

EventCorrelator::Verdict EventCorrelator::judge(api::Event event, MonoTime now, WallTime wall) {
  Verdict out;
  std::string source = sourceKey(event);
  out.key = combine(event, now);
  event.note = api::eventNote(event.note);
  TokenBucket* bucket = spam_.find(source);
  if (bucket == nullptr)
    bucket = &spam_.put(source, TokenBucket(options_.spamPerSecond, options_.spamBurst));
  if (!bucket->tryTake(now)) return out;
  const WallTime when = event.eventTime == kZeroTime ? wall : event.eventTime;
  Known* known = known_.find(out.key);
  out.fate = known == nullptr ? Fate::kCreate : Fate::kPatch;
  if (known == nullptr)
    known = &known_.put(out.key, {api::eventName(event.regarding.name, wall), 0, when});
  event.meta.name = known->name;
  event.count = ++known->count;
  event.eventTime = known->first;
  event.lastTime = when;
  out.event = std::move(event);
  return out;
}

void EventCorrelator::forget(const std::string& key) {
  known_.erase(key);
}

}  // namespace mangrove::client
