#include "client/informer/watch_parts.h"

namespace mangrove::client {

std::string_view textOf(json::View view) {
  return view.string().value_or(std::string_view{});
}

std::optional<EventSlice> usualEvent(std::string_view line) {
  struct Beginning {
    std::string_view text;
    EventType type;
  };
  static constexpr Beginning kUsual[] = {
      {R"({"type":"MODIFIED","object":)", EventType::kModified},
      {R"({"type":"ADDED","object":)", EventType::kAdded},
      {R"({"type":"DELETED","object":)", EventType::kDeleted},
  };
  for (const auto& [text, type] : kUsual) {
    if (!line.starts_with(text)) continue;
    line.remove_prefix(text.size());
    if (!line.starts_with('{') || !line.ends_with("}}")) return std::nullopt;
    return EventSlice{type, line.substr(0, line.size() - 1)};
  }
  return std::nullopt;
}

Result<Received> receive(json::Doc& doc, std::string_view raw) {
  auto root = doc.parse(raw);
  if (!root) return pass(root.error());
  json::View meta = (*root)["metadata"];
  Received out{raw, *root, textOf(meta["namespace"]), textOf(meta["name"]),
               textOf(meta["resourceVersion"])};
  if (out.name.empty()) return invalid("an object without metadata.name");
  return out;
}

}  // namespace mangrove::client
