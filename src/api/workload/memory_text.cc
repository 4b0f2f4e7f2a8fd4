#include "api/workload/memory_text.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/text/strings.h"

namespace mangrove::api {
namespace {

struct MemoryUnit {
  std::string_view name;
  int shift;
};
constexpr MemoryUnit kJava[] = {{"b", 0},   {"k", 10}, {"kb", 10}, {"m", 20}, {"mb", 20}, {"g", 30},
                                {"gb", 30}, {"t", 40}, {"tb", 40}, {"p", 50}, {"pb", 50}};
constexpr MemoryUnit kFlink[] = {{"bytes", 0},      {"kibibytes", 10}, {"ki", 10},
                                 {"mebibytes", 20}, {"mi", 20},        {"gibibytes", 30},
                                 {"gi", 30},        {"tebibytes", 40}, {"ti", 40}};

template <size_t N>
std::optional<int> shiftOf(std::string_view unit, const MemoryUnit (&units)[N]) {
  for (const MemoryUnit& one : units)
    if (one.name == unit) return one.shift;
  return std::nullopt;
}

struct MemoryParts {
  int64_t number = 0;
  std::string unit;  // in lower case
};
std::optional<MemoryParts> memoryParts(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const auto number = parseInt<int64_t>(text.substr(0, digits));
  if (!number) return std::nullopt;
  if (digits == std::string_view::npos) return MemoryParts{*number, ""};
  return MemoryParts{*number, lower(trim(text.substr(digits)))};
}

Result<Bytes> product(int64_t number, int64_t unit, std::string_view text) {
  if (number > std::numeric_limits<int64_t>::max() / unit)
    return invalid("'{}' is more memory than can be counted", text);
  return Bytes{number * unit};
}

}  // namespace

Result<Bytes> parseJavaMemory(std::string_view text, int64_t bareUnit) {
  const auto parts = memoryParts(trim(text));
  const auto shift = parts ? shiftOf(parts->unit, kJava) : std::nullopt;
  if (parts && parts->unit.empty()) return product(parts->number, bareUnit, text);
  if (!shift)
    return invalid("'{}' is no memory size: want an integer and b, k, m, g, t or p", text);
  return product(parts->number, int64_t{1} << *shift, text);
}

Result<Bytes> parseFlinkMemory(std::string_view text) {
  const auto parts = memoryParts(trim(text));
  const auto longName = parts ? shiftOf(parts->unit, kFlink) : std::nullopt;
  if (longName) return product(parts->number, int64_t{1} << *longName, text);
  return parseJavaMemory(text, 1);
}

}  // namespace mangrove::api
