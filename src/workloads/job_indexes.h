#pragma once
// The indexes of an Indexed Job: lists of them as its status writes them ("0,2-4"), how often one has
// failed, and whether enough of them are done. Pure functions, any thread.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/pod/pod.h"
#include "json/value.h"

namespace mangrove::workloads {

std::set<int32_t> parseIndexes(std::string_view text);  // parts that are no range are passed over
std::string formatIndexes(const std::set<int32_t>& indexes);

inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
int32_t completionIndex(const api::Pod& pod);  // -1: none

// How often an index failed before this pod, as the pod's annotations say: with backoffLimitPerIndex
// that is the only place where it is written down.
struct IndexFailures {
  int32_t counted = 0, ignored = 0;
  int32_t all() const { return counted + ignored; }
};
IndexFailures failuresBefore(const api::Pod& pod);
void writeFailures(json::Object& annotations, IndexFailures failures);

// Which rule of spec.successPolicy the completed indexes meet, in Kubernetes' words; nullopt: none.
std::optional<std::string> metSuccessPolicy(std::string_view policyText,
                                            const std::set<int32_t>& completed);

}  // namespace mangrove::workloads
