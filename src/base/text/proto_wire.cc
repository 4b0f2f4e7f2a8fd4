#include "base/text/proto_wire.h"

namespace mangrove {

ProtoWriter& ProtoWriter::number(uint32_t field, int64_t value) {
  return value == 0 ? *this : numberAlways(field, value);
}

ProtoWriter& ProtoWriter::numberAlways(uint32_t field, int64_t value) {
  appendNumber(field, static_cast<uint64_t>(value), out_);
  return *this;
}

ProtoWriter& ProtoWriter::text(uint32_t field, std::string_view value) {
  return value.empty() ? *this : message(field, value);
}

ProtoWriter& ProtoWriter::message(uint32_t field, std::string_view bytes) {
  appendBytes(field, bytes, out_);
  return *this;
}

Result<ProtoField> ProtoReader::field() {
  const auto tag = in_.tag();
  if (!tag) return pass(tag.error());
  ProtoField out{tag->number, 0, {}};
  if (tag->type == WireType::kVarint) {
    const auto value = in_.varint();
    if (!value) return pass(value.error());
    out.value = static_cast<int64_t>(*value);
    return out;
  }
  const auto bytes = in_.bytesOf(*tag);
  if (!bytes) return pass(bytes.error());
  out.bytes = *bytes;
  return out;
}

std::optional<ProtoField> ProtoReader::next() {
  if (in_.done() || broken_) return std::nullopt;
  const auto found = field();
  broken_ = !found;
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace mangrove
