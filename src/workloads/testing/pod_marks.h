#pragma once
// Pods of a table, one word each, and the revision that a first plan makes.
//
//   podsOf("web", "0+ 1- 2d", "web-6f", "old")    // web-0 ready, web-1 not, web-2 being deleted
//
// Marks: + ready, - running but not ready, f failed, d being deleted; an o behind it: of the old
// revision. A name may stand in front of the mark instead of a number. For tests.

#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "workloads/revisions.h"
#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {

inline std::shared_ptr<const api::Pod> podOf(std::string_view set, std::string_view word,
                                             std::string_view revision, std::string_view old,
                                             std::string_view node = "n") {
  const bool outdated = word.ends_with('o');
  if (outdated) word.remove_suffix(1);
  const char mark = word.back();
  word.remove_suffix(1);
  const std::string name = fmt::format("{}-{}", set, word);
  return object<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"d","uid":"{}","labels":{{"controller-revision-hash":"{}"}}{}}},"spec":{{"nodeName":"{}"}},"status":{{"phase":"{}","conditions":[{{"type":"Ready","status":"{}","lastTransitionTime":"2026-03-01T11:59:50Z"}}]}}}})",
      name, name, outdated ? old : revision,
      mark == 'd' ? R"(,"deletionTimestamp":"2026-03-01T11:59:00Z")" : "", node,
      mark == 'f' ? "Failed" : "Running", mark == '+' ? "True" : "False"));
}

inline Pods podsOf(std::string_view set, std::string_view words, std::string_view revision,
                   std::string_view old) {
  Pods out;
  for (std::string_view word : splitTrimmed(words, ' '))
    if (!word.empty()) out.push_back(podOf(set, word, revision, old));
  return out;
}

// What the first plan of a set writes down of its template.
inline Revisions revisionsIn(const Plan& first) {
  Revisions out;
  for (const auto& one : first.create)
    if (one.kind.kind == "ControllerRevision")
      out.push_back(object<ControllerRevision>(json::write(one.body)));
  EXPECT_EQ(out.size(), 1U);
  return out;
}

}  // namespace mangrove::workloads
