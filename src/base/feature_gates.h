#pragma once
// Switches for parts that are not settled yet, as Kubernetes components have them
// (--feature-gates=A=true,B=false).
//
//   inline constexpr GateInfo kGates[] = {
//       {"NodeTopologyReport", false, Maturity::kAlpha, "report NUMA zones"}};
//   FeatureGates gates(kGates);
//   if (auto ok = gates.set(flag); !ok) return ok;    // names the nearest gate to a misspelt one
//   if (gates.on("NodeTopologyReport")) …
//
// set() at start, before other threads read; afterwards const and free for all threads.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove {

enum class Maturity { kAlpha, kBeta, kGa, kDeprecated };
const char* maturityName(Maturity maturity);  // "ALPHA", …

struct GateInfo {
  std::string_view name;
  bool onByDefault = false;
  Maturity maturity = Maturity::kAlpha;
  std::string_view about = {};
  bool locked = false;  // settled: may be named, but not changed from its default
};

class FeatureGates {
 public:
  // Texts in `known` must outlive this (string literals). Two gates of one name are a programmer's
  // error.
  explicit FeatureGates(std::span<const GateInfo> known);

  // "A=true,B=false"; values as Go's ParseBool (1, t, true, TRUE, …). AllAlpha and AllBeta set
  // every gate of that maturity that is not named itself. On error nothing changes.
  Result<> set(std::string_view list);
  // Asking for an unknown gate is a programmer's error.
  bool on(std::string_view name) const;

  const std::vector<GateInfo>& known() const { return known_; }  // sorted by name
  std::string help() const;                                      // a line a gate, for --help
  std::string summary() const;  // "A=true,B=false" as they stand, sorted

 private:
  std::vector<GateInfo> known_;
  std::map<std::string_view, bool> on_;
};

}  // namespace mangrove
