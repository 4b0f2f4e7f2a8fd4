#include "apiserver/protobuf/decode.h"

#include <bit>
#include <cmath>

#include "apiserver/protobuf/scalars.h"
#include "base/text/encoding.h"
#include "base/text/wire.h"

namespace mangrove::apiserver::protobuf {

namespace {

using json::Value;

WireType wireTypeOf(const Schema& schema) {
  switch (schema.type) {
    case Type::kInteger:
    case Type::kBoolean:
      return WireType::kVarint;
    case Type::kNumber:
      return WireType::kFixed64;
    default:
      return WireType::kBytes;
  }
}

Result<> wrongType(Tag tag, WireType want) {
  return invalid("wire type {} where {} is expected", static_cast<int>(tag.type),
                 static_cast<int>(want));
}

bool isZero(const Value& value) {
  if (value.is_string()) return value.get_string().empty();
  if (value.is_int64()) return value.get_int64() == 0;
  if (value.is_double()) return value.get_double() == 0;
  return value.is_bool() && !value.get_bool();
}

Result<Value> readNumber(const Schema& schema, WireReader& in) {
  if (schema.type == Type::kNumber) {
    auto bits = in.fixed64();
    if (!bits) return pass(bits.error());
    const auto number = std::bit_cast<double>(*bits);
    if (!std::isfinite(number)) return invalid("a number that is not finite");
    return Value(number);
  }
  auto word = in.varint();
  if (!word) return pass(word.error());
  if (schema.type == Type::kBoolean) return Value(*word != 0);
  if (schema.bits == 32) return Value(static_cast<int32_t>(*word));
  return Value(static_cast<int64_t>(*word));
}

class Decoder {
 public:
  Result<> message(const Message& message, std::string_view bytes, json::Object& out);

 private:
  Result<> field(const Slot& slot, Tag tag, WireReader& in, json::Object& out);
  Result<> list(const Slot& slot, Tag tag, WireReader& in, json::Array& out);
  Result<> entry(const Slot& slot, std::string_view bytes, json::Object& out);
  Result<> single(const Slot& slot, const Schema& schema, Tag tag, WireReader& in, Value& out);
  Result<> byBytes(const Slot& slot, const Schema& schema, std::string_view bytes, Value& out);
  Result<> choice(const Slot& slot, std::string_view bytes, Value& out);
  Result<> choicePart(const Slot& slot, Tag tag, WireReader& in, Value& out);
  Result<> textsOf(std::string_view bytes, Value& out);

  int depth_ = 0;
};

json::Object& objectIn(Value& value) {
  return value.is_object() ? value.get_object() : value.emplace_object();
}
json::Array& arrayIn(Value& value) {
  return value.is_array() ? value.get_array() : value.emplace_array();
}

// A message that comes twice is one message in two parts: `out` may hold the first.
Result<> Decoder::message(const Message& message, std::string_view bytes, json::Object& out) {
  if (depth_ >= kDeepest) return invalid("more than {} messages inside each other", kDeepest);
  ++depth_;
  WireReader in(bytes);
  while (!in.done()) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    const Slot* slot = message.byNumber(tag->number);
    auto done = slot != nullptr ? field(*slot, *tag, in, out) : in.skip(*tag);
    if (!done && slot != nullptr && slot->field != nullptr)
      return done.error().in("{}", slot->field->name);
    if (!done) return done;
  }
  --depth_;
  return {};
}

Result<> Decoder::field(const Slot& slot, Tag tag, WireReader& in, json::Object& out) {
  if (slot.field == nullptr) {
    if (tag.type != WireType::kBytes) return wrongType(tag, WireType::kBytes);
    auto bytes = in.bytes();
    if (!bytes) return pass(bytes.error());
    return message(*slot.hidden, *bytes, out);
  }
  const Field& known = *slot.field;
  if (known.schema->isArray()) {
    json::Array& elements = arrayIn(out[known.name]);
    auto done = list(slot, tag, in, elements);
    if (done && elements.empty()) out.stable_erase(out.find(known.name));
    return done;
  }
  if (known.schema->isMap()) {
    if (tag.type != WireType::kBytes) return wrongType(tag, WireType::kBytes);
    auto bytes = in.bytes();
    if (!bytes) return pass(bytes.error());
    return entry(slot, *bytes, objectIn(out[known.name]));
  }
  Value& value = out[known.name];
  if (auto done = single(slot, *known.schema, tag, in, value); !done) return done;
  const bool plain = known.schema->isScalar() && known.schema->type != Type::kIntOrString;
  const bool unset = value.is_null() || (plain && !known.keepsZero && isZero(value));
  if (unset) out.stable_erase(out.find(known.name));
  return {};
}

// Numbers may come one by one or many in one piece.
Result<> Decoder::list(const Slot& slot, Tag tag, WireReader& in, json::Array& out) {
  const Schema& items = *slot.field->schema->items;
  const bool packed = tag.type == WireType::kBytes && wireTypeOf(items) != WireType::kBytes;
  if (!packed) return single(slot, items, tag, in, out.emplace_back(nullptr));
  auto bytes = in.bytes();
  if (!bytes) return pass(bytes.error());
  for (WireReader numbers(*bytes); !numbers.done();) {
    auto number = readNumber(items, numbers);
    if (!number) return pass(number.error());
    out.push_back(std::move(*number));
  }
  return {};
}

// {1: key, 2: value}; a missing one is empty.
Result<> Decoder::entry(const Slot& slot, std::string_view bytes, json::Object& out) {
  const Schema& values = *slot.field->schema->values;
  Value key(""), value;
  bool hasValue = false;
  for (WireReader in(bytes); !in.done();) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    Result<> done;
    if (tag->number == 1 && tag->type == WireType::kBytes) {
      auto text = in.bytes();
      if (!text) return pass(text.error());
      auto checked = textValue(*text);
      if (!checked) return pass(checked.error());
      key = std::move(*checked);
    } else if (tag->number == 2) {
      hasValue = true;
      done = single(slot, values, *tag, in, value);
    } else {
      done = in.skip(*tag);
    }
    if (!done) return done;
  }
  if (!hasValue && wireTypeOf(values) == WireType::kBytes)
    if (auto done = byBytes(slot, values, "", value); !done) return done;
  out[key.get_string()] = std::move(value);
  return {};
}

Result<> Decoder::single(const Slot& slot, const Schema& schema, Tag tag, WireReader& in,
                         Value& out) {
  const WireType want = wireTypeOf(schema);
  if (tag.type != want) return wrongType(tag, want);
  if (want == WireType::kBytes) {
    auto bytes = in.bytes();
    if (!bytes) return pass(bytes.error());
    return byBytes(slot, schema, *bytes, out);
  }
  auto number = readNumber(schema, in);
  if (!number) return pass(number.error());
  out = std::move(*number);
  return {};
}

Result<> Decoder::byBytes(const Slot& slot, const Schema& schema, std::string_view bytes,
                          Value& out) {
  if (slot.field->proto.choice != ProtoChoice::kNone) return choice(slot, bytes, out);
  if (schema.isArray()) return textsOf(bytes, out);
  if (schema.type == Type::kBytes) {
    out = base64Encode(bytes);
    return {};
  }
  const bool small = isSmallMessage(schema);
  if (!small && schema.isObject()) return message(*slot.inside, bytes, objectIn(out));
  auto value = small ? decodeSmall(schema, bytes) : textValue(bytes);
  if (!value) return pass(value.error());
  out = std::move(*value);
  return {};
}

// A list as the value of a map is a message of its own: {1: texts}.
Result<> Decoder::textsOf(std::string_view bytes, Value& out) {
  json::Array& texts = arrayIn(out);
  for (WireReader in(bytes); !in.done();) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    if (tag->number != 1 || tag->type != WireType::kBytes) {
      if (auto done = in.skip(*tag); !done) return done;
      continue;
    }
    auto text = in.bytes();
    if (!text) return pass(text.error());
    auto checked = textValue(*text);
    if (!checked) return pass(checked.error());
    texts.push_back(std::move(*checked));
  }
  return {};
}

Result<> Decoder::choice(const Slot& slot, std::string_view bytes, Value& out) {
  // Without a word it is what Go's zero value writes.
  if (slot.field->proto.choice == ProtoChoice::kOrBool) out = false;
  for (WireReader in(bytes); !in.done();) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    auto done = tag->number <= 2 ? choicePart(slot, *tag, in, out) : in.skip(*tag);
    if (!done) return done;
  }
  return {};
}

Result<> Decoder::choicePart(const Slot& slot, Tag tag, WireReader& in, Value& out) {
  const ProtoChoice kind = slot.field->proto.choice;
  const bool isFlag = kind == ProtoChoice::kOrBool && tag.number == 1;
  const WireType want = isFlag ? WireType::kVarint : WireType::kBytes;
  if (tag.type != want) return wrongType(tag, want);
  if (isFlag) {
    auto word = in.varint();
    if (!word) return pass(word.error());
    if (!out.is_object()) out = *word != 0;
    return {};
  }
  auto bytes = in.bytes();
  if (!bytes) return pass(bytes.error());
  const bool isWhole = (kind == ProtoChoice::kOrBool) == (tag.number == 2);
  if (isWhole) return message(*slot.inside, *bytes, objectIn(out));
  if (kind == ProtoChoice::kOrArray)
    return message(*slot.inside, *bytes, arrayIn(out).emplace_back(json::Object()).get_object());
  auto text = textValue(*bytes);
  if (!text) return pass(text.error());
  arrayIn(out).push_back(std::move(*text));
  return {};
}

}  // namespace

Result<json::Object> decodeMessage(const Message& message, std::string_view bytes) {
  json::Object object;
  Decoder decoder;
  if (auto done = decoder.message(message, bytes, object); !done) return pass(done.error());
  return object;
}

}  // namespace mangrove::apiserver::protobuf
