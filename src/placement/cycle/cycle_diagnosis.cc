// Why a cycle found no node.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "placement/cycle/cycle.h"

namespace mangrove::placement {

// The refusal that Kubernetes would have met first: filters stop at the first one, in their order.
Verdict Cycle::firstRefusal(Row row) {
  Verdict first = state_->verdicts()[row];
  for (const auto& part : state_->parts()) {
    if (!part.ready.filters || part.filterAt == kNoPlugin) continue;
    if (!first.fits() && first.plugin < part.filterAt) continue;
    Verdict verdict = part.part->verdict(row);
    if (verdict.fits()) continue;
    verdict.plugin = part.filterAt;
    first = verdict;
  }
  return first.fits() ? besideNominated(row) : first;
}

std::vector<std::pair<Row, Cycle::Refusal>> Cycle::refusals() {
  std::vector<std::pair<Row, Refusal>> out;
  for (Row row : narrowed_ ? *narrowed_ : cluster_.table.liveRows()) {
    const Verdict verdict = firstRefusal(row);
    if (verdict.fits()) continue;
    const Plugin& plugin = *profile_.layout().filters[verdict.plugin].plugin;
    out.push_back(
        {row,
         {std::string(plugin.name()), join(plugin.reasons(state_->plan(), verdict.why), ", "),
          verdict.code != Code::kUnresolvable}});
  }
  return out;
}

void Cycle::askForAdvice() {
  // The nodes it wants by name are gone, and with them every hope.
  if (narrowed_ && narrowed_->empty())
    diagnosis_.suggest(
        suggestion::kEvictWorkloadSelf,
        fmt::format("none of the nodes that plugin(s) [{}] limit the pod to exists", narrowedBy_));
  for (const std::string& name : diagnosis_.plugins)
    if (const Plugin* plugin = diagnosis_.suggestion ? nullptr : profile_.find(name))
      if (auto advice = plugin->advise(state_->plan()))
        diagnosis_.suggest(advice->type, std::move(advice->message));
}

void Cycle::diagnose() {
  struct Group {
    Verdict verdict;
    size_t nodes = 0;
  };
  std::vector<Group> groups;  // few: neighbours in the list are refused for the same reason
  const auto& rows = narrowed_ ? *narrowed_ : cluster_.table.liveRows();
  const Verdict* local = state_->verdicts().data();
  const bool across = state_->filtersAcross();
  const auto refusal = [&](Row row) -> Verdict {
    if (options_.besideOnly && cluster_.isNominated(row)) return besideNominated(row);
    if (across) return firstRefusal(row);
    if (!local[row].fits()) return local[row];
    if (!cluster_.isNominated(row)) return {};
    const Verdict& known = state_->crowded(row);
    return row == ownRow_ || known.code == Code::kError || hasKin(row) ? besideNominated(row)
                                                                       : known;
  };
  Verdict current;
  size_t run = 0, helped = 0;
  const auto endRun = [&] {
    if (run == 0) return;
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const Group& group) { return group.verdict == current; });
    if (at == groups.end()) at = groups.insert(at, {current, 0});
    at->nodes += std::exchange(run, 0);
  };
  auto& mayPreempt = diagnosis_.mayPreempt;
  mayPreempt.resize(rows.size());
  for (Row row : rows) {
    const Verdict verdict = refusal(row);
    if (verdict.fits()) continue;
    mayPreempt[helped] = row;
    helped += verdict.code == Code::kUnschedulable;
    if (!(verdict == current)) endRun();
    current = verdict;
    run++;
  }
  endRun();
  mayPreempt.resize(helped);
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::tie(a.verdict.plugin, a.verdict.why) < std::tie(b.verdict.plugin, b.verdict.why);
  });
  for (const auto& [verdict, nodes] : groups) {
    const Plugin& plugin = *profile_.layout().filters[verdict.plugin].plugin;
    const auto reasons = plugin.reasons(state_->plan(), verdict.why);
    for (const auto& reason : reasons) diagnosis_.reasons[reason] += nodes;
    diagnosis_.plugins.insert(std::string(plugin.name()));
    diagnosis_.groups.push_back({std::string(plugin.name()), join(reasons, ", "),
                                 verdict.code != Code::kUnresolvable, nodes});
  }
  if (narrowed_ && rows.size() < diagnosis_.nodes)
    diagnosis_.reasons[fmt::format("node(s) didn't satisfy plugin(s) [{}]", narrowedBy_)] +=
        diagnosis_.nodes - rows.size();
}

}  // namespace mangrove::placement
