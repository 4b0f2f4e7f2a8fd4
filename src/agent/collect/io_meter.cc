#include "agent/collect/io_meter.h"

#include <algorithm>

#include "kernel/io_stat.h"

namespace mangrove::agent {
namespace {

constexpr double kSector = 512;
// A hundred times what the fastest device of today does: beyond, a number is wrong.
constexpr double kMostBytesPerSecond = 1e13;

bool plausible(const std::vector<double>& rates) {
  return std::all_of(rates.begin(), rates.end(), [](double r) { return r < kMostBytesPerSecond; });
}

bool endsInDigit(std::string_view name) {
  return !name.empty() && name.back() >= '0' && name.back() <= '9';
}

}  // namespace

bool isWholeDisk(std::string_view name) {
  for (std::string_view memory : {"loop", "ram", "zram", "sr", "fd"})
    if (name.starts_with(memory)) return false;
  // nvme0n1 and mmcblk0 are disks, nvme0n1p2 and mmcblk0p1 parts; dm-0 and md0 are disks.
  if (name.starts_with("nvme") || name.starts_with("mmcblk") || name.starts_with("nbd")) {
    const size_t part = name.rfind('p');
    return part == std::string_view::npos || part + 1 >= name.size() ||
           !endsInDigit(name.substr(part - 1, 1)) ||
           name.find_first_not_of("0123456789", part + 1) != std::string_view::npos;
  }
  if (name.starts_with("dm-") || name.starts_with("md")) return true;
  return !endsInDigit(name);  // sda1, vda2, xvda1
}

IoMeter::IoMeter(const Machine& machine)
    : diskstats_(machine.mounts().procFile("diskstats")),
      // Of process 1: our own might be those of a container.
      netdev_(machine.mounts().procFile("1/net/dev")) {}

std::vector<double> IoMeter::grown(Known& known, std::string_view name, Totals now) {
  auto it = known.find(name);
  if (it == known.end()) it = known.emplace(std::string(name), Totals{}).first;
  const Totals before = std::exchange(it->second, now);
  if (before.values.size() != now.values.size() || now.at <= before.at) return {};
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  std::vector<double> rates;
  for (size_t i = 0; i < now.values.size(); ++i) {
    if (now.values[i] < before.values[i]) return {};
    rates.push_back(static_cast<double>(now.values[i] - before.values[i]) / seconds);
  }
  return rates;
}

void IoMeter::forgetOlder(Known& known, MonoTime at) {
  std::erase_if(known, [&](const auto& one) { return one.second.at < at; });
}

void IoMeter::sampleDisks(Reader& reader, MonoTime at, IoLook& out, MeterTroubles& troubles) {
  const auto text = reader.read(diskstats_);
  if (!text) return;
  std::vector<DiskRates> disks;
  bool any = false;
  const auto ok = kernel::eachDisk(*text, [&](const kernel::DiskTotals& d) {
    any = true;
    if (!isWholeDisk(d.name)) return;
    const auto r =
        grown(disks_, d.name, {{d.readSectors, d.writeSectors, d.reads, d.writes, d.busyMs}, at});
    if (r.empty()) return;
    if (!plausible(r)) return void(++troubles.implausible);
    disks.push_back({std::string(d.name), r[0] * kSector, r[1] * kSector, r[2], r[3],
                     std::min(1.0, r[4] / 1000)});
  });
  if (!ok || !any) {
    ++troubles.unreadable;
    disks_.clear();
    return;
  }
  out.disks = std::move(disks);
  forgetOlder(disks_, at);
}

void IoMeter::sampleInterfaces(Reader& reader, MonoTime at, IoLook& out, MeterTroubles& troubles) {
  const auto text = reader.read(netdev_);
  if (!text) return;
  std::vector<NetRates> interfaces;
  bool any = false;
  const auto ok = kernel::eachInterface(*text, [&](const kernel::NetTotals& n) {
    any = true;
    if (n.name == "lo") return;
    const auto r =
        grown(interfaces_, n.name,
              {{n.rxBytes, n.txBytes, n.rxPackets, n.txPackets, n.rxDropped, n.txDropped}, at});
    if (r.empty()) return;
    if (!plausible(r)) return void(++troubles.implausible);
    interfaces.push_back({std::string(n.name), r[0], r[1], r[2], r[3], r[4] + r[5]});
  });
  if (!ok || !any) {
    ++troubles.unreadable;
    interfaces_.clear();
    return;
  }
  out.interfaces = std::move(interfaces);
  forgetOlder(interfaces_, at);
}

void IoMeter::sample(Reader& reader, const Clock& clock, IoLook& out, MeterTroubles& troubles) {
  out = {};
  const MonoTime at = clock.mono();
  sampleDisks(reader, at, out, troubles);
  sampleInterfaces(reader, at, out, troubles);
}

}  // namespace mangrove::agent
