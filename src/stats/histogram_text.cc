#include "stats/histogram_text.h"

#include <cmath>
#include <cstdlib>

#include "base/text/strings.h"

namespace mangrove::stats {
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

}  // namespace mangrove::stats
