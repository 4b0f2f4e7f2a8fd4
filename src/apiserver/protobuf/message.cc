#include "apiserver/protobuf/message.h"

#include <algorithm>
#include <unordered_map>

#include "apiserver/kinds/catalogue.h"

namespace mangrove::apiserver::protobuf {

namespace {

using Messages = std::unordered_map<const Schema*, Message>;

Slot& slotAt(Message& message, uint16_t number) {
  for (Slot& slot : message.slots)
    if (slot.number == number) return slot;
  return message.slots.emplace_back(Slot{.number = number, .field = nullptr, .hidden = nullptr});
}

void place(Message& message, const Field& field, std::span<const uint16_t> numbers) {
  Slot& slot = slotAt(message, numbers[0]);
  if (numbers.size() == 1 || numbers[1] == 0) {
    slot.field = &field;
    return;
  }
  if (!slot.hidden) slot.hidden = std::make_shared<Message>();
  place(*slot.hidden, field, numbers.subspan(1));
}

// What stands at the bottom of lists and maps.
const Schema& bottomOf(const Schema& schema) {
  const Schema* node = &schema.element();
  while (node->isMap()) node = &node->values->element();
  return *node;
}

const Message* insideOf(const Messages& all, const Schema& around, const Field& field) {
  const bool asAround = field.proto.choice == ProtoChoice::kOrStrings;
  auto found = all.find(asAround ? &around : &bottomOf(*field.schema));
  return found == all.end() ? nullptr : &found->second;
}

void finish(const Messages& all, const Schema& around, Message& message) {
  std::sort(message.slots.begin(), message.slots.end(),
            [](const Slot& a, const Slot& b) { return a.number < b.number; });
  for (Slot& slot : message.slots) {
    if (slot.hidden) finish(all, around, *slot.hidden);
    if (slot.field == nullptr) continue;
    slot.inside = insideOf(all, around, *slot.field);
    message.named.push_back(&slot);
  }
  std::sort(message.named.begin(), message.named.end(),
            [](const Slot* a, const Slot* b) { return a->field->name < b->field->name; });
}

Messages makeMessages() {
  Messages all;
  for (const auto& [name, schema] : catalogue().types()) {
    Message& message = all[schema];
    for (const Field& field : schema->fields)
      if (field.proto.exists()) place(message, field, field.proto.numbers);
  }
  for (auto& [schema, message] : all) finish(all, *schema, message);
  return all;
}

}  // namespace

const Slot* Message::byNumber(uint32_t number) const {
  auto at = std::lower_bound(slots.begin(), slots.end(), number,
                             [](const Slot& s, uint32_t n) { return s.number < n; });
  return at != slots.end() && at->number == number ? &*at : nullptr;
}

const Slot* Message::byName(std::string_view name) const {
  auto at = std::lower_bound(named.begin(), named.end(), name,
                             [](const Slot* s, std::string_view n) { return s->field->name < n; });
  return at != named.end() && (*at)->field->name == name ? *at : nullptr;
}

const Message* messageOf(const Schema& schema) {
  static const Messages all = makeMessages();
  auto found = all.find(&schema);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace mangrove::apiserver::protobuf
