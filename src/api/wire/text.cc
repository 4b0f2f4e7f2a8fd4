#include "api/wire/text.h"

#include <cstring>
#include <utility>

namespace mangrove::api {
namespace {

constexpr size_t kUuidLength = 36;
constexpr char kHex[] = "0123456789abcdef";

bool isDash(size_t place) {
  return place == 8 || place == 13 || place == 18 || place == 23;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool parseUuid(std::string_view text, uint64_t& high, uint64_t& low) {
  if (text.size() != kUuidLength) return false;
  uint64_t halves[2] = {0, 0};
  size_t digits = 0;
  for (size_t i = 0; i < kUuidLength; i++) {
    if (isDash(i)) {
      if (text[i] != '-') return false;
      continue;
    }
    const int digit = hexDigit(text[i]);
    if (digit < 0) return false;
    halves[digits / 16] = halves[digits / 16] << 4 | static_cast<uint64_t>(digit);
    digits++;
  }
  high = halves[0];
  low = halves[1];
  return low >> 63 != 0;
}

std::string uuidText(uint64_t high, uint64_t low) {
  std::string text;
  text.reserve(kUuidLength);
  const uint64_t halves[2] = {high, low};
  for (size_t digit = 0; digit < 32; digit++) {
    if (isDash(text.size())) text.push_back('-');
    text.push_back(kHex[halves[digit / 16] >> (60 - digit % 16 * 4) & 15]);
  }
  return text;
}

}  // namespace

Text::Text(std::string_view text) {
  if (text.empty()) return;
  const auto length = static_cast<uint32_t>(text.size());
  bytes_ = std::make_unique_for_overwrite<char[]>(sizeof length + text.size());
  std::memcpy(bytes_.get(), &length, sizeof length);
  std::memcpy(bytes_.get() + sizeof length, text.data(), text.size());
}

std::string_view Text::view() const {
  if (bytes_ == nullptr) return {};
  uint32_t length = 0;
  std::memcpy(&length, bytes_.get(), sizeof length);
  return {bytes_.get() + sizeof length, length};
}

bool read(const In& in, Text& out) {
  auto text = readString(in);
  if (text) out = Text(*text);
  return text.has_value();
}

Uid::Uid(std::string_view text) {
  if (text.empty() || parseUuid(text, high_, low_)) return;
  high_ = std::hash<std::string_view>()(text);
  low_ = reinterpret_cast<uint64_t>(new std::string(text));
}

Uid::Uid(const Uid& other) : high_(other.high_), low_(other.low_) {
  if (!empty() && !isUuid()) low_ = reinterpret_cast<uint64_t>(new std::string(*other.other()));
}

Uid::Uid(Uid&& other) noexcept
    : high_(std::exchange(other.high_, 0)), low_(std::exchange(other.low_, 0)) {}

Uid& Uid::operator=(Uid other) noexcept {
  std::swap(high_, other.high_);
  std::swap(low_, other.low_);
  return *this;
}

Uid::~Uid() {
  if (!empty() && !isUuid()) delete other();
}

std::string Uid::str() const {
  if (empty()) return {};
  return isUuid() ? uuidText(high_, low_) : *other();
}

bool Uid::operator==(const Uid& o) const {
  if (high_ != o.high_) return false;
  if (empty() || o.empty() || isUuid() || o.isUuid()) return low_ == o.low_;
  return *other() == *o.other();
}

size_t Uid::hash() const {
  return isUuid() ? high_ ^ low_ : high_;
}

bool read(const In& in, Uid& out) {
  auto text = readString(in);
  if (text) out = Uid(*text);
  return text.has_value();
}

}  // namespace mangrove::api
