#include "base/text/proto_wire.h"

namespace mangrove {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

void ProtoWriter::varint(uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

ProtoWriter& ProtoWriter::number(uint32_t field, int64_t value) {
  return value == 0 ? *this : numberAlways(field, value);
}

ProtoWriter& ProtoWriter::numberAlways(uint32_t field, int64_t value) {
  varint(field << 3 | kVarint);
  varint(static_cast<uint64_t>(value));
  return *this;
}

ProtoWriter& ProtoWriter::text(uint32_t field, std::string_view value) {
  return value.empty() ? *this : message(field, value);
}

ProtoWriter& ProtoWriter::message(uint32_t field, std::string_view bytes) {
  varint(field << 3 | kBytes);
  varint(bytes.size());
  out_.append(bytes);
  return *this;
}

std::optional<uint64_t> ProtoReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70 && !left_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ProtoReader::take(size_t size) {
  if (size > left_.size()) return std::nullopt;
  const std::string_view out = left_.substr(0, size);
  left_.remove_prefix(size);
  return out;
}

std::optional<ProtoField> ProtoReader::next() {
  if (left_.empty() || broken_) return std::nullopt;
  broken_ = true;  // until the field is whole
  const auto tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return std::nullopt;
  ProtoField field{static_cast<uint32_t>(*tag >> 3), 0, {}};
  const auto type = static_cast<uint32_t>(*tag & 7);
  if (type == kVarint) {
    const auto value = varint();
    if (!value) return std::nullopt;
    field.value = static_cast<int64_t>(*value);
  } else if (type == kBytes || type == kFixed64 || type == kFixed32) {
    const auto size = type == kBytes ? varint() : std::optional<uint64_t>(type == kFixed64 ? 8 : 4);
    const auto bytes = size ? take(static_cast<size_t>(*size)) : std::nullopt;
    if (!bytes) return std::nullopt;
    field.bytes = *bytes;
  } else {
    return std::nullopt;
  }
  broken_ = false;
  return field;
}

}  // namespace mangrove
