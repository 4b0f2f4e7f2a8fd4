#include "manager/controllers/noderesource/alias_views.h"

#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

int64_t leftFor(size_t view, int64_t ledger, const Placed& placed, int64_t Sold::*part) {
  int64_t left = ledger;
  for (size_t i = 0; i < placed.size(); i++)
    if (i != view) left = (Bytes{left} - Bytes{placed[i].*part}).v;
  return std::max<int64_t>(left, 0);
}

ViewReport reportOf(size_t index, const AliasView& view, const Sold& ledger, const Placed& placed) {
  return {&view, leftFor(index, ledger.milliCpu, placed, &Sold::milliCpu) / view.milliPerUnit,
          leftFor(index, ledger.memoryBytes, placed, &Sold::memoryBytes)};
}

}  // namespace

const AliasView& canonicalView() {
  static constexpr AliasView kView{"koordinator", api::resource::kBatchCpu,
                                   api::resource::kBatchMemory, 1};
  return kView;
}

const std::array<AliasView, 3>& aliasViews() {
  static constexpr std::array<AliasView, 3> kViews = {{
      {"crane", "gocrane.io/cpu", "gocrane.io/memory", 1000},
      {"katalyst", "resource.katalyst.kubewharf.io/reclaimed_millicpu",
       "resource.katalyst.kubewharf.io/reclaimed_memory", 1},
      {"caster", "caster.io/colocation-cpu", "caster.io/colocation-memory", 1},
  }};
  return kViews;
}

std::vector<ViewReport> aliasReports(const Sold& ledger, const Placed& placed,
                                     std::span<const std::string> on) {
  std::vector<ViewReport> out = {reportOf(0, canonicalView(), ledger, placed)};
  for (size_t i = 0; i < aliasViews().size(); i++)
    if (std::find(on.begin(), on.end(), aliasViews()[i].name) != on.end())
      out.push_back(reportOf(i + 1, aliasViews()[i], ledger, placed));
  return out;
}

bool isPlacedElsewhere(const Placed& placed) {
  return std::any_of(placed.begin() + 1, placed.end(),
                     [](const Sold& part) { return part != Sold{}; });
}

}  // namespace mangrove::manager
