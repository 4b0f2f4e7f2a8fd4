#include "api/wire/patch.h"

#include <algorithm>
#include <optional>

#include "api/wire/write.h"

namespace mangrove::api {
namespace {

boost::json::string_view bjs(std::string_view text) {
  return text;
}

json::View walk(json::View object, ObjectPatch::Path path) {
  for (std::string_view key : path) object = object[key];
  return object;
}

std::string pointer(JsonPatch::Path path) {
  std::string out;
  for (std::string_view part : path) {
    out += '/';
    for (char c : part) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

template <class Map>
bool has(const ObjectMeta* present, Map ObjectMeta::*map, std::string_view key,
         std::optional<std::string_view> value) {
  return present && (present->*map).get(key) == value;
}

bool sameElements(json::View a, const json::Array& b) {
  if (!a.isArray() || a.size() != b.size()) return false;
  size_t index = 0;
  for (json::View element : a.elements())
    if (!sameValue(element, b[index++])) return false;
  return true;
}

bool sameMembers(json::View a, const json::Object& b) {
  if (!a.isObject() || a.size() != b.size()) return false;
  return std::ranges::all_of(b, [&](const auto& m) { return sameValue(a[m.key()], m.value()); });
}

bool sameNumber(json::View a, const json::Value& b) {
  if (a.integer() && b.is_int64()) return *a.integer() == b.get_int64();
  if (a.unsignedInteger() && b.is_uint64()) return *a.unsignedInteger() == b.get_uint64();
  return a.number() && *a.number() == b.to_number<double>();
}

bool isPrecondition(std::string_view key) {
  return key == "resourceVersion" || key == "uid";
}

bool memberChanges(json::View object, const json::Value& patch, bool inMetadata) {
  if (!patch.is_object()) return !sameValue(object, patch);
  if (!object.isObject()) return true;
  return std::ranges::any_of(patch.get_object(), [&](const auto& member) {
    const std::string_view key = member.key();
    if (inMetadata && isPrecondition(key)) return false;
    const json::View there = object[key];
    if (member.value().is_null()) return there.exists();
    return memberChanges(there, member.value(), false);
  });
}

}  // namespace

std::string_view contentType(PatchForm form) {
  return form == PatchForm::kMerge ? "application/merge-patch+json"
                                   : "application/strategic-merge-patch+json";
}

bool sameValue(json::View a, const json::Value& b) {
  if (b.is_null()) return a.isNull();
  if (b.is_string()) return a.string() == std::string_view(b.get_string());
  if (b.is_bool()) return a.boolean() == b.get_bool();
  if (b.is_array()) return sameElements(a, b.get_array());
  if (b.is_object()) return sameMembers(a, b.get_object());
  return sameNumber(a, b);
}

bool wouldChange(json::View object, const json::Value& mergePatch) {
  if (!mergePatch.is_object() || !object.isObject())
    return memberChanges(object, mergePatch, false);
  return std::ranges::any_of(mergePatch.get_object(), [&](const auto& member) {
    const json::View there = object[std::string_view(member.key())];
    if (member.value().is_null()) return there.exists();
    return memberChanges(there, member.value(), member.key() == "metadata");
  });
}

void ObjectPatch::put(Path path, json::Value value) {
  json::Object* at = &body_;
  for (const auto* key = path.begin(); key + 1 != path.end(); key++) {
    json::Value& next = (*at)[*key];
    if (!next.is_object()) next.emplace_object();
    at = &next.get_object();
  }
  (*at)[*(path.end() - 1)] = std::move(value);
}

ObjectPatch& ObjectPatch::setLabel(std::string_view key, std::string_view value) {
  if (has(present_, &ObjectMeta::labels, key, value)) return *this;
  return set({"metadata", "labels", key}, bjs(value));
}

ObjectPatch& ObjectPatch::removeLabel(std::string_view key) {
  if (has(present_, &ObjectMeta::labels, key, std::nullopt)) return *this;
  return remove({"metadata", "labels", key});
}

ObjectPatch& ObjectPatch::setAnnotation(std::string_view key, std::string_view value) {
  if (has(present_, &ObjectMeta::annotations, key, value)) return *this;
  return set({"metadata", "annotations", key}, bjs(value));
}

ObjectPatch& ObjectPatch::removeAnnotation(std::string_view key) {
  if (has(present_, &ObjectMeta::annotations, key, std::nullopt)) return *this;
  return remove({"metadata", "annotations", key});
}

ObjectPatch& ObjectPatch::set(Path path, json::Value value, json::View object) {
  if (object.exists() && sameValue(walk(object, path), value)) return *this;
  put(path, std::move(value));
  changes_++;
  return *this;
}

ObjectPatch& ObjectPatch::remove(Path path, json::View object) {
  if (object.exists() && !walk(object, path).exists()) return *this;
  put(path, nullptr);
  changes_++;
  return *this;
}

ObjectPatch& ObjectPatch::setCondition(const Condition& wanted,
                                       const std::vector<Condition>& present) {
  Condition next = wanted;
  const Condition* before = findCondition(present, wanted.type.view());
  if (before && before->status == wanted.status)
    next.lastTransitionTime = before->lastTransitionTime;
  if (before && *before == next) return *this;
  if (form_ == PatchForm::kMerge && conditions_.empty())
    for (const Condition& other : present) conditions_.push_back(toJson(other).as_object());
  std::erase_if(conditions_, [&](const json::Object& other) {
    return other.at("type").as_string() == bjs(wanted.type.view());
  });
  conditions_.push_back(toJson(next).as_object());
  return set({"status", "conditions"}, json::Array(conditions_.begin(), conditions_.end()));
}

ObjectPatch& ObjectPatch::ifVersion(std::string_view resourceVersion) {
  put({"metadata", "resourceVersion"}, bjs(resourceVersion));
  return *this;
}

ObjectPatch& ObjectPatch::ifUid(const Uid& uid) {
  put({"metadata", "uid"}, json::Value(uid.str()));
  return *this;
}

std::string ObjectPatch::text() const {
  return json::write(body_);
}

JsonPatch& JsonPatch::append(std::string_view op, Path path, const json::Value* value) {
  json::Object operation{{"op", bjs(op)}, {"path", pointer(path)}};
  if (value) operation["value"] = *value;
  operations_.emplace_back(std::move(operation));
  if (op != "test") changes_++;
  return *this;
}

JsonPatch& JsonPatch::test(Path path, json::Value value) {
  return append("test", path, &value);
}
JsonPatch& JsonPatch::add(Path path, json::Value value) {
  return append("add", path, &value);
}
JsonPatch& JsonPatch::replace(Path path, json::Value value) {
  return append("replace", path, &value);
}
JsonPatch& JsonPatch::remove(Path path) {
  return append("remove", path, nullptr);
}

JsonPatch& JsonPatch::ifVersion(std::string_view resourceVersion) {
  return test({"metadata", "resourceVersion"}, bjs(resourceVersion));
}
JsonPatch& JsonPatch::ifUid(const Uid& uid) {
  return test({"metadata", "uid"}, json::Value(uid.str()));
}

std::string JsonPatch::text() const {
  return json::write(operations_);
}

}  // namespace mangrove::api
