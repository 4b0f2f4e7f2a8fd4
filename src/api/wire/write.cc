#include "api/wire/write.h"

#include "base/text/time_text.h"

namespace mangrove::api {
namespace {

template <class Map>
json::Value mapToJson(const Map& map) {
  json::Object out;
  for (const auto& entry : map) out[entry.key.view()] = toJson(entry.value);
  return out;
}

}  // namespace

json::Value toJson(std::string_view value) {
  return json::Value(boost::json::string(value));
}

json::Value toJson(const Quantity& value) {
  return toJson(value.text());
}

json::Value toJson(WallTime value) {
  return value == kZeroTime ? json::Value() : toJson(formatTime(value));
}

json::Value toJson(Duration value) {
  return toJson(formatDuration(value));
}

json::Value toJson(const IntOrString& value) {
  return value.isText ? toJson(value.text) : json::Value(value.number);
}

json::Value toJson(const RawJson& value) {
  return json::parse(value.text).value_or(json::Value());
}

json::Value toJson(const Labels& value) {
  return mapToJson(value);
}

json::Value toJson(const Annotations& value) {
  return mapToJson(value);
}

json::Value toJson(const Expression& value) {
  json::Object out;
  putAlways(out, "key", value.key);
  putAlways(out, "operator", value.op);
  put(out, "values", value.values);
  return out;
}

json::Value toJson(const LabelSelector& value) {
  json::Object out;
  put(out, "matchLabels", value.matchLabels);
  put(out, "matchExpressions", value.matchExpressions);
  return out;
}

json::Value toJson(const NodeSelectorTerm& value) {
  json::Object out;
  put(out, "matchExpressions", value.matchExpressions);
  put(out, "matchFields", value.matchFields);
  return out;
}

json::Value toJson(const Taint& value) {
  json::Object out;
  putAlways(out, "key", value.key);
  put(out, "value", value.value);
  putAlways(out, "effect", taintEffectName(value.effect));
  put(out, "timeAdded", value.timeAdded);
  return out;
}

json::Value toJson(const Toleration& value) {
  json::Object out;
  put(out, "key", value.key);
  if (value.match == Toleration::Match::kExists) out["operator"] = "Exists";
  put(out, "value", value.value);
  put(out, "effect", taintEffectName(value.effect));
  put(out, "tolerationSeconds", value.seconds);
  return out;
}

json::Value toJson(const OwnerReference& value) {
  json::Object out;
  putAlways(out, "apiVersion", value.apiVersion);
  putAlways(out, "kind", value.kind);
  putAlways(out, "name", value.name);
  putAlways(out, "uid", value.uid);
  put(out, "controller", value.controller);
  put(out, "blockOwnerDeletion", value.blockOwnerDeletion);
  return out;
}

json::Value toJson(const ObjectRef& value) {
  json::Object out;
  put(out, "kind", value.kind);
  put(out, "namespace", value.ns);
  put(out, "name", value.name);
  put(out, "uid", value.uid);
  put(out, "apiVersion", value.apiVersion);
  put(out, "resourceVersion", value.resourceVersion);
  put(out, "fieldPath", value.fieldPath);
  return out;
}

json::Value toJson(const Condition& value) {
  json::Object out;
  putAlways(out, "type", value.type);
  putAlways(out, "status", truthName(value.status));
  put(out, "observedGeneration", value.observedGeneration);
  put(out, "lastTransitionTime", value.lastTransitionTime);
  put(out, "reason", value.reason);
  put(out, "message", value.message);
  return out;
}

std::string writeLikeGo(const json::Value& value) {
  std::string out;
  for (char c : json::write(value)) {
    // Outside of strings JSON has none of the three.
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace mangrove::api
