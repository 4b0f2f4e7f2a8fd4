// What reports cost an API server: patches and bytes in an hour of a node with a hundred pods,
// against a whole status every minute. Prints the figures that docs/agent.md quotes.
#include <cmath>

#include <gtest/gtest.h>

#include "agent/report/reporter.h"
#include "base/number/rng.h"
#include "client/testing/scripted_client.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

constexpr int kPods = 100;

std::unique_ptr<Machine> machineWith32Cpus(kernel::FakeRoot& fs) {
  fs.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  fs.write("sys/devices/system/cpu/online", "0-31\n");
  fs.write("sys/devices/system/cpu/possible", "0-31\n");
  for (int i = 0; i < 32; ++i) {
    const std::string dir = fmt::format("sys/devices/system/cpu/cpu{}/topology/", i);
    fs.write(dir + "core_id", fmt::format("{}\n", i));
    fs.write(dir + "physical_package_id", "0\n");
  }
  return *Machine::open({.root = fs.path(), .live = false});
}

struct Hour {
  uint64_t patches = 0, rounds = 0;
  uint64_t bytes = 0, wholeBytes = 0;
};

// A node whose pods use `load(pod, second)` cores.
template <class Load>
Hour hourOf(Load load) {
  kernel::FakeRoot fs;
  const auto machine = machineWith32Cpus(fs);
  VirtualClock clock{WallTime(1'750'000'000s)};
  clock.advance(1000s);
  client::testing::ScriptedClient api;
  Mailbox owner;
  History history = History::open({}, clock.mono());
  PodBook book;
  std::vector<Shelf::Id> tracks;
  for (int i = 0; i < kPods; ++i) {
    const std::string uid = fmt::format("uid-{:03}", i);
    json::Doc doc;
    const auto view = doc.parse(fmt::format(
        R"({{"metadata":{{"name":"web-7c9d8b5f4-{:03}","namespace":"shop","uid":"{}"}},)"
        R"("spec":{{"nodeName":"n1","containers":[]}},"status":{{"qosClass":"Burstable"}}}})",
        i, uid));
    book.put(std::make_shared<const api::Pod>(*api::decode<api::Pod>(*view)));
    tracks.push_back(history.pods().track(uid));
  }
  Reporter reporter({api, owner, clock, "n1"});
  auto metric = std::make_shared<api::NodeMetric>();
  reporter.follow(metric);
  Look look;
  look.machine = machine.get();
  look.book = &book;
  look.history = &history;
  look.node.memoryTotal = kGiB * 128;
  Hour out;
  // The first half hour fills the windows and does not count.
  ReporterStats before;
  for (int second = 0; second < 5400; ++second) {
    clock.advance(1s);
    if (second == 1800) before = reporter.stats();
    look.at = clock.mono();
    look.wall = clock.wall();
    history.begin(look.at);
    double cpu = 2, memory = 8e9;
    for (int i = 0; i < kPods; ++i) {
      const auto [cores, bytes] = load(i, second);
      history.pods().put(tracks[i], pod_column::kCpu, cores);
      history.pods().put(tracks[i], pod_column::kMemory, bytes);
      cpu += cores;
      memory += bytes;
    }
    history.node().put(history.nodeTrack(), node_column::kCpu, cpu);
    history.node().put(history.nodeTrack(), node_column::kMemory, memory);
    history.node().put(history.nodeTrack(), node_column::kSystemCpu, 2);
    history.node().put(history.nodeTrack(), node_column::kSystemMemory, 8e9);
    look.node.usage.cpu = cpu;
    look.node.usage.memory = Bytes{static_cast<int64_t>(memory)};
    reporter.tick(look, [] { return Predicted{}; });
    while (!api.pending.empty()) {
      api.next();
      api.reply(200, "{}");
    }
    owner.drain();
  }
  const ReporterStats& now = reporter.stats();
  out.patches = now.sent - before.sent;
  out.rounds = now.rounds - before.rounds;
  out.bytes = now.bytesSent - before.bytesSent;
  out.wholeBytes = now.bytesWhole - before.bytesWhole;
  return out;
}

void print(const char* what, const Hour& hour) {
  std::printf(
      "%-28s %3lu patches an hour instead of 60, %4lu kB instead of %4lu kB\n", what,
      static_cast<unsigned long>(hour.patches), static_cast<unsigned long>(hour.bytes / 1000),
      static_cast<unsigned long>(hour.wholeBytes * 60 / std::max<uint64_t>(hour.rounds, 1) / 1000));
}

TEST(ReportCost, OfAnHour) {
  Rng rng(3);
  const auto noise = [&](double share) { return 1 + share * (2 * rng.unit() - 1); };
  const Hour steady =
      hourOf([&](int i, int) { return std::pair(0.02 + 0.002 * i, 1e8 + 1e6 * i); });
  print("steady", steady);
  EXPECT_LE(steady.patches, 28u);
  EXPECT_GE(steady.patches, 20u) << "no reader may call a report expired";
  const Hour noisy = hourOf([&](int i, int) {
    return std::pair((0.02 + 0.002 * i) * noise(0.3), (1e8 + 1e6 * i) * noise(0.02));
  });
  print("30 % noise in every second", noisy);
  EXPECT_LE(noisy.patches, 30u);
  const Hour waves = hourOf([&](int i, int second) {
    const double wave = 1 + 0.5 * std::sin(second * 6.28 / 1800 + i);
    return std::pair((0.05 + 0.002 * i) * wave * noise(0.1), 1e8 + 1e6 * i);
  });
  print("every pod in waves of 30 min", waves);
  EXPECT_LE(waves.bytes, waves.wholeBytes);
}

}  // namespace
}  // namespace mangrove::agent
