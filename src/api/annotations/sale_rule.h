#pragma once
// When the manager writes a node's amounts for sale anew: when one of them moved by more than a share of
// itself, or when the last write is longer ago. It says so on the NodeMetric, and an agent that knows it
// reports at the moments at which the manager would write, and needs no others for its sake.
//
//   metadata: { annotations: { node.mangrove.io/sale-rule: "0.1/300s" } }
//
// Pure, any thread.

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/number/units.h"

namespace mangrove::api {

inline constexpr std::string_view kSaleRuleKey = "node.mangrove.io/sale-rule";

struct SaleRule {
  double share = 0;  // of the amount that stands there
  Duration wait{};
  bool operator==(const SaleRule&) const = default;
};

inline std::string saleRuleText(const SaleRule& rule) {
  return fmt::format("{}/{}s", rule.share,
                     std::chrono::duration_cast<std::chrono::seconds>(rule.wait).count());
}

// Nullopt: nonsense.
inline std::optional<SaleRule> parseSaleRule(std::string_view text) {
  SaleRule out;
  const char* const last = text.data() + text.size();
  const auto share = std::from_chars(text.data(), last, out.share);
  if (share.ec != std::errc{} || share.ptr == last || *share.ptr != '/') return std::nullopt;
  int64_t seconds = 0;
  const auto wait = std::from_chars(share.ptr + 1, last, seconds);
  if (wait.ec != std::errc{} || wait.ptr + 1 != last || *wait.ptr != 's') return std::nullopt;
  constexpr int64_t kHour = 3600;
  if (!(out.share >= 0 && out.share <= 1) || seconds < 0 || seconds > kHour) return std::nullopt;
  out.wait = std::chrono::seconds(seconds);
  return out;
}

// Nullopt: not said, or nonsense.
template <class Annotations>
std::optional<SaleRule> saleRule(const Annotations& annotations) {
  const auto text = annotations.get(kSaleRuleKey);
  return text ? parseSaleRule(*text) : std::nullopt;
}

}  // namespace mangrove::api
