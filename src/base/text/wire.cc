#include "base/text/wire.h"

namespace mangrove {

namespace {

constexpr int kLongestVarint = 10;               // 64 bits, seven in each byte
constexpr uint64_t kHighestNumber = 0x1fffffff;  // protobuf's own limit on field numbers

}  // namespace

Result<uint64_t> WireReader::varint() {
  uint64_t value = 0;
  for (int i = 0; i < kLongestVarint; ++i) {
    if (rest_.empty()) return invalid("the message ends within a number");
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  return invalid("a number has more than {} bytes", kLongestVarint);
}

Result<Tag> WireReader::tag() {
  auto word = varint();
  if (!word) return pass(word.error());
  const uint64_t number = *word >> 3, type = *word & 7;
  if (number == 0 || number > kHighestNumber) return invalid("{} is no field number", number);
  if (type > static_cast<uint64_t>(WireType::kFixed32))
    return invalid("field number {} has wire type {}: want 0 to 5", number, type);
  return Tag{static_cast<uint32_t>(number), static_cast<WireType>(type)};
}

Result<std::string_view> WireReader::take(uint64_t count) {
  if (count > rest_.size())
    return invalid("{} bytes are announced, {} are there", count, rest_.size());
  std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

Result<uint64_t> WireReader::fixed64() {
  auto eight = take(8);
  if (!eight) return pass(eight.error());
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>((*eight)[static_cast<size_t>(i)]))
             << (8 * i);
  return value;
}

Result<std::string_view> WireReader::bytes() {
  auto length = varint();
  if (!length) return pass(length.error());
  return take(*length);
}

Result<std::string_view> WireReader::bytesOf(Tag tag) {
  if (tag.type == WireType::kFixed64) return take(8);
  if (tag.type == WireType::kFixed32) return take(4);
  if (tag.type == WireType::kBytes) return bytes();
  return invalid("field number {} has no bytes", tag.number);
}

// A loop and a counter: groups within groups must not use up our stack.
Result<> WireReader::skipGroup() {
  for (size_t open = 1; open > 0;) {
    auto inner = tag();
    if (!inner) return pass(inner.error());
    if (inner->type == WireType::kStartGroup)
      ++open;
    else if (inner->type == WireType::kEndGroup)
      --open;
    else if (auto done = skip(*inner); !done)
      return done;
  }
  return {};
}

Result<> WireReader::skip(Tag tag) {
  auto ignore = [](const auto& result) -> Result<> {
    if (!result) return pass(result.error());
    return {};
  };
  switch (tag.type) {
    case WireType::kVarint:
      return ignore(varint());
    case WireType::kFixed64:
      return ignore(take(8));
    case WireType::kBytes:
      return ignore(bytes());
    case WireType::kFixed32:
      return ignore(take(4));
    case WireType::kStartGroup:
      return skipGroup();
    case WireType::kEndGroup:
      break;
  }
  return invalid("a group ends that never began (number {})", tag.number);
}

void appendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void appendTag(uint32_t number, WireType type, std::string& out) {
  appendVarint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type), out);
}

void appendNumber(uint32_t number, uint64_t value, std::string& out) {
  appendTag(number, WireType::kVarint, out);
  appendVarint(value, out);
}

void appendFixed64(uint32_t number, uint64_t value, std::string& out) {
  appendTag(number, WireType::kFixed64, out);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
}

void appendBytes(uint32_t number, std::string_view bytes, std::string& out) {
  appendTag(number, WireType::kBytes, out);
  appendVarint(bytes.size(), out);
  out += bytes;
}

}  // namespace mangrove
