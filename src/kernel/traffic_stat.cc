#include "kernel/traffic_stat.h"

#include "base/text/strings.h"
#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

std::optional<uint64_t> servedOfV1(std::string_view text) {
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (words.next() && words.word == "Total") return words.number<uint64_t>();
  }
  return trim(text).empty() ? std::optional<uint64_t>(0) : std::nullopt;
}

std::optional<uint64_t> servedOfV2(std::string_view text) {
  uint64_t sum = 0;
  for (Lines lines(text); lines.next();)
    for (Words words(lines.line); words.next();)
      for (const std::string_view key : {"rbytes=", "wbytes="}) {
        if (!words.word.starts_with(key)) continue;
        const auto bytes = parseInt<uint64_t>(words.word.substr(key.size()));
        if (!bytes) return std::nullopt;
        sum += *bytes;
      }
  return sum;
}

// The place of a word in a line; nullopt: it is not there.
std::optional<size_t> placeOf(std::string_view line, std::string_view name) {
  size_t at = 0;
  for (Words words(line); words.next(); ++at)
    if (words.word == name) return at;
  return std::nullopt;
}

std::optional<uint64_t> numberAt(std::string_view line, size_t place) {
  size_t at = 0;
  for (Words words(line); words.next(); ++at)
    if (at == place) return parseInt<uint64_t>(words.word);
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> parseIoServed(std::string_view text, CgroupVersion version) {
  return version == CgroupVersion::kV1 ? servedOfV1(text) : servedOfV2(text);
}

// Two lines for each protocol: names, then numbers.
std::optional<TcpSegments> parseTcpSegments(std::string_view text) {
  std::string_view names;
  for (Lines lines(text); lines.next();) {
    if (!lines.line.starts_with("Tcp:")) continue;
    if (names.empty()) {
      names = lines.line;
      continue;
    }
    const auto sent = placeOf(names, "OutSegs"), again = placeOf(names, "RetransSegs");
    if (!sent || !again) return std::nullopt;
    const auto out = numberAt(lines.line, *sent), repeated = numberAt(lines.line, *again);
    if (!out || !repeated) return std::nullopt;
    return TcpSegments{*out, *repeated};
  }
  return std::nullopt;
}

}  // namespace mangrove::kernel
