#include "api/object/event.h"

#include <algorithm>

#include "api/wire/write.h"

namespace mangrove::api {
namespace {

json::Object metaJson(const ObjectMeta& meta) {
  json::Object out;
  put(out, "name", meta.name);
  put(out, "namespace", meta.ns.view());
  return out;
}

bool readSource(const In& in, Event& out) {
  static constexpr Fields fields{
      field<&Event::reportingController>("component"),
      field<&Event::host>("host"),
  };
  return fields.read(in, out);
}

bool readSeries(const In& in, Event& out) {
  static constexpr Fields fields{
      field<&Event::count>("count"),
      field<&Event::lastTime>("lastObservedTime"),
  };
  return fields.read(in, out);
}

// Newer clients leave the old times null, older ones the new one; empty names do not overwrite the
// source.
bool readFirst(const In& in, Event& out) {
  return out.eventTime != kZeroTime || read(in, out.eventTime);
}
bool readReporter(const In& in, Event& out) {
  auto text = readString(in);
  if (text && !text->empty()) out.reportingController = *text;
  return text.has_value();
}

}  // namespace

bool read(const In& in, Event& out) {
  static constexpr Fields fields{
      field<&Event::meta>("metadata"),
      field<&Event::regarding>("involvedObject"),
      field<&Event::regarding>("regarding"),
      field<&Event::related>("related"),
      field<&Event::type>("type"),
      field<&Event::reason>("reason"),
      field<&Event::action>("action"),
      field<&Event::note>("message"),
      field<&Event::note>("note"),
      via<readSource>("source"),
      via<readSource>("deprecatedSource"),
      via<readReporter>("reportingComponent"),
      via<readReporter>("reportingController"),
      field<&Event::reportingInstance>("reportingInstance"),
      field<&Event::eventTime>("eventTime"),
      via<readFirst>("firstTimestamp"),
      via<readFirst>("deprecatedFirstTimestamp"),
      field<&Event::lastTime>("lastTimestamp"),
      field<&Event::lastTime>("deprecatedLastTimestamp"),
      field<&Event::count>("count"),
      field<&Event::count>("deprecatedCount"),
      via<readSeries>("series"),
  };
  return fields.read(in, out);
}

json::Object Event::toCoreJson() const {
  const WallTime last = lastTime == kZeroTime ? eventTime : lastTime;
  json::Object source;
  put(source, "component", reportingController);
  put(source, "host", host);
  json::Object out{{"apiVersion", "v1"}, {"kind", "Event"}, {"metadata", metaJson(meta)}};
  out["involvedObject"] = toJson(regarding);
  put(out, "reason", reason);
  put(out, "message", eventNote(note));
  out["source"] = std::move(source);
  out["firstTimestamp"] = formatTime(eventTime);
  out["lastTimestamp"] = formatTime(last);
  out["count"] = count;
  put(out, "type", type);
  put(out, "action", action);
  if (!related.name.empty()) out["related"] = toJson(related);
  out["reportingComponent"] = reportingController;
  out["reportingInstance"] = reportingInstance;
  return out;
}

json::Object Event::toEventsJson() const {
  json::Object out{
      {"apiVersion", "events.k8s.io/v1"}, {"kind", "Event"}, {"metadata", metaJson(meta)}};
  out["eventTime"] = formatMicroTime(eventTime);
  if (count > 1)
    out["series"] = json::Object{{"count", count}, {"lastObservedTime", formatMicroTime(lastTime)}};
  out["reportingController"] = reportingController;
  out["reportingInstance"] = reportingInstance;
  put(out, "action", action);
  put(out, "reason", reason);
  out["regarding"] = toJson(regarding);
  if (!related.name.empty()) out["related"] = toJson(related);
  put(out, "note", eventNote(note));
  put(out, "type", type);
  return out;
}

ObjectRef refTo(const Kind& kind, const ObjectMeta& meta) {
  return {.apiVersion = kind.apiVersion(),
          .kind = std::string(kind.kind),
          .ns = meta.ns.str(),
          .name = meta.name.str(),
          .uid = meta.uid.str(),
          .resourceVersion = meta.resourceVersion,
          .fieldPath = {}};
}

std::string eventName(std::string_view object, WallTime time) {
  const auto nanos = time.time_since_epoch().count() * 1000;
  return fmt::format("{}.{:016x}", object, nanos);
}

std::string eventNote(std::string_view text) {
  static constexpr std::string_view kMore = " ...";
  if (text.size() <= kMaxEventNote) return std::string(text);
  size_t end = kMaxEventNote - kMore.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end--;
  return std::string(text.substr(0, end)).append(kMore);
}

}  // namespace mangrove::api
