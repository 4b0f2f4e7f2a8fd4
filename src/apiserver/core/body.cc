#include "apiserver/core/body.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/schema/decoding.h"
#include "apiserver/schema/pruning.h"
#include "base/text/strings.h"
#include "json/view.h"
#include "json/yaml.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kReadable =
    "application/json, application/yaml or, for built-in kinds, "
    "application/vnd.kubernetes.protobuf";
constexpr size_t kLongestManager = 128;  // Kubernetes' own limit on field managers

// Every object in a list is given defaults and judged. A million empty ones fit into three
// megabytes, and would take gigabytes and half a minute of everybody's time. Kubernetes' own limit
// on objects (1.5 MB) leaves room for about as many as this.
constexpr size_t kMostElements = 50'000;

size_t elementsIn(const json::Value& value) {
  size_t count = 0;
  if (const json::Object* object = value.if_object()) {
    for (const auto& member : *object) count += elementsIn(member.value());
  } else if (const json::Array* array = value.if_array()) {
    for (const json::Value& element : *array)
      count += elementsIn(element) + (element.is_object() ? 1 : 0);
  }
  return count;
}

Outcome<> checkElements(const KindInfo& kind, const json::Value& object) {
  const size_t count = kind.isCustom ? 0 : elementsIn(object);
  if (count <= kMostElements) return {};
  return refuse(answer::tooLarge(fmt::format(
      "the object has {} objects in its lists: want at most {}", count, kMostElements)));
}

bool isProtobuf(std::string_view type) {
  return type == protobuf::kMediaType;
}

bool isYaml(std::string_view type) {
  return type == "application/yaml" || type == "application/x-yaml";
}

bool isJson(std::string_view type) {
  return type.empty() || type == "application/json";
}

Outcome<> checkType(const Resource& resource, json::Object& object) {
  const KindInfo& kind = *resource.kind;
  const std::string wanted = kind.apiVersion();
  const std::string_view apiVersion = textAt(object, "apiVersion");
  const std::string_view name = textAt(object, "kind");
  if ((!apiVersion.empty() && apiVersion != wanted) || (!name.empty() && name != kind.kind)) {
    return refuse(
        answer::badRequest(fmt::format("the object is {}, Kind={}, but the path is for {}, Kind={}",
                                       apiVersion.empty() ? "(no apiVersion)" : apiVersion,
                                       name.empty() ? "(none)" : name, wanted, kind.kind)));
  }
  object["apiVersion"] = wanted;
  object["kind"] = kind.kind;
  return {};
}

// As the typed merging of an apply says it.
std::string undeclared(const RequestInfo& info, const KindInfo& kind,
                       const std::vector<std::string>& unknown) {
  std::vector<std::string> parts;
  for (const auto& path : unknown)
    parts.push_back(fmt::format(".{}: field not declared in schema", path));
  return fmt::format("failed to create typed patch object ({}/{}; {}, Kind={}): {}", info.ns,
                     info.name, kind.apiVersion(), kind.kind, join(parts, ", "));
}

Outcome<> report(const RequestInfo& info, const KindInfo& kind,
                 const std::vector<std::string>& unknown,
                 const std::vector<std::string>& duplicates, std::vector<std::string>& warnings,
                 bool applies) {
  const std::string_view mode = info.parameter("fieldValidation");
  if (mode == "Ignore" || (unknown.empty() && duplicates.empty())) return {};
  if (mode == "Strict" && applies && duplicates.empty())
    return refuse(answer::badRequest(undeclared(info, kind, unknown)));
  if (mode == "Strict") {
    return refuse(answer::badRequest(
        fmt::format("{0} in version \"{1}\" cannot be handled as a {0}: {2}", kind.kind,
                    kind.version, strictDecodingText(unknown, duplicates))));
  }
  for (const auto& path : unknown) warnings.push_back(fmt::format("unknown field \"{}\"", path));
  for (const auto& path : duplicates)
    warnings.push_back(fmt::format("duplicate field \"{}\"", path));
  return {};
}

// The parameters of a request are an object, too, when one of them is wrong.
std::string_view optionsOf(const RequestInfo& info) {
  switch (info.verb) {
    case Verb::kCreate:
      return "CreateOptions";
    case Verb::kUpdate:
      return "UpdateOptions";
    case Verb::kPatch:
      return "PatchOptions";
    default:
      return "DeleteOptions";
  }
}

Outcome<> checkFieldValidation(const RequestInfo& info) {
  const std::string_view mode = info.parameter("fieldValidation");
  if (mode.empty() || mode == "Ignore" || mode == "Warn" || mode == "Strict") return {};
  FieldErrors errors;
  errors.notSupported(FieldPath("fieldValidation"), json::Value(mode),
                      {"", "Ignore", "Strict", "Warn"});
  return refuse(answer::invalid("meta.k8s.io", optionsOf(info), "", errors));
}

struct ReadText {
  json::Value value;
  std::vector<std::string> duplicates;
};

constexpr size_t kKeptText = 64 * 1024;  // buffers that a rare large body made grow are given back

// Only the text still knows that a member was written twice.
Outcome<ReadText> readJson(const Call& call, const json::Storage& storage) {
  thread_local json::Doc doc;
  auto view = doc.parse(call.body);
  if (!view) return refuse(answer::badRequest(view.error().text()));
  const bool ignores = call.info.parameter("fieldValidation") == "Ignore";
  ReadText read{json::toValue(*view, storage),
                ignores ? std::vector<std::string>() : duplicateFields(*view)};
  doc.shrink(kKeptText);
  return read;
}

}  // namespace

Outcome<json::Value> readBody(const Call& call, protobuf::TypeName assumed) {
  if (call.body.empty()) return refuse(answer::badRequest("the request has no body"));
  const bool yaml = isYaml(call.contentType), proto = isProtobuf(call.contentType);
  if (!yaml && !proto && !isJson(call.contentType))
    return refuse(answer::unsupportedMediaType(call.contentType, kReadable));
  auto value = proto  ? protobuf::fromProtobuf(call.body, assumed)
               : yaml ? json::parseYamlDocument(call.body)
                      : json::parse(call.body);
  if (!value) return refuse(answer::badRequest(value.error().text()));
  return std::move(*value);
}

Outcome<> normalise(const RequestInfo& info, const Resource& resource, json::Value& object,
                    std::vector<std::string>& warnings, const std::vector<std::string>& duplicates,
                    bool applies) {
  if (!object.is_object()) return refuse(answer::badRequest("the object is not a JSON object"));
  if (auto ok = checkFieldValidation(info); !ok) return ok;
  if (auto ok = checkType(resource, object.get_object()); !ok) return ok;
  if (auto ok = checkElements(*resource.kind, object); !ok) return ok;
  auto decoded = decode(*resource.kind, object);
  if (!decoded) return refuse(answer::badRequest(decoded.error().text()));
  return report(info, *resource.kind, decoded->unknown, duplicates, warnings, applies);
}

namespace {

Outcome<ReadText> readText(const Call& call, const KindInfo& kind, const json::Storage& storage) {
  if (!call.body.empty() && isJson(call.contentType)) return readJson(call, storage);
  if (kind.isCustom && isProtobuf(call.contentType))
    return refuse(answer::unsupportedMediaType(call.contentType, kReadable));
  const std::string apiVersion = kind.apiVersion();
  auto value = readBody(call, {apiVersion, kind.kind});
  if (!value) return tl::unexpected(value.error());
  return ReadText{std::move(*value), {}};
}

}  // namespace

Outcome<json::Value> readObject(const Call& call, const Resource& resource,
                                std::vector<std::string>& warnings, json::Storage storage) {
  auto read = readText(call, *resource.kind, storage);
  if (!read) return tl::unexpected(read.error());
  auto ok = normalise(call.info, resource, read->value, warnings, read->duplicates);
  if (!ok) return tl::unexpected(ok.error());
  return std::move(read->value);
}

Outcome<bool> dryRunParameter(const RequestInfo& info) {
  if (!info.has("dryRun")) return false;
  const std::string_view value = info.parameter("dryRun");
  if (value == "All") return true;
  if (value.empty()) return false;
  FieldErrors errors;
  errors.notSupported(FieldPath("dryRun"), json::Value(json::Array{json::Value(value)}), {"All"});
  return refuse(answer::invalid("meta.k8s.io", optionsOf(info), "", errors));
}

std::string managerOf(const Call& call) {
  const std::string_view asked = call.info.parameter("fieldManager");
  if (!asked.empty()) return std::string(asked.substr(0, kLongestManager));
  const std::string_view agent = cut(call.userAgent, '/').before;
  return agent.empty() ? "unknown" : std::string(agent.substr(0, kLongestManager));
}

}  // namespace mangrove::apiserver
