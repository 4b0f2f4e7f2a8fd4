#include "sim/trace_line.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/number/quantity.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"

namespace mangrove::sim {
namespace {

std::optional<double> parseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<Seconds> parseSpan(std::string_view text) {
  constexpr std::string_view kUnits = "smhd";
  constexpr Seconds kLengths[] = {1, 60, 3600, 86400};
  const size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const auto count = unit == std::string_view::npos
                         ? std::nullopt
                         : parseInt<int64_t>(text.substr(0, text.size() - 1));
  if (!count || *count < 0 || *count > 1'000'000)
    return invalid("'{}' is no time: want a whole number and s, m, h or d, such as 90s", text);
  return *count * kLengths[unit];
}

TraceLine::TraceLine(std::string_view file, size_t number, std::string_view text)
    : file_(file), number_(number) {
  for (std::string_view word : split(text, ' ')) {
    word = trim(word);
    if (word.empty()) continue;
    const size_t at = word.find('=');
    if (keyword_.empty())
      keyword_ = word;
    else if (at == std::string_view::npos)
      bare_.push_back(word);
    else
      words_.push_back({word.substr(0, at), word.substr(at + 1)});
  }
}

std::string TraceLine::where() const {
  return fmt::format("{}:{}: ", file_, number_);
}

std::string TraceLine::name() {
  if (bare_.empty()) {
    complain("'{}' needs a name, such as '{} web …'", keyword_, keyword_);
    return {};
  }
  std::string out(bare_.front());
  bare_.erase(bare_.begin());
  return out;
}

std::vector<std::string_view> TraceLine::bare() {
  return std::exchange(bare_, {});
}

std::optional<std::string_view> TraceLine::find(std::string_view key, Need need) {
  known_.push_back(key);
  for (Word& word : words_)
    if (word.key == key && !word.asked) {
      word.asked = true;
      return word.value;
    }
  if (need == Need::kRequired) complain("'{}' needs {}=", keyword_, key);
  return std::nullopt;
}

void TraceLine::number(std::string_view key, int64_t& out, int64_t least, Need need) {
  const auto text = find(key, need);
  if (!text) return;
  const auto value = parseInt<int64_t>(*text);
  if (!value || *value < least || *value > 10'000'000)
    return complain("{}={}: want a whole number from {} to 10000000", key, *text, least);
  out = *value;
}

void TraceLine::share(std::string_view key, double& out, double most) {
  const auto text = find(key, Need::kOptional);
  if (!text) return;
  const auto value = parseNumber(*text);
  if (!value || !(*value >= 0 && *value <= most))
    return complain("{}={}: want a number from 0 to {}", key, *text, most);
  out = *value;
}

void TraceLine::cpu(std::string_view key, MilliCpu& out, Need need) {
  const auto text = find(key, need);
  if (!text) return;
  const auto value = Quantity::parse(*text);
  if (!value || value->milliValue() <= 0)
    return complain("{}={}: want cores above 0, such as 4 or 500m", key, *text);
  out = value->milliCpu();
}

void TraceLine::memory(std::string_view key, Bytes& out, Need need) {
  const auto text = find(key, need);
  if (!text) return;
  const auto value = Quantity::parse(*text);
  if (!value || value->value() <= 0)
    return complain("{}={}: want bytes above 0, such as 8Gi", key, *text);
  out = value->bytes();
}

void TraceLine::span(std::string_view key, Seconds& out, Seconds least, Need need) {
  const auto text = find(key, need);
  if (!text) return;
  const auto value = parseSpan(*text);
  if (!value) return complain("{}={}: {}", key, *text, value.error().text());
  if (*value < least) return complain("{}={}: want at least {}", key, *text, spanText(least));
  out = *value;
}

void TraceLine::spans(std::string_view key, std::vector<Seconds>& out) {
  const auto text = find(key, Need::kOptional);
  if (!text) return;
  for (std::string_view one : split(*text, ',')) {
    const auto value = parseSpan(one);
    if (!value) return complain("{}={}: {}", key, *text, value.error().text());
    out.push_back(*value);
  }
}

void TraceLine::text(std::string_view key, std::string& out, Need need) {
  if (const auto text = find(key, need)) out = *text;
}

void TraceLine::end() {
  for (const Word& word : words_) {
    if (word.asked) continue;
    const bool twice = std::find(known_.begin(), known_.end(), word.key) != known_.end();
    if (twice) return complain("{}= is given twice", word.key);
    return complain("'{}' has no {}={}; it has {}=", keyword_, word.key,
                    didYouMean(word.key, known_), join(known_, "=, "));
  }
  if (!bare_.empty()) complain("'{}' is not expected here", bare_.front());
}

}  // namespace mangrove::sim
