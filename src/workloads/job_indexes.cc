#include "workloads/job_indexes.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "json/view.h"

namespace mangrove::workloads {
namespace {

constexpr int32_t kMostIndexes = 100'000;  // as many as Kubernetes allows a job
constexpr std::string_view kFailures = "batch.kubernetes.io/job-index-failure-count";
constexpr std::string_view kIgnoredFailures = "batch.kubernetes.io/job-index-ignored-failure-count";

int32_t numberOf(const api::Pod& pod, std::string_view annotation) {
  auto text = pod.meta.annotations.get(annotation);
  return text ? parseInt<int32_t>(*text).value_or(0) : 0;
}

bool isMet(json::View rule, const std::set<int32_t>& completed) {
  const auto listed = rule["succeededIndexes"].string();
  const std::set<int32_t> wanted = parseIndexes(listed.value_or(""));
  const auto done = listed ? std::count_if(wanted.begin(), wanted.end(),
                                           [&](int32_t one) { return completed.contains(one); })
                           : static_cast<std::ptrdiff_t>(completed.size());
  if (auto count = rule["succeededCount"].integer()) return done >= *count;
  return listed && done == static_cast<std::ptrdiff_t>(wanted.size());
}

}  // namespace

std::set<int32_t> parseIndexes(std::string_view text) {
  std::set<int32_t> out;
  for (std::string_view part : splitTrimmed(text, ',')) {
    const Halves ends = cut(part, '-');
    auto first = parseInt<int32_t>(ends.before);
    auto last = ends.found ? parseInt<int32_t>(ends.after) : first;
    if (!first || !last || *first < 0 || *last >= kMostIndexes) continue;
    for (int32_t i = *first; i <= *last; ++i) out.insert(i);
  }
  return out;
}

std::string formatIndexes(const std::set<int32_t>& indexes) {
  std::string out;
  for (auto at = indexes.begin(); at != indexes.end();) {
    const int32_t first = *at;
    int32_t last = first;
    while (++at != indexes.end() && *at == last + 1) ++last;
    const char* comma = out.empty() ? "" : ",";
    if (first == last)
      out += fmt::format("{}{}", comma, first);
    else
      out += fmt::format("{}{}{}{}", comma, first, last == first + 1 ? "," : "-", last);
  }
  return out;
}

int32_t completionIndex(const api::Pod& pod) {
  auto text = pod.meta.annotations.get(kCompletionIndex);
  return text ? parseInt<int32_t>(*text).value_or(-1) : -1;
}

IndexFailures failuresBefore(const api::Pod& pod) {
  return {numberOf(pod, kFailures), numberOf(pod, kIgnoredFailures)};
}

void writeFailures(json::Object& annotations, IndexFailures failures) {
  annotations[kFailures] = std::to_string(failures.counted);
  if (failures.ignored > 0) annotations[kIgnoredFailures] = std::to_string(failures.ignored);
}

std::optional<std::string> metSuccessPolicy(std::string_view policyText,
                                            const std::set<int32_t>& completed) {
  json::Doc doc;
  auto policy = policyText.empty() ? Result<json::View>(json::View()) : doc.parse(policyText);
  if (!policy) return std::nullopt;
  size_t index = 0;
  for (json::View rule : (*policy)["rules"].elements()) {
    if (isMet(rule, completed)) return fmt::format("Matched rules at index {}", index);
    ++index;
  }
  return std::nullopt;
}

}  // namespace mangrove::workloads
