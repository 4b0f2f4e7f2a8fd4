#include "workloads/job_indexes.h"

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::workloads {
namespace {

constexpr int32_t kMostIndexes = 100'000;  // as many as Kubernetes allows a job

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

}  // namespace mangrove::workloads
