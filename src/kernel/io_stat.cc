#include "kernel/io_stat.h"

#include <array>

namespace mangrove::kernel {
namespace {

template <size_t N>
bool numbers(Words& words, std::array<uint64_t, N>& out) {
  for (uint64_t& value : out) {
    const auto one = words.number<uint64_t>();
    if (!one) return false;
    value = *one;
  }
  return true;
}

}  // namespace

// major minor name reads merged sectors ms writes merged sectors ms inflight ms …
Result<DiskTotals> parseDiskLine(std::string_view line) {
  Words words(line);
  DiskTotals disk;
  const auto major = words.number<int>(), minor = words.number<int>();
  std::array<uint64_t, 10> n{};
  if (!major || !minor || !words.next())
    return invalid("diskstats line '{}': want major, minor and a name", line);
  disk.major = *major, disk.minor = *minor, disk.name = words.word;
  if (!numbers(words, n)) return invalid("diskstats line '{}': want 10 counters", line);
  disk.reads = n[0], disk.readSectors = n[2], disk.writes = n[4], disk.writeSectors = n[6];
  disk.inFlight = n[8], disk.busyMs = n[9];
  return disk;
}

// name: rxBytes packets errs drop fifo frame compressed multicast txBytes packets errs drop …
Result<NetTotals> parseNetLine(std::string_view line) {
  const Halves halves = cut(line, ':');
  Words words(halves.after);
  std::array<uint64_t, 12> n{};
  if (!halves.found || !numbers(words, n))
    return invalid("net/dev line '{}': want a name and 12 counters", line);
  NetTotals net;
  net.name = trim(halves.before);
  net.rxBytes = n[0], net.rxPackets = n[1], net.rxDropped = n[3];
  net.txBytes = n[8], net.txPackets = n[9], net.txDropped = n[11];
  return net;
}

}  // namespace mangrove::kernel
