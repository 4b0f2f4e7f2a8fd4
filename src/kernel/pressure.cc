#include "kernel/pressure.h"

#include <limits>

#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

Result<std::string_view> valueOf(Words& words, std::string_view key, std::string_view line) {
  if (!words.next()) return invalid("pressure line '{}': '{}' is missing", line, key);
  const Halves pair = cut(words.word, '=');
  if (pair.before != key)
    return invalid("pressure line '{}': found '{}', want '{}='", line, words.word, key);
  return pair.after;
}

Result<double> percentOf(Words& words, std::string_view key, std::string_view line) {
  auto text = valueOf(words, key, line);
  if (!text) return pass(text.error());
  const auto value = parseDecimal(*text);
  if (!value || *value < 0) return invalid("pressure line '{}': {} is no percentage", line, key);
  return *value;
}

Result<Stall> stallOf(Words& words, std::string_view line) {
  Stall stall;
  for (auto [key, field] : {std::pair{"avg10", &Stall::avg10}, std::pair{"avg60", &Stall::avg60},
                            std::pair{"avg300", &Stall::avg300}}) {
    auto value = percentOf(words, key, line);
    if (!value) return pass(value.error());
    stall.*field = *value;
  }
  auto total = valueOf(words, "total", line);
  if (!total) return pass(total.error());
  const auto us = parseInt<uint64_t>(*total);
  if (!us || *us > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / 1000)
    return invalid("pressure line '{}': total is no number of µs", line);
  stall.total = std::chrono::microseconds(*us);
  return stall;
}

}  // namespace

Result<Pressure> parsePressure(std::string_view text) {
  Pressure pressure;
  bool some = false;
  for (Lines lines(text); lines.next();) {
    Words words(lines.line);
    if (!words.next()) continue;
    const bool isSome = words.word == "some";
    if (!isSome && words.word != "full")
      return invalid("pressure line '{}': want 'some' or 'full'", lines.line);
    auto stall = stallOf(words, lines.line);
    if (!stall) return pass(stall.error());
    (isSome ? pressure.some : pressure.full) = *stall;
    some |= isSome;
    pressure.fullSupported |= !isSome;
  }
  if (!some) return invalid("pressure has no line 'some'");
  return pressure;
}

}  // namespace mangrove::kernel
