// What reports cost an API server: patches and bytes in an hour of a node with a hundred pods,
// against a whole status every minute, and what the manager would sell by them, minute by minute.
// Prints the figures that docs/agent.md quotes.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "agent/report/reporter.h"
#include "api/annotations/report_validity.h"
#include "api/wire/decode.h"
#include "base/number/rng.h"
#include "client/testing/scripted_client.h"
#include "json/merge_patch.h"
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
  // What is sold by the last report against what would be by one of now: the mean and the worst
  // moment, as shares of what is sold, and the worst as a share of the node.
  double mean = 0, worst = 0, worstOfNode = 0;
  Duration longestGap{};  // between two patches
};

// As the manager computes it, with the margin it leaves by default.
struct Sold {
  double cpu = 0, memory = 0;
};
Sold soldBy(const api::NodeMetricStatus& status) {
  const api::ResourceList& system = status.nodeMetric->systemUsage.resources;
  Sold out{0.65 * 32000 - static_cast<double>(system.cpu().v),
           0.65 * 128 * (1ll << 30) - static_cast<double>(system.memory().v)};
  for (const api::PodMetric& pod : status.podsMetric) {
    out.cpu -= static_cast<double>(pod.podUsage.resources.cpu().v);
    out.memory -= static_cast<double>(pod.podUsage.resources.memory().v);
  }
  return out;
}
void compare(const Sold& told, const Sold& now, Hour& out) {
  const double cpu = told.cpu - now.cpu, memory = told.memory - now.memory;
  out.mean += cpu / now.cpu / 60;  // a sample a minute
  out.worst = std::max({out.worst, std::abs(cpu) / now.cpu, std::abs(memory) / now.memory});
  out.worstOfNode =
      std::max({out.worstOfNode, std::abs(cpu) / 32000, std::abs(memory) / (128.0 * (1ll << 30))});
}

// A node whose pods use `load(pod, second)` cores; `validity`: what the object says of its readers.
template <class Load>
Hour hourOf(Load load, const char* validity = "") {
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
  if (*validity != 0) metric->meta.annotations.set(api::kReportValidityKey, validity);
  reporter.follow(metric);
  json::Value there = json::Object{};  // the status that the server has
  MonoTime wrote = clock.mono();
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
      const auto patch = json::parse(api.pending.front().first.body);
      json::applyMergePatch(there, patch->at("status"));
      if (second >= 1800) out.longestGap = std::max(out.longestGap, look.at - wrote);
      wrote = look.at;
      api.reply(200, "{}");
    }
    owner.drain();
    // As the manager looks: at the whole minute, a little after the reports.
    if (second < 1800 || second % 60 != 30) continue;
    const auto known = api::decodeText<api::NodeMetricStatus>(json::write(there));
    const auto now = buildStatus({look, reporter.policy(), Predicted{}});
    compare(soldBy(*known), soldBy(now), out);
  }
  const ReporterStats& now = reporter.stats();
  out.patches = now.sent - before.sent;
  out.rounds = now.rounds - before.rounds;
  out.bytes = now.bytesSent - before.bytesSent;
  out.wholeBytes = now.bytesWhole - before.bytesWhole;
  return out;
}

void print(const std::string& what, const Hour& hour) {
  fmt::print(
      "{:<46} {:>3} patches an hour instead of 60, {:>4} kB instead of {:>4} kB; sold: {:+.2f} % "
      "in "
      "the mean, {:.2f} % at most, {:.2f} % of the node\n",
      what, hour.patches, hour.bytes / 1000,
      hour.wholeBytes * 60 / std::max<uint64_t>(hour.rounds, 1) / 1000, hour.mean * 100,
      hour.worst * 100, hour.worstOfNode * 100);
}

// Readers that know how long a report holds need a quarter of the reference's patches or fewer, in
// every kind of load; others are never left with a report that they would call expired.
TEST(ReportCost, OfAnHour) {
  Rng rng(3);
  const auto noise = [&](double share) { return 1 + share * (2 * rng.unit() - 1); };
  const auto steady = [&](int i, int) { return std::pair(0.02 + 0.002 * i, 1e8 + 1e6 * i); };
  const auto noisy = [&](int i, int) {
    return std::pair((0.02 + 0.002 * i) * noise(0.3), (1e8 + 1e6 * i) * noise(0.02));
  };
  const auto waves = [&](int i, int second) {
    const double wave = 1 + 0.5 * std::sin(second * 6.28 / 1800 + i);
    return std::pair((0.05 + 0.002 * i) * wave * noise(0.1), 1e8 + 1e6 * i);
  };
  const auto check = [&](const std::string& what, auto load) {
    const Hour usual = hourOf(load);
    print(what, usual);
    EXPECT_LE(usual.patches, 30u) << what;
    EXPECT_LE(usual.longestGap, Reporter::kReadersExpiry) << what;
    EXPECT_LE(std::abs(usual.mean), 0.01) << what;
    EXPECT_LE(usual.worstOfNode, 0.01) << what;
    const Hour held = hourOf(load, "780s");
    print(what + ", readers that know", held);
    EXPECT_LE(held.patches, 15u) << what;
    EXPECT_LE(held.longestGap, Reporter::kFullEvery + Duration(2s)) << what;
    EXPECT_LE(std::abs(held.mean), 0.01) << what;
    EXPECT_LE(held.worstOfNode, 0.01) << what;
  };
  check("steady", steady);
  check("30 % noise in every second", noisy);
  check("every pod in waves of 30 min", waves);
}

TEST(ReportCost, TheReferencesRhythmIsEveryMinute) {
  EXPECT_EQ(api::reportValidity(api::Annotations{{api::kReportValidityKey, "780s"}}),
            Duration(780s));
  for (const char* nonsense : {"", "780", "-1s", "s", "10m"})
    EXPECT_EQ(api::reportValidity(api::Annotations{{api::kReportValidityKey, nonsense}}),
              Duration::zero())
        << nonsense;
}

}  // namespace
}  // namespace mangrove::agent
