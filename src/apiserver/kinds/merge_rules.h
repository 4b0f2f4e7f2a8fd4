#pragma once
// The kind tables seen by strategic merge patches: which lists of a built-in kind are merged and by
// which key. Made once from the same tables as everything else, so that patches cannot disagree
// with apply and explain.
//
//   if (const json::MergeSchema* rules = mergeRulesOf(kind)) applyStrategicPatch(object, patch,
//   *rules);
//
// Immutable, lives as long as the process; any thread.

#include "apiserver/kinds/catalogue.h"
#include "json/merge_schema.h"

namespace mangrove::apiserver {

// nullptr for custom kinds: strategic patches of those are refused (415).
const json::MergeSchema* mergeRulesOf(const KindInfo& kind);

}  // namespace mangrove::apiserver
