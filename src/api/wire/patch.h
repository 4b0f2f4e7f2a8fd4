#pragma once
// Patches: the smallest description of what we want changed in an object that others own too. We
// never write back an object we read.
//
//   ObjectPatch patch(PatchForm::kMerge, node.meta);
//   patch.setAnnotation(annotation::kRawAllocatable, text);     // dropped when it is there already
//   patch.set({"status", "phase"}, "Available", raw);           // dropped when raw has it already
//   patch.ifVersion(node.meta.resourceVersion);
//   if (!patch.empty()) client.patch(ref, patch.text());
//
// Builders are values of one thread.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::api {

// kMerge (RFC 7386) replaces lists as a whole and works on every kind. kStrategic merges lists by
// their key, which only built-in kinds support.
enum class PatchForm { kMerge, kStrategic };
std::string_view contentType(PatchForm form);

class ObjectPatch {
 public:
  using Path = std::initializer_list<std::string_view>;

  // Without the present metadata every change counts as one.
  explicit ObjectPatch(PatchForm form) : form_(form) {}
  // The metadata must outlive the builder.
  ObjectPatch(PatchForm form, const ObjectMeta& present) : form_(form), present_(&present) {}

  ObjectPatch& setLabel(std::string_view key, std::string_view value);
  ObjectPatch& removeLabel(std::string_view key);
  ObjectPatch& setAnnotation(std::string_view key, std::string_view value);
  ObjectPatch& removeAnnotation(std::string_view key);

  // Any field by the names on the way to it. `object` is the whole object as it is now: what it has
  // already is left out. Absent: always set.
  ObjectPatch& set(Path path, json::Value value, json::View object = {});
  ObjectPatch& remove(Path path, json::View object = {});

  // One condition of status.conditions: kStrategic sends it alone, kMerge the whole list. The time
  // of the last transition stays when the status does. No change of status, reason, message or
  // generation: nothing.
  ObjectPatch& setCondition(const Condition& wanted, const std::vector<Condition>& present);

  // The server refuses (kConflict) when the object is another or newer one.
  ObjectPatch& ifVersion(std::string_view resourceVersion);
  ObjectPatch& ifUid(const Uid& uid);

  bool empty() const { return changes_ == 0; }  // conditions for the patch are no changes
  PatchForm form() const { return form_; }
  const json::Object& body() const { return body_; }
  std::string text() const;

 private:
  void put(Path path, json::Value value);

  PatchForm form_;
  const ObjectMeta* present_ = nullptr;
  json::Object body_;
  std::vector<json::Object> conditions_;  // what status.conditions of the body will be
  size_t changes_ = 0;
};

// RFC 6902, where the place in a list matters.
class JsonPatch {
 public:
  using Path = std::initializer_list<std::string_view>;
  JsonPatch& test(Path path, json::Value value);
  JsonPatch& add(Path path, json::Value value);  // "-" is the end of a list
  JsonPatch& replace(Path path, json::Value value);
  JsonPatch& remove(Path path);
  JsonPatch& ifVersion(std::string_view resourceVersion);
  JsonPatch& ifUid(const Uid& uid);

  bool empty() const { return changes_ == 0; }  // tests are no changes
  const json::Array& body() const { return operations_; }
  std::string text() const;

 private:
  JsonPatch& append(std::string_view op, Path path, const json::Value* value);
  json::Array operations_;
  size_t changes_ = 0;
};

// Whether applying a merge patch to an object would change it. resourceVersion and uid are ignored:
// they are conditions, not changes.
bool wouldChange(json::View object, const json::Value& mergePatch);

// The same value, where numbers compare by amount and members in any order.
bool sameValue(json::View a, const json::Value& b);

}  // namespace mangrove::api
