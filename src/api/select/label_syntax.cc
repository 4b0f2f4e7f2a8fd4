#include "api/select/label_syntax.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::api {
namespace {

bool isLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool isAlnum(char c) {
  return isLowerOrDigit(c) || (c >= 'A' && c <= 'Z');
}
bool isNameChar(char c) {
  return isAlnum(c) || c == '-' || c == '_' || c == '.';
}

bool isDnsPart(std::string_view part) {
  return !part.empty() && isLowerOrDigit(part.front()) && isLowerOrDigit(part.back()) &&
         std::ranges::all_of(part, [](char c) { return isLowerOrDigit(c) || c == '-'; });
}

// The name of a key or a whole value, not empty.
std::string nameTrouble(std::string_view what, std::string_view name) {
  if (name.size() > kMaxLabelName)
    return fmt::format("{} '{}' has {} bytes, want at most {}", what, name, name.size(),
                       kMaxLabelName);
  if (isAlnum(name.front()) && isAlnum(name.back()) && std::ranges::all_of(name, isNameChar))
    return {};
  return fmt::format(
      "{} '{}' must consist of letters, digits, '-', '_' or '.', and start and end with a letter "
      "or "
      "digit",
      what, name);
}

}  // namespace

bool isDnsLabel(std::string_view text) {
  return text.size() <= kMaxLabelName && isDnsPart(text);
}

bool isDnsSubdomain(std::string_view text) {
  return text.size() <= kMaxDnsSubdomain && std::ranges::all_of(split(text, '.'), isDnsPart);
}

std::string labelKeyTrouble(std::string_view key) {
  const Halves halves = cut(key, '/');
  if (halves.found && halves.after.find('/') != std::string_view::npos)
    return fmt::format("label key '{}' has more than one '/', want [prefix/]name", key);
  if (halves.found && !isDnsSubdomain(halves.before))
    return fmt::format(
        "prefix '{}' of label key '{}' must be a DNS name of at most {} bytes: lower-case letters, "
        "digits, '-' and '.', such as example.com",
        halves.before, key, kMaxDnsSubdomain);
  const std::string_view name = halves.found ? halves.after : key;
  if (name.empty()) return fmt::format("label key '{}' has no name, want [prefix/]name", key);
  return nameTrouble("name of label key", name);
}

std::string labelValueTrouble(std::string_view value) {
  return value.empty() ? std::string() : nameTrouble("label value", value);
}

}  // namespace mangrove::api
