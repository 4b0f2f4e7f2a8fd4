#include "manager/controllers/timepolicy/by_loss.h"

#include "api/wire/decode.h"
#include "manager/controllers/timepolicy/leaving.h"
#include "stakes/stake.h"
#include "victims/order.h"

namespace mangrove::manager {
namespace {

victims::Amounts amountsOf(const CpuMemory& amount) {
  return {static_cast<double>(amount.cpu.milliValue()), static_cast<double>(amount.memory.value())};
}

}  // namespace

std::vector<LossLeaver> leaversByLoss(std::span<const api::Pod> pods, const CpuMemory& allowed,
                                      const stakes::EvictionTally& tally, WallTime now) {
  CpuMemory held;
  std::vector<victims::Candidate> candidates;
  for (const api::Pod& pod : pods) {
    const PodFacts facts = podFacts(pod);
    const CpuMemory holds = facts.sold ? holdings(*facts.sold) : CpuMemory{};
    held += holds;
    candidates.push_back(
        stakes::candidateOf(pod, {.evictedToday = tally.today(stakes::jobOf(pod), now)}));
    candidates.back().gang = stakes::strictGangOf(pod);
    candidates.back().frees = amountsOf(holds);
  }
  victims::Request request{
      .need = amountsOf(notNegative(held - allowed)), .evenIfShort = true, .now = now};
  std::vector<LossLeaver> out;
  for (const victims::Leaver& leaver : victims::chooseVictims(candidates, request).leavers)
    for (const size_t i : leaver.members) out.push_back({i, victims::sentence(leaver)});
  return out;
}

Result<std::vector<api::Pod>> holdersIn(std::string_view list, std::string_view node) {
  api::TextDoc doc;
  const auto view = doc.parse(list);
  if (!view) return view.error().in("pods of node {}", node);
  std::vector<api::Pod> out;
  for (json::View item : (*view)["items"].elements()) {
    auto pod = api::decode<api::Pod>(item);
    if (!pod) continue;  // what cannot be read holds nothing that we know of
    const PodFacts facts = podFacts(*pod);
    const bool holds = facts.counts && facts.sold && !pod->meta.isDeleting();
    if (holds && pod->nodeName.view() == node) out.push_back(std::move(*pod));
  }
  return out;
}

}  // namespace mangrove::manager
