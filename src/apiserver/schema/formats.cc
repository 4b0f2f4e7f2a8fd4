#include "apiserver/schema/formats.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <arpa/inet.h>

#include "api/select/label_syntax.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {
namespace {

bool isHex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool parsesAs(int family, std::string_view text) {
  unsigned char address[sizeof(in6_addr)];
  return text.size() < 64 && inet_pton(family, std::string(text).c_str(), address) == 1;
}

// 8-4-4-4-12 hexadecimal digits; the hyphens may be missing, as Kubernetes' own check has it.
bool isUuid(std::string_view text) {
  std::string digits;
  for (std::string_view part : split(text, '-')) digits += part;
  return digits.size() == 32 && isHex(digits) && (text.size() == 32 || text.size() == 36);
}

bool isMac(std::string_view text) {
  char separator = text.find('-') != std::string_view::npos ? '-' : ':';
  auto parts = split(text, separator);
  if (parts.size() != 6 && parts.size() != 8) return false;
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view p) { return p.size() == 2 && isHex(p); });
}

bool isEmail(std::string_view text) {
  Halves parts = cut(text, '@');
  return parts.found && !parts.before.empty() && !parts.after.empty() &&
         parts.after.find_first_of("@ ") == std::string_view::npos &&
         parts.before.find(' ') == std::string_view::npos;
}

// An absolute URI or a path, as Go's url.ParseRequestURI takes it.
bool isUri(std::string_view text) {
  if (text.find_first_of(" \t\n\"<>") != std::string_view::npos) return false;
  if (text.starts_with('/')) return true;
  size_t colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && text.size() > colon + 1 &&
         std::isalpha(static_cast<unsigned char>(text[0])) != 0;
}

bool isDate(std::string_view text) {
  return parseTime(std::string(text) + "T00:00:00Z").has_value();
}

// Go's notation, or numbers with longer unit names ("2 days").
bool isDuration(std::string_view text) {
  if (parseDuration(text)) return true;
  size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  std::string unit = lower(trim(text.substr(digits)));
  if (unit.size() > 2 && unit.ends_with('s')) unit.pop_back();
  static constexpr std::string_view kUnits[] = {
      "ns",    "nano",        "nanosecond", "us",  "µs",     "micro", "microsecond", "ms",
      "milli", "millisecond", "s",          "sec", "second", "m",     "min",         "minute",
      "h",     "hr",          "hour",       "d",   "day",    "w",     "wk",          "week"};
  return std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits);
}

bool isDateTime(std::string_view text) {
  return parseTime(text).has_value();
}
bool isBytes(std::string_view text) {
  return base64Decode(text).has_value();
}
bool isPassword(std::string_view) {
  return true;
}
bool isHostname(std::string_view text) {
  return api::isDnsSubdomain(lower(text));
}

struct Format {
  std::string_view name;
  bool (*holds)(std::string_view text);
};
constexpr Format kFormats[] = {
    {"byte", isBytes},
    {"cidr", isCidr},
    {"date", isDate},
    {"date-time", isDateTime},
    {"datetime", isDateTime},
    {"duration", isDuration},
    {"email", isEmail},
    {"hostname", isHostname},
    {"ip", isIp},
    {"ipv4", isIpv4},
    {"ipv6", isIpv6},
    {"k8s-long-name", api::isDnsSubdomain},
    {"mac", isMac},
    {"k8s-short-name", api::isDnsLabel},
    {"password", isPassword},
    {"uri", isUri},
    {"uuid", isUuid},
    {"uuid3", isUuid},
    {"uuid4", isUuid},
    {"uuid5", isUuid},
};

const Format* find(std::string_view name) {
  for (const Format& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

}  // namespace

bool isIpv4(std::string_view text) {
  return parsesAs(AF_INET, text);
}
bool isIpv6(std::string_view text) {
  return parsesAs(AF_INET6, text);
}
bool isIp(std::string_view text) {
  return isIpv4(text) || isIpv6(text);
}

bool isCidr(std::string_view text) {
  Halves parts = cut(text, '/');
  auto bits = parseInt<int>(parts.after);
  if (!parts.found || !bits || *bits < 0) return false;
  return (isIpv4(parts.before) && *bits <= 32) || (isIpv6(parts.before) && *bits <= 128);
}

bool isKnownFormat(std::string_view format) {
  return find(format) != nullptr;
}

bool hasFormat(std::string_view text, std::string_view format) {
  const Format* known = find(format);
  return known == nullptr || known->holds(text);
}

}  // namespace mangrove::apiserver
