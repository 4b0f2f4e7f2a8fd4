#pragma once
// Small homes for text that is different in every object, where a std::string (32 bytes before its
// first long character) is too dear: 50 000 pods carry a dozen of them each. Text that recurs is
// Interned instead.
//
//   Text message("0/3 nodes are available");    // 8 bytes and the text
//   Uid uid("6bcd9cf4-2f2a-4a55-8b6d-0b8c7c2b2d60");  // 16 bytes, nothing on the heap
//
// Values: copy and move freely, const access from any thread.

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/wire/decode.h"

namespace mangrove::api {

// An immutable string of 8 bytes; the empty text owns nothing.
class Text {
 public:
  Text() = default;
  Text(std::string_view text);
  Text(const char* text) : Text(std::string_view(text)) {}
  Text(const std::string& text) : Text(std::string_view(text)) {}
  Text(const Text& other) : Text(other.view()) {}
  Text(Text&&) noexcept = default;
  Text& operator=(const Text& other) { return *this = Text(other); }
  Text& operator=(Text&&) noexcept = default;

  bool empty() const { return bytes_ == nullptr; }
  std::string_view view() const;
  std::string str() const { return std::string(view()); }
  operator std::string_view() const { return view(); }

  bool operator==(const Text& other) const { return view() == other.view(); }
  bool operator==(std::string_view other) const { return view() == other; }
  bool operator==(const char* other) const { return view() == other; }
  std::strong_ordering operator<=>(const Text& other) const { return view() <=> other.view(); }

 private:
  std::unique_ptr<char[]> bytes_;  // four bytes of length, then the text
};
bool read(const In& in, Text& out);

// The identity of an object. UUIDs as API servers make them are kept as their 16 bytes; any other
// text (static pods, tests) is kept as it came.
class Uid {
 public:
  Uid() = default;
  explicit Uid(std::string_view text);
  Uid(const Uid& other);
  Uid(Uid&& other) noexcept;
  Uid& operator=(Uid other) noexcept;
  ~Uid();

  bool empty() const { return high_ == 0 && low_ == 0; }
  std::string str() const;

  bool operator==(const Uid& other) const;
  std::strong_ordering operator<=>(const Uid& other) const { return str() <=> other.str(); }
  size_t hash() const;

 private:
  // Bit 63 of low_ is set in every RFC 4122 UUID (its variant); clear, low_ is the address of a
  // std::string.
  bool isUuid() const { return (low_ >> 63) != 0; }
  const std::string* other() const { return reinterpret_cast<const std::string*>(low_); }

  uint64_t high_ = 0;
  uint64_t low_ = 0;
};
bool read(const In& in, Uid& out);

}  // namespace mangrove::api

template <>
struct std::hash<mangrove::api::Uid> {
  size_t operator()(const mangrove::api::Uid& uid) const noexcept { return uid.hash(); }
};
template <>
struct std::hash<mangrove::api::Text> {
  size_t operator()(const mangrove::api::Text& text) const noexcept {
    return std::hash<std::string_view>()(text.view());
  }
};
