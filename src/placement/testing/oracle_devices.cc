#include "placement/testing/oracle_devices.h"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

namespace mangrove::placement::oracle {
namespace {

using Counts = std::map<std::string, int64_t>;
const std::string kCore = "koordinator.sh/gpu-core", kRatio = "koordinator.sh/gpu-memory-ratio",
                  kMemory = "koordinator.sh/gpu-memory", kRdma = "koordinator.sh/rdma";

struct One {
  std::string type;
  int minor = 0;
  Counts total, used;
  bool placed = false;
  int numa = 0;
  std::string pcie;
  std::set<std::string> functions, taken;
  std::string given;  // the function that goes with it

  bool inUse() const {
    return std::any_of(used.begin(), used.end(), [](const auto& u) { return u.second != 0; });
  }
  bool fits(const Counts& each) const {
    bool any = false;
    for (const auto& [name, amount] : total) {
      const int64_t left = amount - (used.contains(name) ? used.at(name) : 0);
      any = any || left > 0;
      if (each.contains(name) && each.at(name) > std::max<int64_t>(0, left)) return false;
      // What is asked for in percent takes bytes.
      if (name == kMemory && each.contains(kRatio) && each.at(kRatio) * amount / 100 > left)
        return false;
    }
    return any;
  }
  int64_t score(const Counts& each, bool most) const {
    int64_t sum = 0, n = 0;
    for (const auto& name : {kRatio, kMemory, kRdma}) {
      if (!total.contains(name) || total.at(name) == 0) continue;
      const int64_t then =
          (used.contains(name) ? used.at(name) : 0) + (each.contains(name) ? each.at(name) : 0);
      n++;
      if (then <= total.at(name))
        sum += (most ? then : total.at(name) - then) * 100 / total.at(name);
    }
    return n == 0 ? 0 : sum / n;
  }
};

std::vector<One> readAll(const api::Device& device,
                         const std::vector<api::DeviceAllocations>& held) {
  std::vector<One> out;
  for (const auto& info : device.spec.devices) {
    One one;
    one.type = info.type.str();
    one.minor = info.minor.value_or(0);
    if (info.health)
      for (const auto& entry : info.resources) one.total[entry.name.str()] = entry.amount.value();
    if (info.topology) {
      one.placed = true;
      one.numa = info.topology->nodeId;
      one.pcie = info.topology->pcieId;
    }
    for (const auto& group : info.vfGroups)
      for (const auto& function : group.vfs) one.functions.insert(function.busId);
    for (const auto& pod : held)
      for (const auto& [type, list] : pod)
        for (const auto& part : list) {
          if (type != one.type || part.minor != one.minor) continue;
          for (const auto& entry : part.resources)
            one.used[entry.name.str()] += entry.amount.value();
          if (part.extension)
            for (const auto& function : part.extension->vfs) one.taken.insert(function.busId);
        }
    out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const One& a, const One& b) {
    return std::tie(a.type, a.minor) < std::tie(b.type, b.minor);
  });
  return out;
}

using Ones = std::vector<One>;
using Place = std::pair<int, std::string>;
std::set<Place> placesOf(const Ones& cards) {
  std::set<Place> out;
  for (const One& one : cards)
    if (one.placed) out.insert({one.numa, one.pcie});
  return out;
}

Ones ofType(const Ones& all, const std::string& type) {
  Ones out;
  for (const One& one : all)
    if (one.type == type) out.push_back(one);
  return out;
}

Ones seenBy(const Ones& all, const CardsWanted& wanted, bool own) {
  Ones out;
  for (const One& one : all) {
    if (wanted.numa && (!one.placed || (one.numa != -1 && !wanted.numa->contains(one.numa))))
      continue;
    const bool busy = own && one.placed && std::any_of(all.begin(), all.end(), [&](const One& o) {
                        return o.placed && o.inUse() && o.numa == one.numa && o.pcie == one.pcie;
                      });
    if (!busy) out.push_back(one);
  }
  return out;
}

std::optional<Ones> inOrder(const Ones& seen, const Counts& each, size_t least, size_t most,
                            const CardsWanted& wanted, bool functions,
                            const std::set<Place>& near) {
  Ones rest = seen, out;
  std::stable_sort(rest.begin(), rest.end(), [&](const One& a, const One& b) {
    return a.score(each, wanted.most) > b.score(each, wanted.most);
  });
  // One of each near place, then the second of each; the others at the end.
  Ones sorted;
  while (true) {
    std::set<Place> now;
    Ones later;
    for (const One& one : rest) {
      const Place place{one.numa, one.pcie};
      if (one.placed && near.contains(place) && now.insert(place).second)
        sorted.push_back(one);
      else
        later.push_back(one);
    }
    rest = later;
    if (now.empty()) break;
  }
  sorted.insert(sorted.end(), rest.begin(), rest.end());
  for (One one : sorted) {
    if (out.size() == most) break;
    if (!one.fits(each)) continue;
    if (functions) {
      for (const auto& busId : one.functions)
        if (!one.taken.contains(busId) && one.given.empty()) one.given = busId;
      if (one.given.empty()) continue;
    }
    out.push_back(one);
  }
  if (out.size() < least) return std::nullopt;
  return out;
}

// nullopt: partitions do not decide; empty: none can be had.
std::optional<Ones> halvesOf(const Ones& all, const Ones& seen, size_t n, bool honor) {
  const auto usedOrIn = [&](int minor, int from, size_t size) {
    if (minor >= from && minor < from + static_cast<int>(size)) return true;
    return std::any_of(all.begin(), all.end(),
                       [&](const One& one) { return one.minor == minor && one.inUse(); });
  };
  if (n != 1 && n != 2 && n != 4 && n != 8) return honor ? std::optional(Ones()) : std::nullopt;
  int64_t best = -1;
  Ones chosen;
  for (int from = 0; from < 8; from += static_cast<int>(n)) {
    Ones cards;
    for (const One& one : seen)
      if (one.minor >= from && one.minor < from + static_cast<int>(n) && !one.total.empty() &&
          !one.inUse())
        cards.push_back(one);
    if (cards.size() != n) continue;
    int64_t left = 0;
    for (const auto& [size, weight] : {std::pair<size_t, int64_t>{8, 10000}, {4, 100}, {2, 1}}) {
      if (size < n) continue;
      for (int start = 0; start < 8; start += static_cast<int>(size)) {
        bool free = true;
        for (int minor = start; minor < start + static_cast<int>(size); minor++)
          free = free && !usedOrIn(minor, from, n);
        left += free ? weight : 0;
      }
    }
    if (left > best) best = left, chosen = cards;
  }
  if (chosen.empty() && !honor) return std::nullopt;
  return chosen;
}

std::optional<Ones> closeTogether(const Ones& seen, size_t n, const Counts& each,
                                  const CardsWanted& wanted) {
  using Merit = std::tuple<int, int, int64_t>;
  std::optional<Merit> best;
  Ones chosen;
  const auto anyUsed = [](const Ones& cards) {
    return std::any_of(cards.begin(), cards.end(), [](const One& one) { return one.inUse(); });
  };
  const auto part = [&](auto is) {
    Ones out;
    for (const One& one : seen)
      if (is(one)) out.push_back(one);
    return out;
  };
  const auto consider = [&](int level, int broken, const Ones& cards) {
    if (level < wanted.scope) return;
    Ones fitting;
    for (const One& one : cards)
      if (one.fits(each)) fitting.push_back(one);
    if (fitting.empty() || fitting.size() < n) return;
    if (wanted.shared)
      std::stable_sort(fitting.begin(), fitting.end(), [&](const One& a, const One& b) {
        return a.score(each, wanted.most) > b.score(each, wanted.most);
      });
    const Merit merit{level, broken, wanted.shared ? fitting[0].score(each, wanted.most) : 0};
    if (best && merit <= *best) return;
    best = merit;
    chosen.assign(fitting.begin(), fitting.begin() + static_cast<long>(n));
  };
  const int whole = anyUsed(seen);
  consider(1, whole, seen);
  std::set<int> numas;
  for (const One& one : seen) numas.insert(one.numa);
  for (int numa : numas) {
    const Ones cards = part([&](const One& one) { return one.numa == numa; });
    consider(2, whole + anyUsed(cards), cards);
  }
  for (const Place& place : placesOf(seen)) {
    const Ones numa = part([&](const One& one) { return one.numa == place.first; });
    const Ones cards =
        part([&](const One& one) { return one.numa == place.first && one.pcie == place.second; });
    consider(3, whole + anyUsed(numa) + anyUsed(cards), cards);
  }
  if (chosen.empty()) return std::nullopt;
  return chosen;
}

std::optional<Ones> gpusFor(const Ones& all, bool halves, bool honor, const CardsWanted& wanted) {
  const Ones seen = seenBy(all, wanted, wanted.own);
  Counts each{{kCore, wanted.core}, {kRatio, wanted.ratio}};
  if (wanted.bytes > 0) each = {{kCore, wanted.core}, {kMemory, int64_t{wanted.bytes} << 30}};
  const auto n = static_cast<size_t>(wanted.gpus);
  if (halves && !wanted.shared) {
    if (auto decided = halvesOf(all, seen, n, honor))
      return decided->empty() ? std::nullopt : decided;
  }
  if (wanted.shared && n > 1) {
    if (wanted.scope != 0) return std::nullopt;
    return inOrder(seen, each, n, n, wanted, false, {});
  }
  if (std::all_of(all.begin(), all.end(), [](const One& one) { return one.placed; }))
    return closeTogether(seen, n, each, wanted);
  if (wanted.scope != 0) return std::nullopt;
  return inOrder(seen, each, n, n, wanted, false, {});
}

std::string textOf(std::string type, Ones cards) {
  std::sort(cards.begin(), cards.end(),
            [](const One& a, const One& b) { return a.minor < b.minor; });
  for (const One& one : cards) {
    type += fmt::format(" {}", one.minor);
    if (!one.given.empty()) type += fmt::format("({})", one.given);
  }
  return type;
}

}  // namespace

std::string chooseCards(const api::Device& device, bool halves, bool honor,
                        const std::vector<api::DeviceAllocations>& held,
                        const CardsWanted& wanted) {
  const Ones all = readAll(device, held);
  const Ones gpus = ofType(all, "gpu"), nics = ofType(all, "rdma");
  std::string out;
  std::set<Place> near;
  if (wanted.gpus > 0) {
    if (gpus.empty()) return "no";
    const auto got = gpusFor(gpus, halves, honor, wanted);
    if (!got) return "no";
    near = placesOf(*got);
    out = textOf("gpu", *got);
  }
  if (wanted.nics == 0) return out;
  if (nics.empty()) return "no";
  if (wanted.functions &&
      std::all_of(nics.begin(), nics.end(), [](const One& one) { return one.functions.empty(); }))
    return "no";
  const bool follows = wanted.joint && wanted.gpus > 0;
  const auto n = static_cast<size_t>(wanted.nics);
  const size_t most = follows ? std::max(n, near.size()) : n;
  const size_t least = follows && wanted.samePcie ? most : n;
  const auto got = inOrder(seenBy(nics, wanted, false), {{kRdma, wanted.nicShare}}, least, most,
                           wanted, wanted.functions, follows ? near : std::set<Place>());
  if (!got) return "no";
  if (follows && wanted.samePcie && placesOf(*got) != near) return "no";
  return out + (out.empty() ? "" : "; ") + textOf("rdma", *got);
}

}  // namespace mangrove::placement::oracle
