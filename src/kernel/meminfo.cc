#include "kernel/meminfo.h"

#include <algorithm>
#include <limits>

#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() / 1024;

// "MemTotal:  263432804 kB", "Node 0 MemTotal:  1048576 kB", "HugePages_Total:  0".
struct Entry {
  std::string_view key;
  std::optional<Bytes> amount;
};

std::optional<Entry> entryOf(std::string_view line) {
  if (line.starts_with("Node ")) {
    const size_t key = line.find(' ', 5);
    if (key == std::string_view::npos) return std::nullopt;
    line.remove_prefix(key + 1);
  }
  const Halves halves = cut(line, ':');
  if (!halves.found) return std::nullopt;
  Words words(halves.after);
  const auto value = words.number<int64_t>();
  Entry entry{trim(halves.before), std::nullopt};
  if (value && *value >= 0 && *value <= kLargest) entry.amount = Bytes{*value * 1024};
  return entry;
}

struct Slot {
  std::string_view key;
  Bytes MemInfo::*field;
};
constexpr Slot kSlots[] = {
    {"MemTotal", &MemInfo::total},
    {"MemFree", &MemInfo::free},
    {"Active(file)", &MemInfo::activeFile},
    {"Inactive(file)", &MemInfo::inactiveFile},
    {"SReclaimable", &MemInfo::slabReclaimable},
    {"SwapTotal", &MemInfo::swapTotal},
    {"SwapFree", &MemInfo::swapFree},
    {"Hugepagesize", &MemInfo::hugePageSize},
};

}  // namespace

Result<MemInfo> parseMemInfo(std::string_view text) {
  MemInfo info;
  bool total = false, free = false;
  for (Lines lines(text); lines.next();) {
    const auto entry = entryOf(lines.line);
    if (!entry) continue;
    const auto* slot = std::find_if(std::begin(kSlots), std::end(kSlots),
                                    [&](const Slot& s) { return s.key == entry->key; });
    const bool known = slot != std::end(kSlots);
    if (!known && entry->key != "MemAvailable") continue;
    if (!entry->amount) return invalid("meminfo line '{}': want a number of kB", lines.line);
    if (!known) {
      info.available = *entry->amount;
      continue;
    }
    info.*(slot->field) = *entry->amount;
    total |= entry->key == "MemTotal";
    free |= entry->key == "MemFree";
  }
  if (!total || !free) return invalid("meminfo has no {}", total ? "MemFree" : "MemTotal");
  if (info.free > info.total)
    return invalid("meminfo: MemFree {} is above MemTotal {}", info.free.v, info.total.v);
  return info;
}

Result<Bytes> usedWithoutCache(const MemInfo& info) {
  if (!info.available) return invalid("meminfo has no MemAvailable");
  if (*info.available > info.total)
    return invalid("meminfo: MemAvailable {} is above MemTotal {}", info.available->v,
                   info.total.v);
  return info.total - *info.available;
}

Bytes usedWithCache(const MemInfo& info) {
  return info.total - info.free;
}

Bytes numaUsed(const MemInfo& info) {
  const Bytes spare = info.free + info.activeFile + info.inactiveFile + info.slabReclaimable;
  return std::max(Bytes{0}, info.total - spare);
}

Bytes usedWithHotCache(const MemInfo& info, Bytes cold) {
  return std::max(Bytes{0}, usedWithCache(info) - cold);
}

}  // namespace mangrove::kernel
