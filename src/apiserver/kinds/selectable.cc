#include "apiserver/kinds/catalogue.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

// Names that clients use and the path they stand for, where it differs.
struct Alias {
  std::string_view kind, name, path;
};
constexpr Alias kAliases[] = {
    {"Namespace", "name", "metadata.name"},
    {"Job", "status.successful", "status.succeeded"},
};

std::string_view pathOf(const KindInfo& kind, std::string_view name) {
  if (kind.isCustom) return name;
  for (const Alias& alias : kAliases)
    if (alias.kind == kind.kind && alias.name == name) return alias.path;
  return name;
}

// What Go prints for a field nobody set.
std::string unsetText(const Schema& schema, const std::vector<std::string_view>& path) {
  const Field* field = schema.find(path);
  Type type = field != nullptr ? field->schema->type : Type::kString;
  if (type == Type::kBoolean) return "false";
  return type == Type::kInteger ? "0" : "";
}

std::string textOf(json::View value) {
  if (auto text = value.string()) return std::string(*text);
  if (auto flag = value.boolean()) return *flag ? "true" : "false";
  if (value.isNumber()) return value.numberText();
  // status.podIPs: [{ip}, …], the way clients select by any address is the first one.
  if (value.isArray() && value.at(0).isObject())
    if (auto ip = value.at(0)["ip"].string()) return std::string(*ip);
  return "";
}

// Who wrote an Event: `source` of the old form, or the reporting controller of the new one.
std::string eventSource(json::View object) {
  for (json::View one :
       {object["source"]["component"], object["reportingComponent"], object["reportingController"]})
    if (auto text = one.string(); text && !text->empty()) return std::string(*text);
  return "";
}

}  // namespace

std::string extractField(const KindInfo& kind, std::string_view name, json::View object) {
  if (!kind.isCustom && kind.kind == "Event" && name == "source") return eventSource(object);
  std::vector<std::string_view> path = split(pathOf(kind, name), '.');
  json::View at = object;
  for (std::string_view step : path) at = at[step];
  if (!at.exists() || at.isNull()) return kind.isCustom ? "" : unsetText(*kind.schema, path);
  return textOf(at);
}

std::vector<std::string> extractFields(const KindInfo& kind, json::View object) {
  std::vector<std::string> out;
  out.reserve(kind.selectable.size());
  for (std::string_view name : kind.selectable) out.push_back(extractField(kind, name, object));
  return out;
}

}  // namespace mangrove::apiserver
