#include "report/latency.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text/strings.h"

namespace mangrove::report {
namespace {

// The value behind le=" in the labels.
std::optional<double> boundOf(std::string_view labels) {
  const std::string_view key = "le=\"";
  const size_t at = labels.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = labels.substr(at + key.size());
  return parseNumber(rest.substr(0, rest.find('"')));
}

std::string_view nextWord(std::string_view text) {
  return text.substr(0, text.find(' '));
}

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

std::optional<double> parseNumber(std::string_view text) {
  const std::string word(trim(text));
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return word.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

Result<Buckets> readHistogram(std::string_view text, std::string_view name,
                              std::string_view labels) {
  const std::string series = std::string(name) + "_bucket{";
  Buckets out;
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(series)) continue;
    const size_t end = line.rfind('}');
    if (end == std::string_view::npos) continue;
    const std::string_view inside = line.substr(series.size(), end - series.size());
    if (inside.find(labels) == std::string_view::npos) continue;
    const auto bound = boundOf(inside);
    const auto count = parseNumber(nextWord(trim(line.substr(end + 1))));
    if (bound && count) out[*bound] += *count;
  }
  if (out.empty())
    return fail(Code::kNotFound,
                "no histogram {}{}{}{} among the metrics; want its name without _bucket", name,
                labels.empty() ? "" : "{", labels, labels.empty() ? "" : "}");
  return out;
}

Buckets difference(const Buckets& after, const Buckets& before) {
  if (countOf(after) < countOf(before)) return after;
  Buckets out;
  for (const auto& [bound, count] : after) {
    const auto was = before.find(bound);
    out[bound] = was == before.end() ? count : count - was->second;
  }
  return out;
}

double countOf(const Buckets& buckets) {
  return buckets.empty() ? 0 : buckets.rbegin()->second;
}

std::optional<double> quantileOf(const Buckets& buckets, double q) {
  const double all = countOf(buckets);
  if (all <= 0) return std::nullopt;
  const double rank = q * all;
  double below = 0, bound = 0;
  for (const auto& [upper, count] : buckets) {
    if (count >= rank) {
      if (!std::isfinite(upper)) return bound;
      const double inside = count - below;
      return bound + (upper - bound) * (inside > 0 ? (rank - below) / inside : 1);
    }
    below = count;
    bound = upper;
  }
  return bound;
}

std::vector<double> latenciesOf(std::string_view lines, const LogFormat& format) {
  std::vector<double> out;
  for (std::string_view line : split(lines, '\n')) {
    const auto value = format.key.empty() ? byField(line, format.field) : byKey(line, format.key);
    if (value && *value >= 0) out.push_back(*value * format.toMillis);
  }
  return out;
}

}  // namespace mangrove::report
