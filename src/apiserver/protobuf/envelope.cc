#include "apiserver/protobuf/envelope.h"

#include <map>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/protobuf/decode.h"
#include "apiserver/protobuf/encode.h"
#include "apiserver/protobuf/scalars.h"
#include "base/text/wire.h"

namespace mangrove::apiserver::protobuf {

namespace {

using namespace std::string_view_literals;
constexpr std::string_view kMagic = "k8s\0"sv;
constexpr std::string_view kMetaTypes = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kList = "List";

// runtime.Unknown and the TypeMeta in it.
constexpr uint32_t kTypeMeta = 1, kRaw = 2, kContentEncoding = 3;
constexpr uint32_t kApiVersion = 1, kKind = 2;
// WatchEvent and the RawExtension in it.
constexpr uint32_t kEventType = 1, kEventObject = 2, kExtensionRaw = 1;

using Prefixes = std::map<std::string, std::string, std::less<>>;

// "apps/v1" → "io.k8s.api.apps.v1."
const Prefixes& prefixes() {
  static const Prefixes all = [] {
    Prefixes found;
    for (const auto& kind : catalogue().kinds()) {
      const std::string_view name = kind->schema->name;
      found[kind->apiVersion()] = name.substr(0, name.rfind('.') + 1);
    }
    found["meta.k8s.io/v1"] = found["meta.k8s.io/v1beta1"] = kMetaTypes;
    return found;
  }();
  return all;
}

const Message* typeNamed(std::string_view prefix, std::string_view kind) {
  const Schema* schema = catalogue().type(std::string(prefix) + std::string(kind));
  return schema != nullptr ? messageOf(*schema) : nullptr;
}

// Every group has these two; their messages are the same.
bool isEverywhere(std::string_view kind) {
  return kind == "DeleteOptions" || kind == "Status";
}

const Message* messageNamed(TypeName type) {
  if (isEverywhere(type.kind)) return typeNamed(kMetaTypes, type.kind);
  auto prefix = prefixes().find(type.apiVersion);
  return prefix != prefixes().end() ? typeNamed(prefix->second, type.kind) : nullptr;
}

const Message& listMetadata() {
  static const Message* meta = typeNamed(kMetaTypes, "ListMeta");
  return *meta;
}

struct Envelope {
  std::string_view apiVersion, kind, raw, encoding;
};

Result<> readTypeMeta(std::string_view bytes, Envelope& out) {
  for (WireReader in(bytes); !in.done();) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    const bool known = tag->number <= kKind && tag->type == WireType::kBytes;
    if (!known) {
      if (auto done = in.skip(*tag); !done) return done;
      continue;
    }
    auto text = in.bytes();
    if (!text) return pass(text.error());
    (tag->number == kApiVersion ? out.apiVersion : out.kind) = *text;
  }
  return {};
}

Result<Envelope> open(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return invalid("the body is not Kubernetes' protobuf: want the bytes 'k8s' and 0 in front");
  Envelope out;
  for (WireReader in(bytes.substr(kMagic.size())); !in.done();) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    const bool known = tag->number <= kContentEncoding && tag->type == WireType::kBytes;
    if (!known) {
      if (auto done = in.skip(*tag); !done) return pass(done.error());
      continue;
    }
    auto part = in.bytes();
    if (!part) return pass(part.error());
    if (tag->number == kRaw) out.raw = *part;
    if (tag->number == kContentEncoding) out.encoding = *part;
    if (tag->number != kTypeMeta) continue;
    if (auto done = readTypeMeta(*part, out); !done) return pass(done.error());
  }
  return out;
}

void appendList(const Message& item, json::View list, std::string& out) {
  if (const json::View meta = list["metadata"]; meta.isObject())
    appendNested(kListMetadata, out,
                 [&](std::string& inner) { encodeMessage(listMetadata(), meta, inner); });
  for (json::View element : list["items"].elements())
    appendNested(kListItems, out, [&](std::string& inner) { encodeMessage(item, element, inner); });
}

// The content of the envelope; false when there is no such message.
bool appendObject(TypeName type, json::View object, std::string& out) {
  if (const Message* message = messageNamed(type)) {
    encodeMessage(*message, object, out);
    return true;
  }
  if (!type.kind.ends_with(kList)) return false;
  type.kind.remove_suffix(kList.size());
  const Message* item = messageNamed(type);
  if (item != nullptr) appendList(*item, object, out);
  return item != nullptr;
}

Result<json::Object> decodeList(const Message& item, std::string_view bytes) {
  json::Object metadata;
  json::Array items;
  for (WireReader in(bytes); !in.done();) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    if (tag->number > kListItems || tag->type != WireType::kBytes) {
      if (auto done = in.skip(*tag); !done) return pass(done.error());
      continue;
    }
    auto part = in.bytes();
    if (!part) return pass(part.error());
    const bool isItem = tag->number == kListItems;
    auto object = decodeMessage(isItem ? item : listMetadata(), *part);
    if (!object) return object.error().in("{}", isItem ? "items" : "metadata");
    if (isItem)
      items.emplace_back(std::move(*object));
    else
      metadata = std::move(*object);
  }
  return json::Object{{"metadata", std::move(metadata)}, {"items", std::move(items)}};
}

Result<json::Object> decodeNamed(TypeName type, std::string_view bytes) {
  if (const Message* message = messageNamed(type)) return decodeMessage(*message, bytes);
  const TypeName item{type.apiVersion, type.kind.substr(0, type.kind.rfind(kList))};
  const Message* message = type.kind.ends_with(kList) ? messageNamed(item) : nullptr;
  if (message != nullptr) return decodeList(*message, bytes);
  return invalid("no such kind is known here in protobuf");
}

Result<json::Value> decoded(const Envelope& envelope, TypeName type) {
  auto object = decodeNamed(type, envelope.raw);
  if (!object)
    return object.error().in("{} in version \"{}\" cannot be read from protobuf", type.kind,
                             type.apiVersion);
  json::Object whole{{"apiVersion", type.apiVersion}, {"kind", type.kind}};
  whole.reserve(object->size() + 2);
  for (auto& member : *object) whole.emplace(member.key(), std::move(member.value()));
  return json::Value(std::move(whole));
}

}  // namespace

Result<json::Value> fromProtobuf(std::string_view bytes, TypeName assumed) {
  auto envelope = open(bytes);
  if (!envelope) return pass(envelope.error());
  if (!envelope->encoding.empty())
    return invalid("the content has the encoding '{}': want none", envelope->encoding);
  TypeName type{envelope->apiVersion, envelope->kind};
  if (type.kind.empty()) type.kind = assumed.kind;
  if (type.apiVersion.empty()) type.apiVersion = assumed.apiVersion;
  if (type.kind.empty() || type.apiVersion.empty())
    return invalid("Object 'Kind' or 'apiVersion' is missing in the protobuf envelope");
  for (std::string_view name : {type.kind, type.apiVersion})
    if (auto text = textValue(name); !text) return pass(text.error());
  return decoded(*envelope, type);
}

std::optional<std::string> toProtobuf(json::View object) {
  const TypeName type{object["apiVersion"].string().value_or(""),
                      object["kind"].string().value_or("")};
  std::string raw;
  if (!appendObject(type, object, raw)) return std::nullopt;
  std::string out(kMagic);
  out.reserve(raw.size() + 64);
  appendNested(kTypeMeta, out, [&](std::string& inner) {
    appendBytes(kApiVersion, type.apiVersion, inner);
    appendBytes(kKind, type.kind, inner);
  });
  appendBytes(kRaw, raw, out);
  return out;
}

std::optional<std::string> watchFrame(json::View event) {
  auto object = toProtobuf(event["object"]);
  if (!object) return std::nullopt;
  std::string body;
  appendBytes(kEventType, event["type"].string().value_or(""), body);
  appendNested(kEventObject, body,
               [&](std::string& inner) { appendBytes(kExtensionRaw, *object, inner); });
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(body.size() >> shift);
  return frame + body;
}

}  // namespace mangrove::apiserver::protobuf
