#include "agent/qos/resctrl/classes.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "agent/resctrl_names.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

struct Entries {
  std::map<int, std::string> values;
  std::string trouble;
  std::string text() const {
    std::string out;
    for (const auto& [id, value] : values)
      out += fmt::format("{}{}={}", out.empty() ? "" : ";", id, value);
    return out;
  }
};

std::optional<uint64_t> asMask(std::string_view text) {
  const auto mask = parseInt<uint64_t>(text, 16);
  return mask ? std::optional(*mask) : std::nullopt;
}

// At least as many ways as the machine demands: grown downwards, then upwards.
std::string widened(const std::string& mask, const CacheFacts& facts) {
  const uint64_t full = parseInt<uint64_t>(facts.fullMask, 16).value_or(0);
  uint64_t ways = parseInt<uint64_t>(mask, 16).value_or(full);
  while (std::popcount(ways) < facts.leastWays && ways != full) {
    const uint64_t lower = ways | ways >> 1;
    ways = lower != ways && std::countr_zero(ways) > 0 ? lower : (ways | ways << 1) & full;
  }
  return fmt::format("{:x}", ways);
}

void putCache(std::span<const int> ids, int64_t start, int64_t end, const CacheFacts& facts,
              Entries& out) {
  auto mask = cacheMask(facts.fullMask, start, end);
  if (!mask) {
    out.trouble = mask.error().text();
    return;
  }
  for (int id : ids) out.values[id] = widened(*mask, facts);
}

void putBandwidth(std::span<const int> ids, int64_t percent, const CacheFacts& facts,
                  Entries& out) {
  auto value = bandwidthValue(facts.vendor, percent, facts.steps);
  if (facts.megabytes) {
    const int64_t most = *facts.megabytes;
    value = most > 0 && percent >= 1 && percent <= 100
                ? std::optional(std::to_string(std::max<int64_t>(most * percent / 100, 1)))
                : std::nullopt;
  }
  if (!value) return;
  for (int id : ids) out.values[id] = *value;
}

std::vector<int> oneId(int64_t id, const std::vector<int>& known, Entries& out) {
  for (int one : known)
    if (one == id) return {one};
  out.trouble = fmt::format("there is no cache {}", id);
  return {};
}

}  // namespace

SchemataLines classLines(const api::ResctrlQosConfig& qos, const CacheFacts& facts,
                         const BandwidthCaps& caps) {
  Entries l3, mb;
  if (!facts.fullMask.empty() && qos.catRangeStartPercent && qos.catRangeEndPercent)
    putCache(facts.cacheIds, qos.catRangeStartPercent->v, qos.catRangeEndPercent->v, facts, l3);
  if (qos.mbaPercent) putBandwidth(facts.bandwidthIds, qos.mbaPercent->v, facts, mb);
  for (const auto& [id, percent] : caps)
    putBandwidth({&id, 1}, std::min(percent, qos.mbaPercent.value_or(Percent{100}).v), facts, mb);
  return {l3.text(), mb.text(), l3.trouble};
}

api::ResctrlQosConfig apartFrom(api::ResctrlQosConfig service, const api::ResctrlQosConfig& batch) {
  const int64_t end = batch.catRangeEndPercent.value_or(Percent{0}).v;
  const int64_t start = batch.catRangeStartPercent.value_or(Percent{0}).v;
  if (!service.catRangeStartPercent || !service.catRangeEndPercent || end <= start) return service;
  const int64_t from = service.catRangeStartPercent->v, to = service.catRangeEndPercent->v;
  if (from >= end || to <= start) return service;  // apart already
  if (end < to)
    service.catRangeStartPercent = Percent{end};
  else if (from < start)
    service.catRangeEndPercent = Percent{start};
  return service;
}

SchemataLines podLines(const api::ResctrlConfig& config, const CacheFacts& facts) {
  Entries l3, mb;
  if (!facts.fullMask.empty()) {
    if (const auto& range = config.llc.schemata.range; range.size() == 2)
      putCache(facts.cacheIds, range[0], range[1], facts, l3);
    for (const api::CacheSchemata& one : config.llc.schemataPerCache)
      if (one.range.size() == 2)
        putCache(oneId(one.cacheId, facts.cacheIds, l3), one.range[0], one.range[1], facts, l3);
  }
  if (config.mb.schemata.percent > 0)
    putBandwidth(facts.bandwidthIds, config.mb.schemata.percent, facts, mb);
  for (const api::CacheSchemata& one : config.mb.schemataPerCache)
    putBandwidth(oneId(one.cacheId, facts.bandwidthIds, mb), one.percent, facts, mb);
  return {l3.text(), mb.text(), l3.trouble.empty() ? mb.trouble : l3.trouble};
}

std::string_view resctrlClass(api::Qos qos) {
  switch (qos) {
    case api::Qos::kLse:
    case api::Qos::kLsr:
      return "LSR";
    case api::Qos::kLs:
      return "LS";
    case api::Qos::kBe:
      return "BE";
    default:
      return "";
  }
}

std::string podGroup(std::string_view uid) {
  return fmt::format("{}{}", kPodResctrlPrefix, uid);
}

std::string lowestWays(const std::string& l3, int ways) {
  std::string out;
  for (const std::string_view one : split(l3, ';')) {
    const size_t sign = one.find('=');
    const auto mask = sign == std::string_view::npos ? std::nullopt : asMask(one.substr(sign + 1));
    uint64_t left = mask.value_or(0);
    while (std::popcount(left) > ways) left &= ~(uint64_t{1} << (63 - std::countl_zero(left)));
    out += out.empty() ? "" : ";";
    out += mask ? fmt::format("{}={:x}", one.substr(0, sign), left) : std::string(one);
  }
  return out;
}

int waysOf(const CacheFacts& facts) {
  return std::popcount(asMask(facts.fullMask).value_or(0));
}

int waysIn(const std::string& l3) {
  const std::string_view first = std::string_view(l3).substr(0, l3.find(';'));
  const size_t sign = first.find('=');
  if (sign == std::string_view::npos) return 0;
  return std::popcount(asMask(first.substr(sign + 1)).value_or(0));
}

}  // namespace mangrove::agent
