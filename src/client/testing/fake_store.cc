#include "client/testing/fake_store.h"

#include "json/print.h"

namespace mangrove::client::testing {

namespace {

constexpr size_t kMaxHistory = 200000;
constexpr size_t kMaxSnapshots = 8;

const char* typeText(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
    case EventType::kBookmark:
      return "BOOKMARK";
    case EventType::kError:
      return "ERROR";
  }
  return "";
}

Body stamped(json::Value& object, uint64_t version) {
  json::Object& top = object.as_object();
  if (!top.contains("metadata")) top["metadata"] = json::Object();
  top["metadata"].as_object()["resourceVersion"] = std::to_string(version);
  return std::make_shared<const std::string>(json::write(object));
}

}  // namespace

Body FakeCollection::find(std::string_view key) const {
  auto at = objects_.find(key);
  return at == objects_.end() ? nullptr : at->second;
}

StoredEvent FakeCollection::put(uint64_t version, std::string key, json::Value object) {
  Body body = stamped(object, version);
  auto [at, fresh] = objects_.insert_or_assign(key, body);
  StoredEvent event{version, fresh ? EventType::kAdded : EventType::kModified, std::move(key),
                    body};
  history_.push_back(event);
  if (history_.size() > kMaxHistory) compact(history_.front().version);
  return event;
}

std::optional<StoredEvent> FakeCollection::remove(uint64_t version, std::string_view key) {
  auto at = objects_.find(key);
  if (at == objects_.end()) return std::nullopt;
  json::Value last = *json::parse(*at->second);
  StoredEvent event{version, EventType::kDeleted, at->first, stamped(last, version)};
  objects_.erase(at);
  history_.push_back(event);
  return event;
}

std::optional<std::vector<StoredEvent>> FakeCollection::since(uint64_t version) const {
  if (version < compacted_) return std::nullopt;
  std::vector<StoredEvent> out;
  for (const StoredEvent& event : history_)
    if (event.version > version) out.push_back(event);
  return out;
}

void FakeCollection::compact(uint64_t version) {
  compacted_ = std::max(compacted_, version);
  while (!history_.empty() && history_.front().version <= compacted_) history_.pop_front();
}

void FakeCollection::freeze(uint64_t version) {
  if (snapshot(version) != nullptr) return;
  snapshots_.push_back({version, std::make_shared<const Objects>(objects_)});
  if (snapshots_.size() > kMaxSnapshots) snapshots_.pop_front();
}

const FakeCollection::Snapshot* FakeCollection::snapshot(uint64_t version) const {
  for (const Snapshot& one : snapshots_)
    if (one.version == version) return &one;
  return nullptr;
}

std::string eventLine(const StoredEvent& event) {
  return std::string("{\"type\":\"") + typeText(event.type) + "\",\"object\":" + *event.body + "}";
}

std::string bookmarkLine(uint64_t version, const std::string& apiVersion, const std::string& kind) {
  return fmt::format(
      R"({{"type":"BOOKMARK","object":{{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}","creationTimestamp":null}}}}}})",
      kind, apiVersion, version);
}

std::string statusBody(int code, std::string_view reason, std::string_view message,
                       int retryAfter) {
  std::string quotedMessage;
  json::appendString(message, quotedMessage);
  std::string details =
      retryAfter > 0 ? fmt::format(R"(,"details":{{"retryAfterSeconds":{}}})", retryAfter) : "";
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":{},"reason":"{}","code":{}{}}})",
      quotedMessage, reason, code, details);
}

}  // namespace mangrove::client::testing
