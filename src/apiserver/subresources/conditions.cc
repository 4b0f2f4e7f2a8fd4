#include "apiserver/subresources/conditions.h"

#include "apiserver/core/object.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

json::Array& conditionsOf(json::Object& object) {
  json::Value& list = objectAt(object, "status")["conditions"];
  if (!list.is_array()) list = json::Array();
  return list.get_array();
}

json::Object& entryOf(json::Array& list, std::string_view type) {
  for (json::Value& one : list) {
    if (one.is_object() && textAt(one.get_object(), "type") == type) return one.get_object();
  }
  list.push_back(json::Object{{"type", type}});
  return list.back().get_object();
}

void setText(json::Object& entry, std::string_view key, std::string_view text) {
  if (text.empty()) {
    entry.erase(key);
  } else {
    entry[key] = text;
  }
}

}  // namespace

void putCondition(json::Object& object, const StatusCondition& condition, WallTime now) {
  json::Object& entry = entryOf(conditionsOf(object), condition.type);
  if (textAt(entry, "status") != condition.status) entry["lastTransitionTime"] = formatTime(now);
  entry["status"] = condition.status;
  setText(entry, "reason", condition.reason);
  setText(entry, "message", condition.message);
}

std::string_view statusOfCondition(const json::Object& object, std::string_view type) {
  const json::Object* status = findObject(object, "status");
  const json::Array* list = status ? findArray(*status, "conditions") : nullptr;
  if (!list) return "";
  for (const json::Value& one : *list) {
    if (one.is_object() && textAt(one.get_object(), "type") == type)
      return textAt(one.get_object(), "status");
  }
  return "";
}

}  // namespace mangrove::apiserver
