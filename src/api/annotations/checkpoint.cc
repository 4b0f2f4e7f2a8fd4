#include "api/annotations/checkpoint.h"

#include <algorithm>
#include <csignal>

#include "api/wire/schema.h"

namespace mangrove::api {
namespace {

using Mode = Checkpoint::Mode;

constexpr Word<Mode> kModes[] = {{"none", Mode::kNone},
                                 {"signal", Mode::kSignal},
                                 {"http", Mode::kHttp},
                                 {"operator", Mode::kOperator}};
constexpr Word<int> kSignals[] = {{"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}, {"SIGHUP", SIGHUP}};
constexpr double kLongestSeconds = 7 * 86400;

bool readMode(const In& in, Checkpoint& out) {
  const auto text = readString(in);
  if (!text) return false;
  for (const auto& word : kModes)
    if (word.text == *text) {
      out.mode = word.value;
      return true;
    }
  return in.refuse("'{}', want none, signal, http or operator", *text);
}

bool readSignal(const In& in, Checkpoint& out) {
  if (!read(in, out.signal)) return false;
  if (signalNumber(out.signal) != 0) return true;
  return in.refuse("'{}', want SIGUSR1, SIGUSR2 or SIGHUP", out.signal);
}

bool readUrl(const In& in, Checkpoint& out) {
  if (!read(in, out.url)) return false;
  const bool plain = out.url.starts_with('/') && out.url.size() <= 1024 &&
                     std::all_of(out.url.begin(), out.url.end(),
                                 [](unsigned char c) { return c > ' ' && c < 0x7f; });
  return plain || in.refuse("'{}', want a path such as /checkpoint", out.url);
}

bool readPort(const In& in, Checkpoint& out) {
  if (!read(in, out.port)) return false;
  if (out.port >= 1 && out.port <= 65535) return true;
  return in.refuse("{}, want 1 to 65535", out.port);
}

std::optional<Duration> readSeconds(const In& in) {
  double seconds = 0;
  if (!read(in, seconds)) return std::nullopt;
  if (seconds >= 0 && seconds <= kLongestSeconds)
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  in.refuse("{}, want seconds from 0 to a week", seconds);
  return std::nullopt;
}
bool readInterval(const In& in, Checkpoint& out) {
  return (out.interval = readSeconds(in)).has_value();
}
bool readRestart(const In& in, Checkpoint& out) {
  return (out.restart = readSeconds(in)).has_value();
}
bool readMaxWait(const In& in, Checkpoint& out) {
  const auto seconds = readSeconds(in);
  if (seconds) out.maxWait = *seconds;
  return seconds.has_value();
}

}  // namespace

static bool read(const In& in, Checkpoint& out) {
  static constexpr Fields fields{
      via<readMode>("mode"),
      via<readSignal>("signal"),
      field<&Checkpoint::container>("container"),
      via<readUrl>("url"),
      via<readPort>("port"),
      via<readInterval>("intervalSeconds"),
      field<&Checkpoint::last>("lastTime"),
      via<readMaxWait>("maxSeconds"),
      via<readRestart>("restartSeconds"),
  };
  return fields.read(in, out);
}

std::string_view modeName(Mode mode) {
  return wordFor(mode, kModes);
}

int signalNumber(std::string_view name) {
  for (const auto& word : kSignals)
    if (word.text == name) return word.value;
  return 0;
}

Result<std::optional<Checkpoint>> parseCheckpoint(const Annotations& pod) {
  auto said = parseAnnotation<Checkpoint>(pod, annotation::kCheckpoint, WhenEmpty::kAbsent);
  if (said && *said && (*said)->mode == Mode::kHttp && (*said)->port == 0)
    return invalid("annotation {}: mode http needs a port", annotation::kCheckpoint);
  return said;
}

static constexpr Schema kRequest{
    always<&CheckpointRequest::at>("at"),
    always<&CheckpointRequest::notBefore>("notBefore"),
    always<&CheckpointRequest::deadline>("deadline"),
    unlessUnset<&CheckpointRequest::by>("by"),
    unlessUnset<&CheckpointRequest::reason>("reason"),
};
bool read(const In& in, CheckpointRequest& out) {
  return kRequest.read(in, out);
}
json::Value toJson(const CheckpointRequest& value) {
  return kRequest.write(value);
}

SaidCheckpoint saidCheckpoint(const Annotations& pod) {
  SaidCheckpoint out;
  if (auto contract = parseCheckpoint(pod))
    out.contract = std::move(*contract);
  else
    out.trouble = contract.error().text();
  if (out.contract) out.last = out.contract->last;
  if (const auto text = pod.get(annotation::kCheckpointLast)) {
    if (const auto last = parseTime(*text))
      out.last = std::max(out.last.value_or(*last), *last);
    else
      out.trouble = last.error().in("annotation {}", annotation::kCheckpointLast).value().text();
  }
  if (auto request = parseAnnotation<CheckpointRequest>(pod, annotation::kCheckpointRequest,
                                                        WhenEmpty::kAbsent))
    out.request = std::move(*request);
  else
    out.trouble = request.error().text();
  return out;
}

CheckpointStep stepOf(const SaidCheckpoint& said, WallTime now) {
  using Step = CheckpointStep::Step;
  if (!said.contract || said.contract->mode == Mode::kNone) return {};
  const auto& request = said.request;
  if (!request || now > request->deadline + kForgetRequest) return {Step::kAsk};
  // Dates of pods have whole seconds: one saved in the second of the request counts.
  const bool saved = said.last && *said.last + std::chrono::seconds(1) > request->at;
  if (saved) return {Step::kSaved};
  if (now < request->deadline) return {Step::kWait, request->deadline};
  return {Step::kTooLate, request->deadline};
}

CheckpointRequest requestFor(const SaidCheckpoint& said, std::string by, std::string reason,
                             WallTime now, Duration longest) {
  const Checkpoint contract = said.contract.value_or(Checkpoint{});
  CheckpointRequest out{now, now, now, std::move(by), std::move(reason)};
  if (contract.interval && said.last) {
    const auto due =
        *said.last + std::chrono::duration_cast<std::chrono::microseconds>(*contract.interval);
    if (due > now && due - now <= kDueSoon) out.notBefore = due;
  }
  const Duration wait = std::clamp(contract.maxWait, Duration::zero(), longest);
  out.deadline = out.notBefore + std::chrono::duration_cast<std::chrono::microseconds>(wait);
  return out;
}

std::string requestPatch(const CheckpointRequest& request) {
  const json::Object annotations{{annotation::kCheckpointRequest, annotationText(request)}};
  return json::write(json::Object{{"metadata", json::Object{{"annotations", annotations}}}});
}

}  // namespace mangrove::api
