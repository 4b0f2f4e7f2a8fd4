#pragma once
// Protobuf's wire format: numbered, typed pieces, without any knowledge of what they mean.
//
//   WireReader in(bytes);
//   while (!in.done()) {
//     auto tag = in.tag();
//     if (tag && tag->number == 1) text = in.bytes();     // each is a Result
//     else in.skip(*tag);
//   }
//
// The bytes come from strangers: every length is checked before it is believed, and nothing is
// allocated. Views point into what was given. Values; any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,  // texts, bytes, messages and packed lists
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

struct Tag {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  Result<Tag> tag();
  Result<uint64_t> varint();
  Result<uint64_t> fixed64();
  Result<std::string_view> bytes();
  // The bytes of a fixed 64 or 32 bit value, or of a text or message.
  Result<std::string_view> bytesOf(Tag tag);
  // Over the value behind this tag, whatever it is.
  Result<> skip(Tag tag);

 private:
  Result<std::string_view> take(uint64_t count);
  Result<> skipGroup();

  std::string_view rest_;
};

void appendVarint(uint64_t value, std::string& out);
void appendTag(uint32_t number, WireType type, std::string& out);
void appendNumber(uint32_t number, uint64_t value, std::string& out);   // tag and varint
void appendFixed64(uint32_t number, uint64_t value, std::string& out);  // tag and eight bytes
void appendBytes(uint32_t number, std::string_view bytes, std::string& out);
// A message whose length is known only once `write` has appended it.
template <class Fn>
void appendNested(uint32_t number, std::string& out, Fn write) {
  appendTag(number, WireType::kBytes, out);
  const size_t start = out.size();
  write(out);
  std::string length;
  appendVarint(out.size() - start, length);
  out.insert(start, length);
}

}  // namespace mangrove
