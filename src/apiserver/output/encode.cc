#include "apiserver/output/encode.h"

#include <fmt/core.h>

#include "apiserver/kinds/conversion.h"
#include "apiserver/output/table.h"
#include "apiserver/schema/defaulting.h"
#include "json/print.h"
#include "json/view.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

void appendQuoted(std::string_view before, std::string_view text, std::string& out) {
  out += before;
  json::appendString(text, out);
}

// Where the value of apiVersion lies in the text, without quotes, when it is one of the first two
// members, as everybody writes it.
std::optional<std::pair<size_t, size_t>> apiVersionIn(std::string_view text,
                                                      std::string_view kind) {
  const std::string late = fmt::format(R"({{"kind":"{}","apiVersion":")", kind);
  for (std::string_view head : {std::string_view(R"({"apiVersion":")"), std::string_view(late)}) {
    if (!text.starts_with(head)) continue;
    const size_t end = text.find('"', head.size());
    if (end != std::string_view::npos) return std::pair(head.size(), end);
  }
  return std::nullopt;
}

void appendConverted(const KindInfo& kind, std::string_view stored, std::string& out) {
  auto value = json::parse(stored);
  if (!value || !value->is_object()) {
    out += stored;
    return;
  }
  fromStored(kind, *value);
  out += json::write(*value);
}

// Versions of a custom kind differ in their apiVersion alone. Even objects asked for in the storage
// version may carry another: they were written before the definition changed it.
void appendCustom(const KindInfo& kind, std::string_view stored, std::string& out) {
  const auto place = apiVersionIn(stored, kind.kind);
  if (!place) return appendConverted(kind, stored, out);
  out += stored.substr(0, place->first);
  out += kind.apiVersion();
  out += stored.substr(place->second);
}

void appendWhole(const KindInfo& kind, std::string_view stored, std::string& out) {
  if (kind.isCustom)
    appendCustom(kind, stored, out);
  else if (!kind.storage)
    appendConverted(kind, stored, out);
  else
    out += stored;
}

void appendMetadataOnly(json::View object, std::string_view version, std::string& out) {
  out += R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)";
  out += version;
  out += R"(","metadata":)";
  const json::View meta = object["metadata"];
  if (meta.isObject())
    json::write(meta, out);
  else
    out += "{}";
  out += '}';
}

std::string headText(const ListHead& head) {
  std::string out;
  appendQuoted(R"({"resourceVersion":)", head.resourceVersion, out);
  if (!head.continueToken.empty()) appendQuoted(R"(,"continue":)", head.continueToken, out);
  if (head.remaining) out += fmt::format(R"(,"remainingItemCount":{})", *head.remaining);
  return out + "}";
}

// Writes objects in the form a shape asks for. Keeps one parser for all of them.
class Encoder {
 public:
  Encoder(const KindInfo& kind, const Shape& shape) : kind_(kind), shape_(shape) {
    if (shape.form == Form::kTable) table_.emplace(kind, shape.now);
  }

  // One object by itself: a table of one row for Form::kTable.
  void one(std::string_view stored, std::string_view resourceVersion, bool columns,
           std::string& out) {
    if (shape_.form != Form::kTable) return item(stored, out);
    std::string meta;
    appendQuoted(R"({"resourceVersion":)", resourceVersion, meta);
    table_->open(out, shape_.metaVersion, meta + "}", columns);
    item(stored, out);
    table_->close(out);
  }

  // One object among others: a row, or an element.
  void item(std::string_view stored, std::string& out) {
    if (!isIncomplete(stored)) return completeItem(stored, out);
    std::string completed;
    appendConverted(kind_, stored, completed);
    completeItem(completed, out);
  }

  void openList(const ListHead& head, std::string& out) {
    const std::string meta = headText(head);
    if (table_) return table_->open(out, shape_.metaVersion, meta, true);
    const bool whole = shape_.form == Form::kWhole;
    appendQuoted(R"({"kind":)", whole ? kind_.listKind : "PartialObjectMetadataList", out);
    appendQuoted(R"(,"apiVersion":)",
                 whole ? kind_.apiVersion() : "meta.k8s.io/" + shape_.metaVersion, out);
    out += fmt::format(R"(,"metadata":{},"items":[)", meta);
  }

  bool writesCommas() const { return table_.has_value(); }

 private:
  // Most custom objects have all their defaults and are copied: they got them when written.
  bool isIncomplete(std::string_view stored) {
    if (!kind_.defaultsOnRead) return false;
    auto object = doc_.parse(stored);
    return object && lacksDefaults(*kind_.schema, *object);
  }

  void completeItem(std::string_view stored, std::string& out) {
    if (shape_.form == Form::kWhole) return appendWhole(kind_, stored, out);
    auto parsed = doc_.parse(stored);
    const json::View object = parsed ? *parsed : json::View();
    if (shape_.form == Form::kMetadata) return appendMetadataOnly(object, shape_.metaVersion, out);
    table_->row(object, shown(object, stored), out);
  }

  // What goes with a row.
  std::string shown(json::View object, std::string_view stored) const {
    std::string out;
    if (shape_.includeObject == "None")
      out = "null";
    else if (shape_.includeObject == "Object")
      appendWhole(kind_, stored, out);
    else
      appendMetadataOnly(object, shape_.metaVersion, out);
    return out;
  }

  const KindInfo& kind_;
  const Shape& shape_;
  std::optional<Table> table_;
  json::Doc doc_;
};

std::string eventLine(std::string_view type, std::string_view object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

std::string versionText(const store::Object& object) {
  return std::to_string(object.revision().v);
}

}  // namespace

std::string encodeOne(const Resource& resource, const store::Object& object, const Shape& shape) {
  const store::Body body = object.json();
  std::string out;
  Encoder(*resource.kind, shape).one(*body, versionText(object), true, out);
  return out;
}

std::string encodeList(const Resource& resource, const ListHead& head,
                       std::span<const store::ObjectPtr> items, const Shape& shape) {
  Encoder encoder(*resource.kind, shape);
  std::string out;
  size_t bytes = 256;
  for (const auto& object : items) bytes += object->bytes() + 1;
  if (shape.form == Form::kWhole) out.reserve(bytes);
  encoder.openList(head, out);
  bool first = true;
  for (const auto& object : items) {
    if (!std::exchange(first, false) && !encoder.writesCommas()) out += ',';
    encoder.item(*object->json(), out);
  }
  out += "]}";
  return out;
}

std::string encodeEvent(std::string_view type, const Resource& resource,
                        const store::Object& object, const Shape& shape, bool columns) {
  const store::Body body = object.json();
  std::string out;
  out.reserve(body->size() + 40);
  out += R"({"type":")";
  out += type;
  out += R"(","object":)";
  Encoder(*resource.kind, shape).one(*body, versionText(object), columns, out);
  return out += "}\n";
}

std::string encodeBookmark(const Resource& resource, std::string_view resourceVersion,
                           bool endOfInitialEvents, const Shape& shape) {
  const KindInfo& kind = *resource.kind;
  std::string object;
  appendQuoted(R"({"kind":)", kind.kind, object);
  appendQuoted(R"(,"apiVersion":)", kind.apiVersion(), object);
  appendQuoted(R"(,"metadata":{"resourceVersion":)", resourceVersion, object);
  object += R"(,"creationTimestamp":null)";
  if (endOfInitialEvents)
    object += fmt::format(R"(,"annotations":{{"{}":"true"}})", kInitialEventsEnd);
  object += "}}";
  if (shape.form == Form::kWhole) return eventLine("BOOKMARK", object);
  std::string shown;
  Encoder(kind, shape).one(object, resourceVersion, false, shown);
  return eventLine("BOOKMARK", shown);
}

std::string encodeErrorEvent(const Answer& status) {
  return eventLine("ERROR", status.body);
}

}  // namespace mangrove::apiserver
