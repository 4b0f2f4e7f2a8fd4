#include "apiserver/protobuf/encode.h"

#include <bit>

#include "apiserver/protobuf/scalars.h"
#include "base/text/encoding.h"
#include "base/text/wire.h"

namespace mangrove::apiserver::protobuf {

namespace {

using json::View;

// One value that JSON may write in two ways, in the message that tells them apart.
void encodeChoice(const Slot& slot, View value, std::string& out) {
  const ProtoChoice choice = slot.field->proto.choice;
  const bool isFlag = choice == ProtoChoice::kOrBool;
  // A schema stands for "allowed, but only like this".
  if (isFlag) appendNumber(1, value.boolean().value_or(true) ? 1 : 0, out);
  auto whole = [&](uint32_t number, View object) {
    appendNested(number, out,
                 [&](std::string& inner) { encodeMessage(*slot.inside, object, inner); });
  };
  if (value.isObject()) whole(isFlag ? 2 : 1, value);
  for (View element : value.elements()) {
    if (choice == ProtoChoice::kOrArray)
      whole(2, element);
    else if (auto text = element.string())
      appendBytes(2, *text, out);
  }
}

void encodeNested(const Slot& slot, const Schema& schema, View value, std::string& out) {
  if (slot.field->proto.choice != ProtoChoice::kNone) return encodeChoice(slot, value, out);
  if (isSmallMessage(schema)) return encodeSmall(schema, value, out);
  if (!schema.isArray()) return encodeMessage(*slot.inside, value, out);
  for (View element : value.elements())
    if (auto text = element.string()) appendBytes(1, *text, out);
}

void encodeText(const Schema& schema, uint32_t number, std::string_view text, std::string& out) {
  if (schema.type == Type::kString) return appendBytes(number, text, out);
  if (auto bytes = base64Decode(text)) appendBytes(number, *bytes, out);
}

void encodeSingle(const Slot& slot, uint32_t number, const Schema& schema, View value,
                  std::string& out) {
  switch (schema.type) {
    case Type::kInteger:
      if (auto whole = value.integer()) appendNumber(number, static_cast<uint64_t>(*whole), out);
      return;
    case Type::kBoolean:
      if (auto flag = value.boolean()) appendNumber(number, *flag ? 1 : 0, out);
      return;
    case Type::kNumber:
      if (auto real = value.number()) appendFixed64(number, std::bit_cast<uint64_t>(*real), out);
      return;
    case Type::kString:
    case Type::kBytes:
      if (auto text = value.string()) encodeText(schema, number, *text, out);
      return;
    default:
      appendNested(number, out,
                   [&](std::string& inner) { encodeNested(slot, schema, value, inner); });
  }
}

void encodeMap(const Slot& slot, View value, std::string& out) {
  for (auto [key, element] : value.members()) {
    appendNested(slot.number, out, [&, key = key, element = element](std::string& inner) {
      appendBytes(1, key, inner);
      encodeSingle(slot, 2, *slot.field->schema->values, element, inner);
    });
  }
}

void encodeField(const Slot& slot, View value, std::string& out) {
  const Schema& schema = *slot.field->schema;
  if (value.isNull()) return;
  if (schema.isMap()) return encodeMap(slot, value, out);
  if (!schema.isArray()) return encodeSingle(slot, slot.number, schema, value, out);
  for (View element : value.elements())
    encodeSingle(slot, slot.number, *schema.items, element, out);
}

}  // namespace

void encodeMessage(const Message& message, View object, std::string& out) {
  for (auto [key, value] : object.members())
    if (const Slot* slot = message.byName(key)) encodeField(*slot, value, out);
  for (const Slot& slot : message.slots) {
    if (!slot.hidden) continue;
    std::string inner;
    encodeMessage(*slot.hidden, object, inner);
    if (!inner.empty()) appendBytes(slot.number, inner, out);
  }
}

}  // namespace mangrove::apiserver::protobuf
