#pragma once
// One ledger, several dialects: Crane, Katalyst and Caster name the same reclaimed
// amounts differently. A view reports what is left when the requests placed through all other views
// are taken away, so that the same core is never sold twice. Off unless colocation-config names the
// view in "aliasViews". Volcano uses the canonical names.
//
//   // B = 40 000 m; 6 000 m placed as batch-cpu, 3 cores as gocrane.io/cpu:
//   // batch-cpu 37000, gocrane.io/cpu 34, reclaimed_millicpu 31000
//
// Pure; any thread.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manager/controllers/noderesource/cpu_memory.h"

namespace mangrove::manager {

// Annotation of a node: which views we wrote there, so that only our own names are taken away
// again.
inline constexpr std::string_view kWrittenViews = "mangrove.io/alias-views";

struct AliasView {
  std::string_view name;  // in aliasViews
  std::string_view cpuName;
  std::string_view memoryName;
  int64_t milliPerUnit;  // of cpu: 1000 where the unit is a core
};
const AliasView& canonicalView();
const std::array<AliasView, 3>& aliasViews();

struct Sold {
  int64_t milliCpu = 0;
  int64_t memoryBytes = 0;
  bool operator==(const Sold&) const = default;
};

// What is placed through each view, in milli-cores and bytes: [0] canonical, then aliasViews().
using Placed = std::array<Sold, 4>;

struct ViewReport {
  const AliasView* view;
  int64_t cpu;  // in the view's unit
  int64_t memoryBytes;
};
// The canonical view first, then those of `on` (names; unknown ones are skipped). What is placed
// under a name that is no longer on still counts.
std::vector<ViewReport> aliasReports(const Sold& ledger, const Placed& placed,
                                     std::span<const std::string> on);
// Whether anything is placed under a name other than the canonical one.
bool isPlacedElsewhere(const Placed& placed);

}  // namespace mangrove::manager
