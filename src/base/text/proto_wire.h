#pragma once
// Small hand-written messages of protobuf: numbered fields that are numbers or bytes (wire.h has
// the format itself).
//
//   ProtoWriter out;
//   out.text(1, "koordlet").number(2, 42).message(3, inner.bytes());
//   ProtoReader in(bytes);
//   while (auto field = in.next()) if (field->number == 1) name = field->bytes;
//   if (in.broken()) …
//
// Values that are 0 or empty are not written, as proto3 wants it; numberAlways and message write
// them. Readers borrow the bytes. Any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/wire.h"

namespace mangrove {

class ProtoWriter {
 public:
  ProtoWriter& number(uint32_t field, int64_t value);
  ProtoWriter& numberAlways(uint32_t field, int64_t value);
  ProtoWriter& text(uint32_t field, std::string_view value);
  ProtoWriter& message(uint32_t field, std::string_view bytes);
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

struct ProtoField {
  uint32_t number = 0;
  int64_t value = 0;       // of numbers
  std::string_view bytes;  // of texts and messages
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : in_(bytes) {}
  // nullopt at the end, or when the bytes make no sense.
  std::optional<ProtoField> next();
  bool broken() const { return broken_; }

 private:
  Result<ProtoField> field();

  WireReader in_;
  bool broken_ = false;
};

}  // namespace mangrove
