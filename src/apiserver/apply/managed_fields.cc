#include "apiserver/apply/managed_fields.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/apply/elements.h"
#include "apiserver/apply/typed_fields.h"
#include "apiserver/core/object.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";
constexpr size_t kMostUpdaters = 10;  // Kubernetes' own limit

// One line of metadata.managedFields.
struct Entry {
  std::string manager, operation, apiVersion, subresource, time;
  FieldSet fields;

  bool isOf(const Manager& m, std::string_view op) const {
    return manager == m.name && operation == op && subresource == m.subresource &&
           (op == kApply || apiVersion == m.apiVersion);
  }
};
using Entries = std::vector<Entry>;

Entries readEntries(const json::Object& object) {
  Entries entries;
  const json::Array* list = findArray(metadataOf(object), "managedFields");
  if (!list) return entries;
  for (const json::Value& value : *list) {
    const json::Object* line = value.if_object();
    if (!line || (textAt(*line, "operation") != kApply && textAt(*line, "operation") != kUpdate))
      continue;
    const json::Value* fields = line->if_contains("fieldsV1");
    entries.push_back(
        {std::string(textAt(*line, "manager")), std::string(textAt(*line, "operation")),
         std::string(textAt(*line, "apiVersion")), std::string(textAt(*line, "subresource")),
         std::string(textAt(*line, "time")), fields ? FieldSet::parse(*fields) : FieldSet()});
  }
  return entries;
}

// Applied configurations first, then by time and name: the order Kubernetes keeps.
void writeEntries(json::Object& object, Entries entries) {
  std::erase_if(entries, [](const Entry& e) { return e.fields.empty(); });
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    if (a.operation != b.operation) return a.operation == kApply;
    return std::tie(a.time, a.manager, a.apiVersion, a.subresource) <
           std::tie(b.time, b.manager, b.apiVersion, b.subresource);
  });
  const json::Storage& storage = object.storage();
  json::Array list(storage);
  for (const Entry& e : entries) {
    json::Object line(
        {{"manager", e.manager}, {"operation", e.operation}, {"apiVersion", e.apiVersion}},
        storage);
    if (!e.time.empty()) line["time"] = e.time;
    line["fieldsType"] = "FieldsV1";
    line["fieldsV1"] = e.fields.toJson(storage);
    if (!e.subresource.empty()) line["subresource"] = e.subresource;
    list.push_back(std::move(line));
  }
  if (list.empty()) {
    metadataOf(object).erase("managedFields");
  } else {
    metadataOf(object)["managedFields"] = std::move(list);
  }
}

Entry& entryOf(Entries& entries, const Manager& manager, std::string_view operation) {
  auto at = std::find_if(entries.begin(), entries.end(),
                         [&](const Entry& e) { return e.isOf(manager, operation); });
  if (at != entries.end()) return *at;
  entries.push_back(
      {manager.name, std::string(operation), manager.apiVersion, manager.subresource, "", {}});
  return entries.back();
}

void own(Entries& entries, const Manager& manager, std::string_view operation, FieldSet fields,
         const std::string& time) {
  Entry& entry = entryOf(entries, manager, operation);
  if (entry.fields == fields && entry.apiVersion == manager.apiVersion)
    return;  // the time says when it last changed
  entry.fields = std::move(fields);
  entry.apiVersion = manager.apiVersion;
  entry.time = time;
}

// A client that sends an empty list, or one empty entry, asks to forget all owners.
bool wantsReset(const json::Object& object) {
  const json::Array* list = findArray(metadataOf(object), "managedFields");
  if (!list) return false;
  const json::Object* first = list->size() == 1 ? list->front().if_object() : nullptr;
  return list->empty() || (first && first->empty());
}

// "apply-controller" with subresource "scale" using apps/v1
std::string ownerText(const Entry& owner) {
  std::string text = fmt::format("\"{}\"", owner.manager);
  if (!owner.subresource.empty())
    text += fmt::format(" with subresource \"{}\"", owner.subresource);
  if (owner.operation == kUpdate) text += " using " + owner.apiVersion;
  return text;
}

void listPaths(const FieldSet& set, const std::string& prefix, std::vector<std::string>& paths) {
  for (const auto& [element, child] : set.children) {
    const std::string path = prefix + elementText(element);
    if (child.isMember) paths.push_back(path);
    listPaths(child, path, paths);
  }
}

// One conflict in one line, several as a list by owner: what kubectl shows as it is.
Answer conflictAnswer(const std::vector<std::pair<Entry, FieldSet>>& conflicts) {
  json::Array causes;
  std::string list;
  for (const auto& [entry, fields] : conflicts) {
    std::vector<std::string> paths;
    listPaths(fields, "", paths);
    const std::string owner = ownerText(entry);
    list += fmt::format("{}conflicts with {}:", list.empty() ? "" : "\n", owner);
    for (const std::string& path : paths) {
      list += "\n- " + path;
      causes.push_back(json::Object{{"reason", "FieldManagerConflict"},
                                    {"message", "conflict with " + owner},
                                    {"field", path}});
    }
  }
  if (causes.size() == 1) {
    const json::Object& only = causes[0].get_object();
    list = fmt::format("{}: {}", textAt(only, "message"), textAt(only, "field"));
  }
  auto text = fmt::format("Apply failed with {} conflict{}: {}", causes.size(),
                          causes.size() == 1 ? "" : "s", list);
  return answer::status(409, "Conflict", text, json::Object{{"causes", std::move(causes)}});
}

// The books a write starts from: those the client sent, when it sent some (kubectl moves fields
// from one manager to another that way), else those of the object.
Entries entriesFor(const json::Object& before, const json::Object& object, const Manager& manager) {
  if (wantsReset(object)) return {};
  Entries sent = manager.subresource.empty() ? readEntries(object) : Entries();
  return sent.empty() ? readEntries(before) : sent;
}

// Somebody wrote the object before anybody kept books: that counts as one owner.
void assumeOwner(const Schema& schema, const json::Object& live, Entries& entries,
                 const Manager& manager) {
  if (!entries.empty()) return;
  entries.push_back({"before-first-apply", std::string(kUpdate), manager.apiVersion, "",
                     formatTime(manager.now), fieldsOf(schema, live)});
}

// What this path cannot change it does not own.
void leaveAlone(FieldSet& set, const Manager& manager) {
  if (manager.leavesStatus) set.cut("f:status");
  if (manager.subresource == "status") set.cut("f:spec");
}

// Every client with a name of its own would make the object grow for ever.
void mergeOldest(Entries& entries) {
  auto isUpdate = [](const Entry& e) { return e.operation == kUpdate && !e.fields.empty(); };
  auto older = [&](const Entry& a, const Entry& b) {
    if (isUpdate(a) != isUpdate(b)) return isUpdate(a);
    return a.time < b.time;
  };
  std::stable_sort(entries.begin(), entries.end(), older);
  auto updates = static_cast<size_t>(std::count_if(entries.begin(), entries.end(), isUpdate));
  for (; updates > kMostUpdaters; --updates) {
    entries[1].fields.add(entries[0].fields);
    entries[1].manager = "ancient-changes";
    entries.erase(entries.begin());
  }
}

}  // namespace

void trackUpdate(const Schema& schema, const json::Object* old, json::Object& object,
                 const Manager& manager) {
  const json::Object& before = old ? *old : zeroObject(schema);
  const bool reset = wantsReset(object);
  Entries entries = entriesFor(before, object, manager);
  FieldSet changed = changedFields(schema, before, object);
  leaveAlone(changed, manager);
  const FieldSet gone = entries.empty() ? FieldSet() : goneFields(schema, before, object);
  for (Entry& entry : entries) {
    entry.fields.subtract(gone);
    if (!entry.isOf(manager, kUpdate)) entry.fields.subtract(changed);
  }
  if (!changed.empty() && !reset) {
    FieldSet mine = entryOf(entries, manager, kUpdate).fields;
    mine.empty() ? void(mine = std::move(changed)) : mine.add(changed);
    own(entries, manager, kUpdate, std::move(mine), formatTime(manager.now));
    mergeOldest(entries);
  }
  writeEntries(object, std::move(entries));
}

Outcome<json::Value> applyConfiguration(const Schema& schema, const json::Object* live,
                                        const json::Object& patch, const Manager& manager,
                                        bool force) {
  static const json::Object kNothing;
  const json::Array* sent = findArray(metadataOf(patch), "managedFields");
  if (sent && !sent->empty())
    return refuse(answer::badRequest("metadata.managedFields must be nil"));
  if (const std::string twice = doubledElement(schema, patch); !twice.empty())
    return refuse(answer::badRequest("failed to create typed patch object: " + twice));
  const json::Object& current = live ? *live : kNothing;
  Entries entries = readEntries(current);
  if (live) assumeOwner(schema, current, entries, manager);
  FieldSet wanted = fieldsOf(schema, patch);
  leaveAlone(wanted, manager);

  std::vector<std::pair<Entry, FieldSet>> conflicts;
  FieldSet others;
  for (Entry& entry : entries) {
    if (entry.isOf(manager, kApply)) continue;
    FieldSet clash = differingIn(schema, wanted, entry.fields, patch, current);
    if (!clash.empty()) conflicts.emplace_back(entry, clash);
    if (force) entry.fields.subtract(clash);
    others.add(entry.fields);
  }
  if (!conflicts.empty() && !force) return refuse(conflictAnswer(conflicts));

  json::Value merged = mergedValue(schema, current, patch);
  // A map that is still wanted in part must not go because its owner had it whole, nor a list that
  // somebody wants empty because its last element goes.
  FieldSet kept = withEveryNode(std::move(others));
  kept.add(nodesOf(schema, patch));
  const FieldSet dropped = entryOf(entries, manager, kApply).fields.minus(kept);
  removeFields(schema, dropped, kept, merged.get_object());
  // Applying what is there already makes one an owner, but at no time in particular.
  const Entry& mine = entryOf(entries, manager, kApply);
  const bool changes = merged.get_object() != current;
  own(entries, manager, kApply, wanted, changes ? formatTime(manager.now) : mine.time);
  writeEntries(merged.get_object(), std::move(entries));
  return merged;
}

}  // namespace mangrove::apiserver
