#include "report/latency.h"

#include <algorithm>
#include <optional>

#include "base/text/strings.h"

namespace mangrove::report {
namespace {

// "key":123 or key=123, with or without quotes.
std::optional<double> byKey(std::string_view line, std::string_view key) {
  for (size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    std::string_view rest = line.substr(at + key.size());
    const size_t sign = rest.find_first_not_of("\" ");
    if (sign == std::string_view::npos || (rest[sign] != ':' && rest[sign] != '=')) continue;
    rest.remove_prefix(sign + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of("\" "), rest.size()));
    const size_t end = rest.find_first_not_of("0123456789.eE+-");
    return parseNumber(rest.substr(0, end));
  }
  return std::nullopt;
}

std::optional<double> byField(std::string_view line, int64_t field) {
  std::vector<std::string_view> words;
  for (std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  const auto count = static_cast<int64_t>(words.size());
  const int64_t index = field > 0 ? field - 1 : count + field;
  return index >= 0 && index < count ? parseNumber(words[static_cast<size_t>(index)])
                                     : std::nullopt;
}

}  // namespace

std::vector<double> latenciesOf(std::string_view lines, const LogFormat& format) {
  std::vector<double> out;
  for (std::string_view line : split(lines, '\n')) {
    const auto value = format.key.empty() ? byField(line, format.field) : byKey(line, format.key);
    if (value && *value >= 0) out.push_back(*value * format.toMillis);
  }
  return out;
}

}  // namespace mangrove::report
