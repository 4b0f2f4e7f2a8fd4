#pragma once
// The types of the kind tables as protobuf messages: fields found by number (decode.h) and by name
// (encode.h). Where JSON shows the members of an inner message as if they were the outer one's (the
// source of a volume), the inner message is a slot without a field.
//
//   const Message* pod = messageOf(*kind.schema);
//   const Slot* slot = pod->byNumber(2);            // spec
//
// Made once from the catalogue, immutable then; any thread.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/schema/schema.h"

namespace mangrove::apiserver::protobuf {

struct Message;

struct Slot {
  uint16_t number = 0;
  const Field* field = nullptr;     // nullptr: `hidden` is here
  std::shared_ptr<Message> hidden;  // a message JSON does not show
  // What the field, its elements or its values are when they are messages of the tables. For
  // ProtoChoice::kOrStrings the type around the field.
  const Message* inside = nullptr;
};

struct Message {
  std::vector<Slot> slots;         // by number
  std::vector<const Slot*> named;  // those with a field, by its name

  const Slot* byNumber(uint32_t number) const;
  const Slot* byName(std::string_view name) const;
};

// nullptr for what is no type of the tables: custom kinds, above all.
const Message* messageOf(const Schema& schema);

// Lists of any kind are alike: {1: metadata, 2: items}.
inline constexpr uint32_t kListMetadata = 1, kListItems = 2;

}  // namespace mangrove::apiserver::protobuf
