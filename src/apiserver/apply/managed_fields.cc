#include "apiserver/apply/managed_fields.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/apply/typed_fields.h"
#include "apiserver/core/object.h"
#include "base/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";

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
    return std::tie(a.time, a.manager) < std::tie(b.time, b.manager);
  });
  json::Array list;
  for (const Entry& e : entries) {
    json::Object line{
        {"manager", e.manager}, {"operation", e.operation}, {"apiVersion", e.apiVersion}};
    line["time"] = e.time;
    line["fieldsType"] = "FieldsV1";
    line["fieldsV1"] = e.fields.toJson();
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

void own(Entries& entries, const Manager& manager, std::string_view operation, FieldSet fields) {
  Entry& entry = entryOf(entries, manager, operation);
  if (entry.fields == fields && entry.apiVersion == manager.apiVersion)
    return;  // the time says when it last changed
  entry.fields = std::move(fields);
  entry.apiVersion = manager.apiVersion;
  entry.time = formatTime(manager.now);
}

// A client that sends an empty list asks to forget all owners.
bool wantsReset(const json::Object& object) {
  const json::Array* list = findArray(metadataOf(object), "managedFields");
  return list && list->empty();
}

std::string pathsText(const FieldSet& set, const std::string& prefix, json::Array& causes,
                      const Entry& owner) {
  std::string first;
  for (const auto& [element, child] : set.children) {
    const std::string path = prefix + elementText(element);
    if (child.isMember) {
      causes.push_back(json::Object{
          {"reason", "FieldManagerConflict"},
          {"message", fmt::format("conflict with \"{}\"{}", owner.manager,
                                  owner.operation == kUpdate ? " using " + owner.apiVersion : "")},
          {"field", path}});
      if (first.empty()) first = path;
    }
    std::string inner = pathsText(child, path, causes, owner);
    if (first.empty()) first = std::move(inner);
  }
  return first;
}

Answer conflictAnswer(const std::vector<std::pair<Entry, FieldSet>>& conflicts) {
  json::Array causes;
  std::string owner;
  std::string first;
  for (const auto& [entry, fields] : conflicts) {
    std::string path = pathsText(fields, "", causes, entry);
    if (first.empty()) {
      first = std::move(path);
      owner = entry.manager;
    }
  }
  const size_t count = causes.size();
  auto text = fmt::format("Apply failed with {} conflict{}: conflict{} with \"{}\": {}", count,
                          count == 1 ? "" : "s", count == 1 ? "" : "s", owner, first);
  return answer::status(409, "Conflict", text, json::Object{{"causes", std::move(causes)}});
}

}  // namespace

void trackUpdate(const Schema& schema, const json::Object* old, json::Object& object,
                 const Manager& manager) {
  static const json::Object kNothing;
  const json::Object& before = old ? *old : kNothing;
  const bool reset = wantsReset(object);
  Entries entries = reset ? Entries() : readEntries(before);
  const FieldSet changed = changedFields(schema, before, object);
  const FieldSet gone = fieldsOf(schema, before).minus(fieldsOf(schema, object));
  for (Entry& entry : entries) {
    entry.fields.subtract(gone);
    if (!entry.isOf(manager, kUpdate)) entry.fields.subtract(changed);
  }
  if (!changed.empty() && !reset) {
    FieldSet mine = entryOf(entries, manager, kUpdate).fields;
    mine.add(changed);
    own(entries, manager, kUpdate, std::move(mine));
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
  const json::Object& current = live ? *live : kNothing;
  Entries entries = readEntries(current);
  const FieldSet wanted = fieldsOf(schema, patch);

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
  FieldSet dropped = entryOf(entries, manager, kApply).fields.minus(wanted).minus(others);
  removeFields(schema, dropped, merged.get_object());
  own(entries, manager, kApply, wanted);
  writeEntries(merged.get_object(), std::move(entries));
  return merged;
}

}  // namespace mangrove::apiserver
