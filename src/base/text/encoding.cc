#include "base/text/encoding.h"

#include <array>
#include <cstdint>

namespace mangrove {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kUpperHexDigits = "0123456789ABCDEF";

uint32_t byteAt(std::string_view bytes, size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
}

std::string encodeWith(std::string_view alphabet, std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t group =
        byteAt(bytes, i) << 16 | byteAt(bytes, i + 1) << 8 | byteAt(bytes, i + 2);
    const size_t letters = bytes.size() - i >= 3 ? 4 : bytes.size() - i + 1;
    for (size_t k = 0; k < letters; ++k) out += alphabet[group >> (18 - 6 * k) & 63];
  }
  return out;
}

using Reverse = std::array<int8_t, 256>;

constexpr Reverse reverseOf(std::string_view alphabet) {
  Reverse table{};
  for (auto& entry : table) entry = -1;
  for (size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<int8_t>(i);
  }
  return table;
}

// Letters → bytes as they fill up; what stays of an incomplete group must be zero bits.
Result<std::string> decodeLetters(const Reverse& reverse, std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  size_t letters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    const int8_t value = reverse[static_cast<unsigned char>(text[i])];
    if (value < 0)
      return invalid("base64: character {} at {} does not belong there", int{text[i]}, i);
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xFFFF;
    count += 6;
    ++letters;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  if (letters % 4 == 1) return invalid("base64: the text ends inside a group of four");
  if ((bits & ((1u << count) - 1)) != 0) return invalid("base64: bits are left over at the end");
  return out;
}

int hexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte of two hexadecimal digits at i, or -1.
int hexByte(std::string_view text, size_t i) {
  if (i + 1 >= text.size()) return -1;
  const int high = hexValue(text[i]);
  const int low = hexValue(text[i + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool isUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void appendHex(std::string& out, char byte, std::string_view digits) {
  const auto value = static_cast<unsigned char>(byte);
  out += digits[value >> 4];
  out += digits[value & 15];
}

}  // namespace

std::string base64Encode(std::string_view bytes) {
  std::string out = encodeWith(kStandard, bytes);
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

std::string base64UrlEncode(std::string_view bytes) {
  return encodeWith(kUrlSafe, bytes);
}

Result<std::string> base64Decode(std::string_view text) {
  static constexpr Reverse kReverse = reverseOf(kStandard);
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  size_t padding = 0;
  for (; text.ends_with('='); text.remove_suffix(1)) ++padding;
  Result<std::string> out = decodeLetters(kReverse, text);
  if (out && padding != (3 - out->size() % 3) % 3) {
    return invalid("base64: {} '=' at the end, want {}", padding, (3 - out->size() % 3) % 3);
  }
  return out;
}

Result<std::string> base64UrlDecode(std::string_view text) {
  static constexpr Reverse kReverse = reverseOf(kUrlSafe);
  return decodeLetters(kReverse, text);
}

std::string hexEncode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char byte : bytes) appendHex(out, byte, kHexDigits);
  return out;
}

Result<std::string> hexDecode(std::string_view text) {
  if (text.size() % 2 != 0)
    return invalid("hexadecimal text of {} digits: want an even number", text.size());
  std::string out;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int byte = hexByte(text, i);
    if (byte < 0)
      return invalid("hexadecimal text: '{}' at {} is not a byte", text.substr(i, 2), i);
    out += static_cast<char>(byte);
  }
  return out;
}

std::string percentEncode(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (isUnreserved(c)) {
      out += c;
    } else {
      out += '%';
      appendHex(out, c, kUpperHexDigits);
    }
  }
  return out;
}

Result<std::string> percentDecode(std::string_view text, bool plusIsSpace) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plusIsSpace) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int byte = hexByte(text, i + 1);
      if (byte < 0)
        return invalid("'{}' at {} is not a percent-encoded byte", text.substr(i, 3), i);
      out += static_cast<char>(byte);
      i += 2;
    }
  }
  return out;
}

}  // namespace mangrove
