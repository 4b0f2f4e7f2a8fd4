// memory.numa_stat, split from cgroup_stat.cc because its two formats have little in common.
#include <algorithm>
#include <limits>

#include "kernel/cgroup_stat.h"
#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

constexpr int64_t kReferencePage = 4096;  // by which the reference turns v2's bytes into pages

struct NodeValue {
  size_t node = 0;
  int64_t value = 0;
};

Result<NodeValue> nodeValue(std::string_view word) {
  const Halves halves = cut(word, '=');
  const auto node =
      halves.before.starts_with('N') ? parseInt<size_t>(halves.before.substr(1)) : std::nullopt;
  const auto value = parseInt<int64_t>(halves.after);
  if (!halves.found || !node || !value || *value < 0)
    return invalid("numa_stat: '{}' is not N<node>=<number>", word);
  if (*node >= kMaxNumaNodes)
    return invalid("numa_stat: node {} is above {}", *node, kMaxNumaNodes - 1);
  return NodeValue{*node, *value};
}

// Calls put(node, value) for each "N<i>=<n>" of the rest of a line; returns one more than the
// largest node. Without `gaps` nodes must come as 0, 1, 2 …
template <class Put>
Result<size_t> eachNode(Words& words, bool gaps, Put put) {
  size_t count = 0;
  while (words.next()) {
    auto one = nodeValue(words.word);
    if (!one) return pass(one.error());
    if (!gaps && one->node != count)
      return invalid("numa_stat: found node {}, want {}: ids must run from 0", one->node, count);
    put(one->node, one->value);
    count = std::max(count, one->node + 1);
  }
  return count;
}

Bytes pagesOf(int64_t count, Bytes pageSize) {
  return pageSize * count;
}

// "total=42227 N0=42184 N1=43"; further rows alike, some with the prefix hierarchical_.
Result<NumaStat> parseV1(std::string_view text, Bytes pageSize) {
  NumaStat stat;
  bool first = true;
  for (Lines lines(text); lines.next(); first = false) {
    Words words(lines.line);
    if (!words.next()) continue;
    const std::string_view row = cut(words.word, '=').before;
    if (first && row != "total") return invalid("numa_stat begins '{}', want 'total'", row);
    Bytes NumaShare::*field = row.ends_with("anon")          ? &NumaShare::anon
                              : row.ends_with("unevictable") ? &NumaShare::unevictable
                                                             : nullptr;
    if (!first && field == nullptr) continue;
    auto count = eachNode(words, true, [&](size_t node, int64_t pages) {
      stat.nodes[node].present = true;
      if (first)
        stat.nodes[node].pages = pages;
      else
        stat.nodes[node].*field = pagesOf(pages, pageSize);
    });
    if (!count) return pass(count.error());
    if (first) stat.count = *count;
  }
  if (first) return invalid("numa_stat is empty");
  return stat;
}

// "anon N0=12345 N1=67890", "file N0=…", … in bytes.
Result<NumaStat> parseV2(std::string_view text) {
  NumaStat stat;
  int line = 0;
  for (Lines lines(text); lines.next(); ++line) {
    Words words(lines.line);
    if (!words.next()) continue;
    const std::string_view row = words.word;
    if (line == 0 && row != "anon") return invalid("numa_stat begins '{}', want 'anon'", row);
    if (line == 1 && row != "file") return invalid("numa_stat goes on '{}', want 'file'", row);
    if (line > 1 && row != "unevictable") continue;
    auto count = eachNode(words, false, [&](size_t node, int64_t bytes) {
      stat.nodes[node].present = true;
      if (line <= 1) stat.nodes[node].pages += bytes / kReferencePage;
      if (line == 0) stat.nodes[node].anon = Bytes{bytes};
      if (line > 1) stat.nodes[node].unevictable = Bytes{bytes};
    });
    if (!count) return pass(count.error());
    if (line == 0) stat.count = *count;
    if (line == 1 && *count != stat.count)
      return invalid("numa_stat: {} nodes in 'anon', {} in 'file'", stat.count, *count);
  }
  if (line < 2) return invalid("numa_stat has {} lines, want 'anon' and 'file'", line);
  return stat;
}

}  // namespace

Result<NumaStat> parseNumaStat(std::string_view text, CgroupVersion version, Bytes pageSize) {
  return version == CgroupVersion::kV1 ? parseV1(text, pageSize) : parseV2(text);
}

}  // namespace mangrove::kernel
