#include "base/text/nearest.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove {
namespace {

// One row of the classic dynamic programme (optimal string alignment): distances of a's first i
// letters to all beginnings of b, from the two rows before.
struct Rows {
  std::vector<size_t> beforeLast, last, current;
};

size_t fillRow(Rows& rows, const std::string& a, const std::string& b, size_t i) {
  rows.current[0] = i;
  size_t least = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    const size_t replace = rows.last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
    size_t best = std::min({replace, rows.last[j] + 1, rows.current[j - 1] + 1});
    const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
    if (swapped) best = std::min(best, rows.beforeLast[j - 2] + 1);
    rows.current[j] = best;
    least = std::min(least, best);
  }
  return least;
}

}  // namespace

size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  const std::string left = lower(a);
  const std::string right = lower(b);
  Rows rows;
  rows.beforeLast = rows.last = rows.current = std::vector<size_t>(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) rows.last[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    if (fillRow(rows, left, right, i) > limit) return limit + 1;
    std::swap(rows.beforeLast, rows.last);
    std::swap(rows.last, rows.current);
  }
  return std::min(rows.last[right.size()], limit + 1);
}

std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> known) {
  size_t limit = std::max<size_t>(1, name.size() / 3);
  std::optional<std::string_view> best;
  for (std::string_view candidate : known) {
    const size_t distance = editDistance(name, candidate, limit);
    if (distance > limit) continue;
    best = candidate;
    if (distance == 0) break;
    limit = distance - 1;
  }
  return best;
}

std::string didYouMean(std::string_view name, std::span<const std::string_view> known) {
  const std::optional<std::string_view> found = nearest(name, known);
  return found ? fmt::format(", did you mean '{}'?", *found) : std::string();
}

}  // namespace mangrove
