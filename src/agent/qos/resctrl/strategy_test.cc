// Cache and bandwidth over a captured machine with a resctrl tree: classes, pods, measured traffic.
#include "agent/qos/resctrl/strategy.h"

#include <gtest/gtest.h>

#include "agent/qos/resctrl/monitors.h"
#include "agent/qos/testing/machine_bench.h"

namespace mangrove::agent {
namespace {

using testing::MachineBench;

std::string machineDir(const char* name) {
  return std::string(MANGROVE_SOURCE_DIR) + "/test/machines/" + name;
}

const std::string kResctrl = "sys/fs/resctrl/";
const char* const kCaches =
    R"("resourceQOSStrategy":{"lsrClass":{"resctrlQOS":{"enable":true,"catRangeStartPercent":0,)"
    R"("catRangeEndPercent":100,"mbaPercent":100}},"lsClass":{"resctrlQOS":{"enable":true,)"
    R"("catRangeStartPercent":0,"catRangeEndPercent":100,"mbaPercent":100}},"beClass":{)"
    R"("resctrlQOS":{"enable":true,"catRangeStartPercent":0,"catRangeEndPercent":30,)"
    R"("mbaPercent":85}}})";

// The kernel fills a group's directory when it is made; here the test does.
void giveFiles(MachineBench& bench, const std::string& group) {
  bench.fs.write(kResctrl + group + "/schemata", "    MB:0=100\n    L3:0=fff\n");
  bench.fs.write(kResctrl + group + "/tasks", "");
}

TEST(ResctrlStrategy, ByClass) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  for (const char* group : {"LSR", "LS", "BE"}) giveFiles(bench, group);
  bench.slo(kCaches);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.pod({.name = "web", .qos = "LS"});
  bench.threads("job", "41,42");
  bench.threads("web", "51");
  bench.start();
  bench.seconds(2);
  // A write replaces the text of a file that is no real schemata.
  EXPECT_EQ(bench.fs.read(kResctrl + "BE/schemata"), "MB:0=90\n");
  EXPECT_EQ(bench.fs.read(kResctrl + "LS/tasks"), "51");
  EXPECT_EQ(bench.fs.read(kResctrl + "LS/schemata"), "    MB:0=100\n    L3:0=fff\n")
      << "as wanted already";
  const auto log = bench.writes();
  const auto has = [&](const std::string& part) {
    return std::any_of(log.begin(), log.end(),
                       [&](const std::string& line) { return line.find(part) != line.npos; });
  };
  EXPECT_TRUE(has("BE/schemata schemata[L3]: 0=fff -> 0=f")) << log.front();
  EXPECT_TRUE(has("BE/schemata schemata[MB]: 0=100 -> 0=90"));
  EXPECT_TRUE(has("sys/fs/resctrl/BE tasks:  -> +2"));
}

// A container begins: its processes are in the pod's group before the next tick, although this hook
// looks once a second only.
TEST(ResctrlStrategy, ProcessesOfANewContainerDoNotWaitForTheTick) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  ASSERT_TRUE(bench.gate("Resctrl=true"));
  bench.slo("");
  bench.pod({.name = "db",
             .qos = "LS",
             .annotations = R"({"node.koordinator.sh/resctrl":"{\"mb\":{\"schemata\":)"
                            R"({\"percent\":50}}}"})"});
  const std::string group = kResctrl + "koordlet-00000000-0000-4000-8000-000000000010";
  giveFiles(bench, "koordlet-00000000-0000-4000-8000-000000000010");
  bench.start();
  bench.seconds(1);
  EXPECT_EQ(bench.fs.read(group + "/tasks"), "");
  bench.threads("db", "7");
  const Look& last = bench.scene->agent().look();
  bench.enforcer->podBegan(last, bench.scene->agent().node().get(), nullptr);
  EXPECT_EQ(bench.fs.read(group + "/tasks"), "7");
}

TEST(ResctrlStrategy, CacheRangesApart) {
  struct Row {
    int64_t from, to, start, end;  // of the service, of best-effort work
    int64_t wantFrom, wantTo;
  };
  for (const Row& row :
       {Row{0, 100, 0, 30, 30, 100}, Row{0, 100, 70, 100, 0, 70}, Row{30, 100, 0, 30, 30, 100},
        Row{0, 50, 20, 30, 30, 50}, Row{10, 20, 0, 30, 10, 20}, Row{0, 100, 0, 100, 0, 100}}) {
    api::ResctrlQosConfig service, batch;
    service.catRangeStartPercent = Percent{row.from}, service.catRangeEndPercent = Percent{row.to};
    batch.catRangeStartPercent = Percent{row.start}, batch.catRangeEndPercent = Percent{row.end};
    const api::ResctrlQosConfig got = apartFrom(service, batch);
    EXPECT_EQ(got.catRangeStartPercent->v, row.wantFrom) << row.from << "-" << row.to;
    EXPECT_EQ(got.catRangeEndPercent->v, row.wantTo) << row.from << "-" << row.to;
  }
  EXPECT_FALSE(apartFrom({}, {}).catRangeStartPercent);
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  for (const char* group : {"LSR", "LS", "BE"}) giveFiles(bench, group);
  bench.slo(kCaches);
  bench.node("{}", R"({"node.mangrove.io/cache-ranges":"apart"})");
  bench.pod({.name = "web", .qos = "LS"});
  bench.start();
  bench.seconds(1);
  EXPECT_EQ(bench.fs.read(kResctrl + "LS/schemata"), "L3:0=ff0\n");
}

TEST(ResctrlStrategy, ByPod) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  ASSERT_TRUE(bench.gate("Resctrl=true"));
  bench.slo("");
  bench.pod({.name = "db",
             .qos = "LS",
             .annotations = R"({"node.koordinator.sh/resctrl":"{\"llc\":{\"schemata\":)"
                            R"({\"range\":[10,80]}},\"mb\":{\"schemata\":{\"percent\":50}}}"})"});
  bench.threads("db", "7");
  const std::string group = "koordlet-00000000-0000-4000-8000-000000000010";
  bench.start();
  bench.seconds(1);
  ASSERT_TRUE(bench.fs.exists(kResctrl + group)) << "made";
  giveFiles(bench, group);
  bench.seconds(1);
  EXPECT_EQ(bench.fs.read(kResctrl + group + "/schemata"), "MB:0=50\n");
  EXPECT_EQ(bench.fs.read(kResctrl + group + "/tasks"), "7");
  bench.fs.remove(kResctrl + group + "/schemata");
  bench.fs.remove(kResctrl + group + "/tasks");
  bench.remove("db");
  bench.seconds(1);
  EXPECT_FALSE(bench.fs.exists(kResctrl + group)) << "gone with its pod";
}

// Each pod its monitoring group, as far as the processor can count: best-effort pods first, then
// the older of the others. They go before the class's group.
TEST(ResctrlStrategy, MonitorsPods) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  ASSERT_TRUE(bench.gate("ResctrlCollector=true"));
  for (const char* group : {"LSR", "LS", "BE"}) giveFiles(bench, group);
  for (const char* group : {"LS", "BE"})
    bench.fs.add(kernel::dir(kResctrl + group + "/mon_groups"));
  // Four for the control groups, four for others.
  bench.fs.write(kResctrl + "info/L3_MON/num_rmids", "10\n");
  bench.slo(kCaches);
  bench.pod({.name = "web", .qos = "LS"});
  bench.start();
  bench.seconds(1);
  bench.pod({.name = "late", .qos = "LS"});
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.threads("job", "41");
  bench.seconds(1);
  const std::string web = kResctrl + "LS/mon_groups/00000000-0000-4000-8000-000000000010";
  const std::string late = kResctrl + "LS/mon_groups/00000000-0000-4000-8000-000000000011";
  const std::string job = kResctrl + "BE/mon_groups/00000000-0000-4000-8000-000000000012";
  EXPECT_TRUE(bench.fs.exists(web));
  EXPECT_TRUE(bench.fs.exists(job));
  EXPECT_FALSE(bench.fs.exists(late)) << "none is left for it";
  bench.fs.write(job + "/tasks", "");
  bench.seconds(1);
  EXPECT_EQ(bench.fs.read(job + "/tasks"), "41");
  bench.fs.remove(job + "/tasks");
  bench.remove("job");
  bench.seconds(1);
  EXPECT_FALSE(bench.fs.exists(job)) << "gone with its pod";
  EXPECT_TRUE(bench.fs.exists(late)) << "its turn";
  bench.leave();
  EXPECT_FALSE(bench.fs.exists(web));
}

TEST(ResctrlStrategy, WhoIsMonitored) {
  const std::vector<MonitorCandidate> pods = {
      {"LS", 1}, {"BE", 9}, {"LSR", 2}, {"BE", 4}, {"LS", 7}};
  EXPECT_EQ(monitored(pods, 9), (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(monitored(pods, 3), (std::vector<size_t>{0, 1, 3}));
  EXPECT_EQ(monitored(pods, 1), (std::vector<size_t>{3}));
  EXPECT_TRUE(monitored(pods, 0).empty());
  EXPECT_EQ(monitorsLeft(10, 4), 2u);
  EXPECT_EQ(monitorsLeft(3, 4), 0u);
}

const char* const kMemoryCanGive =
    R"({"node.mangrove.io/memory-bandwidth":"{\"perDomain\":\"1G\"}"})";

// Best-effort bandwidth goes down while memory is busy, stays between the marks, comes back when
// there has been room for a while, and survives a killed agent.
TEST(ResctrlStrategy, BandwidthFollowsTheTraffic) {
  MachineBench bench(machineDir("anolis-v1-resctrl"));
  for (const char* group : {"LSR", "LS", "BE"}) giveFiles(bench, group);
  bench.slo(kCaches);
  bench.node("{}", kMemoryCanGive);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  std::map<std::string, int64_t> bytes;
  const auto flow = [&](int64_t batch, int64_t service, int count) {
    for (int i = 0; i < count; ++i) {
      bytes["BE"] += batch * 1'000'000;
      bytes["LS"] += service * 1'000'000;
      for (const auto& [group, sum] : bytes)
        bench.fs.write(kResctrl + group + "/mon_data/mon_L3_00/mbm_total_bytes",
                       fmt::format("{}\n", sum));
      bench.seconds(1);
    }
    return bench.fs.read(kResctrl + "BE/schemata");
  };
  bench.start();
  EXPECT_EQ(flow(700, 200, 2), "MB:0=90\n") << "the first reading says nothing";
  EXPECT_EQ(flow(700, 200, 1), "MB:0=80\n") << "90 %";
  EXPECT_EQ(flow(700, 200, 1), "MB:0=70\n");
  EXPECT_EQ(flow(500, 200, 10), "MB:0=70\n") << "70 %: nothing moves";
  EXPECT_EQ(flow(10, 900, 10), "MB:0=70\n") << "91 %, and not best-effort work's doing";
  bench.killAndRestart();
  EXPECT_EQ(flow(500, 200, 3), "MB:0=70\n") << "a successor goes on";
  EXPECT_EQ(flow(100, 200, 5), "MB:0=70\n") << "room, but not for long";
  EXPECT_EQ(flow(100, 200, 1), "MB:0=80\n");
  EXPECT_EQ(flow(100, 200, 30), "MB:0=90\n") << "what is configured, not more";
  EXPECT_EQ(flow(900, 200, 20), "MB:0=10\n") << "and never nothing";
  bench.node("{}", "{}");
  EXPECT_EQ(flow(900, 200, 1), "MB:0=90\n") << "nobody says what memory can give";
}

TEST(ResctrlStrategy, BandwidthSteps) {
  using std::chrono::seconds;
  const BandwidthMarks marks{100, 80, 60};
  struct Row {
    double total, batch;
    int64_t present, want;
  };
  for (const Row& row : {Row{80, 40, 100, 90}, Row{79, 40, 100, 100}, Row{95, 9, 100, 100},
                         Row{200, 100, 15, 10}, Row{60, 30, 50, 50}, Row{10, 5, 50, 50}}) {
    BandwidthGovernor governor;
    EXPECT_EQ(governor.next(MonoTime{seconds(1)}, {row.total, row.batch, row.present}, marks),
              row.want)
        << row.total;
  }
  BandwidthGovernor governor;
  MonoTime at{seconds(100)};
  const auto next = [&](double total, int64_t present) {
    return governor.next(at += seconds(1), {total, total / 2, present, 70}, marks);
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(next(50, 50), 50);
  EXPECT_EQ(next(50, 50), 60) << "five seconds of room";
  EXPECT_EQ(next(50, 60), 60) << "and again only after five more";
  EXPECT_EQ(next(65, 60), 60) << "no room: the count begins anew";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(next(50, 60), 60);
  EXPECT_EQ(next(50, 65), 70) << "what is granted, at most";
  EXPECT_EQ(next(50, 100), 70) << "granted less since";
}

TEST(ResctrlStrategy, BandwidthMarksSayWhatTheyWant) {
  EXPECT_EQ(*parseBandwidthMarks(R"({"perDomain":"40G"})"), (BandwidthMarks{40e9, 80, 60}));
  EXPECT_EQ(*parseBandwidthMarks(R"({"perDomain":"40G","highPercent":70})"),
            (BandwidthMarks{40e9, 70, 55}));
  const std::pair<const char*, const char*> bad[] = {
      {"{}", "perDomain"},
      {R"({"perDomain":"-1"})", "perDomain"},
      {R"({"perDomain":40})", "perDomain"},
      {R"({"perDomain":"4G","highPercent":101})", "highPercent"},
      {R"({"perDomain":"4G","highPercent":80,"lowPercent":70})", "apart"},
      {"nonsense", "memory-bandwidth"}};
  for (const auto& [text, part] : bad) {
    const auto marks = parseBandwidthMarks(text);
    ASSERT_FALSE(marks) << text;
    EXPECT_NE(marks.error().text().find(part), std::string::npos) << marks.error().text();
  }
}

TEST(ResctrlStrategy, IsAbsentOnOtherMachines) {
  MachineBench bench(machineDir("v1-2core-vm"));
  bench.slo(kCaches);
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(2);
  const std::string told = json::write(bench.enforcer->explain());
  EXPECT_NE(told.find("no resctrl: "), std::string::npos) << told;
}

}  // namespace
}  // namespace mangrove::agent
