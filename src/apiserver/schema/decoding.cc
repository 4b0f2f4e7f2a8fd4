#include "apiserver/schema/decoding.h"

#include <limits>

#include "apiserver/schema/field_path.h"
#include "apiserver/schema/pruning.h"
#include "base/number/quantity.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "json/print.h"

namespace mangrove::apiserver {
namespace {

using json::Value;

// The text of a value as one would write it, short enough for a sentence.
std::string shown(const Value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = json::write(value);
  return text.size() <= 80 ? text : std::string(value.is_string() ? "a long text" : "a long value");
}

const char* wanted(const Schema& schema) {
  switch (schema.type) {
    case Type::kObject:
      return "an object";
    case Type::kArray:
      return "a list";
    case Type::kString:
      return "text";
    case Type::kInteger:
      return schema.bits == 32 ? "a whole number (int32)" : "a whole number";
    case Type::kNumber:
      return "a number";
    case Type::kBoolean:
      return "true or false";
    case Type::kIntOrString:
      return "a whole number or text";
    case Type::kQuantity:
      return "a quantity such as 500m or 4Gi";
    case Type::kTime:
    case Type::kMicroTime:
      return "a time such as 2006-01-02T15:04:05Z";
    case Type::kDuration:
      return "a duration such as 1h30m";
    case Type::kBytes:
      return "text in base64";
    case Type::kAny:
      break;
  }
  return "a value";
}

bool isZero(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::bool_:
      return !value.get_bool();
    case boost::json::kind::int64:
      return value.get_int64() == 0;
    case boost::json::kind::uint64:
      return value.get_uint64() == 0;
    case boost::json::kind::double_:
      return value.get_double() == 0;
    case boost::json::kind::string:
      return value.get_string().empty();
    case boost::json::kind::array:
      return value.get_array().empty();
    default:
      return false;
  }
}

// Zeros that Go's encoder leaves out; of free values (a default in a schema) nothing is known.
bool meansUnset(const Schema& schema, const Value& value) {
  if (schema.isMap()) return value.is_object() && value.get_object().empty();
  bool isPlain = schema.isScalar() && schema.type != Type::kIntOrString;
  return (isPlain || schema.isArray()) && isZero(value);
}

// What Go's decoder puts where a list or a map holds null.
Value zeroOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kObject:
      return json::Object();
    case Type::kArray:
      return json::Array();
    case Type::kInteger:
    case Type::kNumber:
    case Type::kIntOrString:
      return 0;
    case Type::kBoolean:
      return false;
    case Type::kQuantity:
      return "0";
    case Type::kDuration:
      return "0s";
    case Type::kString:
    case Type::kBytes:
      return "";
    default:
      return nullptr;
  }
}

class Decoder {
 public:
  explicit Decoder(std::vector<std::string>& unknown) : unknown_(unknown) {}

  // False: trouble() says why.
  bool value(const Schema& schema, Value& value, const FieldPath& at);
  const std::string& trouble() const { return trouble_; }

 private:
  bool object(const Schema& schema, Value& value, const FieldPath& at);
  bool member(const Schema& schema, json::Object& object, json::Object::iterator& it,
              const FieldPath& at);
  bool array(const Schema& schema, Value& value, const FieldPath& at);
  bool integer(const Schema& schema, const Value& value, const FieldPath& at);
  bool quantity(const Schema& schema, Value& value, const FieldPath& at);
  void roundToMilli(Value& value);
  bool text(const Schema& schema, Value& value, const FieldPath& at);
  bool refuse(const Schema& schema, const Value& value, const FieldPath& at);

  std::vector<std::string>& unknown_;
  std::string trouble_;
};

bool Decoder::refuse(const Schema& schema, const Value& value, const FieldPath& at) {
  std::string where = at.isRoot() ? "the object" : at.text();
  trouble_ = fmt::format("{} cannot be {}: want {}", where, shown(value), wanted(schema));
  return false;
}

bool Decoder::value(const Schema& schema, Value& value, const FieldPath& at) {
  switch (schema.type) {
    case Type::kAny:
      return true;
    case Type::kObject:
      return object(schema, value, at);
    case Type::kArray:
      return array(schema, value, at);
    case Type::kString:
      return value.is_string() || refuse(schema, value, at);
    case Type::kInteger:
      return integer(schema, value, at);
    case Type::kNumber:
      return value.is_number() || refuse(schema, value, at);
    case Type::kBoolean:
      return value.is_bool() || refuse(schema, value, at);
    case Type::kIntOrString:
      return value.is_string() || integer(schema, value, at);
    case Type::kQuantity:
      return quantity(schema, value, at);
    default:
      return text(schema, value, at);
  }
}

bool Decoder::object(const Schema& schema, Value& value, const FieldPath& at) {
  if (schema.orBoolean && value.is_bool()) return true;
  if (!value.is_object()) return refuse(schema, value, at);
  json::Object& object = value.get_object();
  for (auto it = object.begin(); it != object.end();)
    if (!member(schema, object, it, at)) return false;
  return true;
}

// Moves the iterator on, past the member or past the gap where it was.
bool Decoder::member(const Schema& schema, json::Object& object, json::Object::iterator& it,
                     const FieldPath& at) {
  const Field* field = schema.field(it->key());
  const Schema* inside = field != nullptr ? field->schema : schema.values;
  FieldPath here = at.child(it->key());
  if (inside == nullptr) {
    if (schema.preserveUnknown) return ++it, true;
    unknown_.push_back(here.text());
    it = object.stable_erase(it);
    return true;
  }
  if (it->value().is_null() && field == nullptr) it->value() = zeroOf(*inside);
  if (it->value().is_null()) {
    it = object.stable_erase(it);
    return true;
  }
  if (!value(*inside, it->value(), here)) return false;
  if (field == nullptr && inside->type == Type::kQuantity) roundToMilli(it->value());
  bool isUnset = field != nullptr && !field->keepsZero && meansUnset(*inside, it->value());
  it = isUnset ? object.stable_erase(it) : std::next(it);
  return true;
}

bool Decoder::array(const Schema& schema, Value& value, const FieldPath& at) {
  if (!value.is_array()) return refuse(schema, value, at);
  size_t index = 0;
  for (Value& element : value.get_array()) {
    if (element.is_null()) element = zeroOf(*schema.items);
    if (!this->value(*schema.items, element, at.at(index++))) return false;
  }
  return true;
}

bool Decoder::integer(const Schema& schema, const Value& value, const FieldPath& at) {
  if (!value.is_int64()) return refuse(schema, value, at);
  bool narrow = schema.bits == 32 || schema.type == Type::kIntOrString;
  int64_t number = value.get_int64();
  if (narrow && number != static_cast<int32_t>(number)) return refuse(schema, value, at);
  return true;
}

bool Decoder::quantity(const Schema& schema, Value& value, const FieldPath& at) {
  if (!value.is_string() && !value.is_number()) return refuse(schema, value, at);
  std::string source = value.is_string() ? std::string(value.get_string()) : json::write(value);
  auto amount = Quantity::parseJson(source);
  if (!amount) return refuse(schema, value, at);
  std::string canonical = amount->text();
  if (!value.is_string() || source != canonical) value = canonical;
  return true;
}

// Amounts of resources are kept in thousandths at the finest, rounded up.
void Decoder::roundToMilli(Value& value) {
  auto amount = Quantity::parse(value.get_string());
  if (!amount || amount->isExact(-3)) return;
  value = Quantity::ofMilli(amount->milliValue(), amount->format()).text();
}

Result<std::string> canonicalText(Type type, std::string_view text) {
  switch (type) {
    case Type::kTime:
      return parseTime(text).map(formatTime);
    case Type::kMicroTime:
      return parseTime(text).map(formatMicroTime);
    case Type::kDuration:
      return parseDuration(text).map(formatDuration);
    default:
      return base64Decode(text).map([](const std::string& b) { return base64Encode(b); });
  }
}

bool Decoder::text(const Schema& schema, Value& value, const FieldPath& at) {
  if (!value.is_string()) return refuse(schema, value, at);
  auto canonical = canonicalText(schema.type, value.get_string());
  if (!canonical) return refuse(schema, value, at);
  if (*canonical != std::string_view(value.get_string())) value = *canonical;
  return true;
}

const Schema& objectMeta() {
  static const Schema* meta = catalogue().type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  return *meta;
}

// The parts of a custom object that are the server's, and pruning of the rest.
Result<Decoded> decodeCustom(const KindInfo& kind, Value& object) {
  if (!object.is_object()) return invalid("want an object, got {}", shown(object));
  Decoded out;
  if (Value* meta = object.get_object().if_contains("metadata"); meta != nullptr) {
    if (meta->is_null()) *meta = json::Object();
    Decoder decoder(out.unknown);
    if (!decoder.value(objectMeta(), *meta, FieldPath("metadata")))
      return invalid("{}", decoder.trouble());
  }
  for (std::string& path : prune(*kind.schema, object)) out.unknown.push_back(std::move(path));
  return out;
}

void dropNamespace(json::Object& object) {
  Value* meta = object.if_contains("metadata");
  if (meta != nullptr && meta->is_object()) meta->get_object().stable_erase("namespace");
}

}  // namespace

Result<Decoded> decode(const Schema& schema, Value& value, std::string_view what) {
  Decoded out;
  Decoder decoder(out.unknown);
  if (!decoder.value(schema, value, FieldPath())) return invalid("{}: {}", what, decoder.trouble());
  return out;
}

Result<Decoded> decode(const KindInfo& kind, Value& object) {
  std::string what = fmt::format("{} in version \"{}\" cannot be handled as a {}", kind.kind,
                                 kind.version, kind.kind);
  auto decoded = kind.isCustom ? decodeCustom(kind, object) : decode(*kind.schema, object, what);
  if (!decoded && kind.isCustom) return decoded.error().in("{}", what);
  // A namespace makes no sense here; Kubernetes drops it without a word.
  if (decoded && !kind.namespaced) dropNamespace(object.get_object());
  return decoded;
}

std::string strictDecodingText(const std::vector<std::string>& unknown,
                               const std::vector<std::string>& duplicate) {
  std::vector<std::string> parts;
  for (const std::string& path : unknown) parts.push_back("unknown field \"" + path + "\"");
  for (const std::string& path : duplicate) parts.push_back("duplicate field \"" + path + "\"");
  return "strict decoding error: " + join(parts, ", ");
}

}  // namespace mangrove::apiserver
