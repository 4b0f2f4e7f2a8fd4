#include "agent/qos/resctrl/schemata.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kAmdUnlimited = 2048;
constexpr int64_t kIntelStep = 10;
// 25 GB/s per CCD in units of 1/8 GB/s, of which 80 % can be had; measured on one processor.
constexpr double kAmdWhole = 160;

int64_t waysOf(int64_t ways, int64_t percent) {
  return (ways * percent + 99) / 100;
}

std::string line(std::string_view name, std::span<const int> ids, std::string_view value) {
  std::string out = fmt::format("{}:", name);
  for (int id : ids) out += fmt::format("{}={};", id, value);
  return out + "\n";
}

// "0=fff;1=fff"; entries that are not numbers are skipped.
std::map<int, int64_t> parseEntries(std::string_view text, int base) {
  std::map<int, int64_t> out;
  for (std::string_view entry : split(text, ';')) {
    const auto parts = split(trim(entry), '=');
    if (parts.size() != 2) continue;
    const auto id = parseInt<int>(parts[0]);
    const auto value = parseInt<int64_t>(parts[1], base);
    if (id && value) out[*id] = *value;
  }
  return out;
}

Result<> checkCount(std::string_view name, size_t found, int wanted) {
  if (wanted < 0 || found == static_cast<size_t>(wanted)) return {};
  return invalid("schemata: {} has {} caches, want {}", name, found, wanted);
}

}  // namespace

Result<std::string> cacheMask(std::string_view fullMask, int64_t startPercent, int64_t endPercent) {
  const auto mask = parseInt<uint64_t>(fullMask, 16);
  if (!mask || *mask == 0 || *mask > 0xffffffff || (*mask & (*mask + 1)) != 0)
    return invalid("cbm_mask '{}': want a run of ones in hex", fullMask);
  if (startPercent < 0 || endPercent > 100 || startPercent >= endPercent)
    return invalid("cache range {}-{} %: want 0 <= start < end <= 100", startPercent, endPercent);
  const int64_t ways = std::popcount(*mask);
  int64_t low = waysOf(ways, startPercent);
  int64_t high = waysOf(ways, endPercent);
  if (low == high) low = std::min(low, ways - 1), high = low + 1;
  return fmt::format("{:x}", (uint64_t{1} << high) - (uint64_t{1} << low));
}

std::optional<std::string> bandwidthValue(std::string_view vendor, int64_t percent,
                                          BandwidthSteps steps) {
  if (percent < 1 || percent > 100) return std::nullopt;
  if (vendor == "AuthenticAMD") {
    if (percent == 100) return std::to_string(kAmdUnlimited);
    return std::to_string(static_cast<int64_t>(kAmdWhole * static_cast<double>(percent) / 100));
  }
  if (steps.step <= 0 && vendor != "GenuineIntel") return std::nullopt;
  const int64_t step = steps.step > 0 ? steps.step : kIntelStep;
  const int64_t rounded = (percent + step - 1) / step * step;
  return std::to_string(std::min<int64_t>(std::max(rounded, steps.least), 100));
}

std::string cacheLine(std::span<const int> cacheIds, std::string_view mask) {
  return line("L3", cacheIds, mask);
}

std::string bandwidthLine(std::span<const int> cacheIds, std::string_view value) {
  return line("MB", cacheIds, value);
}

Result<Schemata> parseSchemata(std::string_view text, int caches) {
  Schemata out;
  bool hasCache = false, hasBandwidth = false;
  for (std::string_view one : split(text, '\n')) {
    const auto parts = split(trim(one), ':');
    if (parts.size() != 2) continue;
    if (parts[0] == "L3") out.l3 = parseEntries(parts[1], 16), hasCache = true;
    if (parts[0] == "L3CODE") out.code = parseEntries(parts[1], 16);
    if (parts[0] == "MB") out.mb = parseEntries(parts[1], 10), hasBandwidth = true;
  }
  if (hasCache)
    if (auto ok = checkCount("L3", out.l3.size(), caches); !ok) return pass(ok.error());
  const int wanted = caches < 0 && hasCache ? static_cast<int>(out.l3.size()) : caches;
  if (hasBandwidth)
    if (auto ok = checkCount("MB", out.mb.size(), wanted); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::agent
