// Case 57 of the behaviour spec, and what a log in files has to stand.
#include "agent/audit/events.h"

#include <fstream>

#include <gtest/gtest.h>

#include "agent/audit/http.h"
#include "agent/audit/record_event.h"
#include "json/value.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

struct Log {
  explicit Log(AuditOptions options = {}) {
    options.dir = place.path() / "log";
    events.emplace(options, clock);
  }
  void add(int from, int to, const std::string& padding = "") {
    for (int i = from; i <= to; ++i)
      events->add({.name = std::to_string(i), .reason = "r", .message = padding}, 1);
  }
  net::HttpResponse get(const std::string& query, const char* accept = "application/json") {
    net::HttpRequest request;
    request.target = "/events" + query;
    request.headers.set("Accept", accept);
    return serveEvents(&*events, request);
  }
  static std::vector<std::string> names(const json::Value& page) {
    std::vector<std::string> out;
    for (const auto& event : page.at("Events").as_array())
      out.emplace_back(event.at("name").as_string());
    return out;
  }
  kernel::FakeRoot place;
  VirtualClock clock{WallTime(1'750'000'000s)};
  std::optional<AuditEvents> events;
};

TEST(AuditEvents, Case57PagesNewestFirst) {
  Log log;
  log.add(1, 26);
  const auto first = json::parse(log.get("?size=10").body);
  ASSERT_TRUE(first);
  EXPECT_EQ(Log::names(*first),
            (std::vector<std::string>{"26", "25", "24", "23", "22", "21", "20", "19", "18", "17"}));
  const std::string token(first->at("NextPageToken").as_string());
  ASSERT_FALSE(token.empty());
  log.add(27, 30);
  const auto second = json::parse(log.get("?size=1&pageToken=" + token).body);
  EXPECT_EQ(Log::names(*second), std::vector<std::string>{"16"}) << "the eleventh newest";
  EXPECT_EQ(log.get("?size=2049").status, 400);
  EXPECT_EQ(log.get("?size=-1").status, 400);
  EXPECT_EQ(log.get("?size=0").status, 400);
  EXPECT_EQ(log.get("?pageToken=nobody").status, 409);
  const auto rest = json::parse(log.get("?size=many&pageToken=" + token).body);
  EXPECT_EQ(Log::names(*rest).size(), 15u) << "no number means the default";
  EXPECT_EQ(rest->at("NextPageToken").as_string(), "");
  EXPECT_EQ(log.get("?pageToken=" + token).status, 409) << "it came to its end";
}

TEST(AuditEvents, LinesForThoseWhoDoNotAskForJson) {
  Log log;
  log.add(1, 3);
  const auto answer = log.get("?size=2", "*/*");
  EXPECT_EQ(answer.headers.get("Next-Page-Token").size(), 32u);
  EXPECT_EQ(std::count(answer.body.begin(), answer.body.end(), '\n'), 2);
  net::HttpRequest request;
  EXPECT_EQ(serveEvents(nullptr, request).body, "") << "nothing is logged";
}

TEST(AuditEvents, ReadersAreFewAndMortal) {
  Log log({.mostReaders = 2});
  log.add(1, 9);
  const auto token = [&] { return log.events->page("", 1)->token; };
  const std::string a = token(), b = token(), c = token();
  EXPECT_FALSE(log.events->page(a, 1)) << "the oldest made room";
  EXPECT_TRUE(log.events->page(b, 1));
  log.clock.advance(11min);
  EXPECT_FALSE(log.events->page(b, 1));
  EXPECT_FALSE(log.events->page(c, 1)) << "all that expired go, not one at a time";
}

TEST(AuditEvents, FilesAreRotatedAndReadTogether) {
  Log log({.mostDisk = kMiB * 4});
  const std::string padding(100'000, 'x');
  for (int i = 1; i <= 100; ++i) {
    log.add(i, i, padding);
    log.clock.advance(1s);
  }
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(log.place.path() / "log"))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 3u) << "two of 2 MiB and the open one";
  const auto page = log.events->page("", 2048);
  ASSERT_TRUE(page);
  EXPECT_GE(page->lines.size(), 42u);
  EXPECT_NE(page->lines.front().find(R"("name":"100")"), std::string::npos);
  EXPECT_EQ(page->token, "");
}

TEST(AuditEvents, OthersOfTheSameFileGoOnAndTornLinesAreLeftOut) {
  Log log;
  log.add(1, 2);
  std::ofstream(log.place.path() / "log/audit.log", std::ios::app) << "\n\n{\"torn";
  EXPECT_EQ(log.events->page("", 10)->lines.size(), 2u);
  Log empty;
  EXPECT_TRUE(empty.events->page("", 10)->lines.empty());
  Log quiet({.verbose = 2});
  quiet.events->add({.name = "loud"}, 3);
  quiet.events->add({.name = "said"}, 2);
  EXPECT_EQ(quiet.events->page("", 10)->lines.size(), 1u);
}

// Kinds, reasons and levels of the reference's log.
TEST(AuditEvents, RecordsBecomeEventsThatReadersKnow) {
  struct Row {
    const char *cgroup, *file, *to;
    const char *type, *reason;
    int level;
  };
  for (const Row& row : {
           Row{"shop/web", "eviction", "1", "pod", "evicted", 0},
           Row{"kubepods/besteffort", "cpu.cfs_quota_us", "1", "group", "UpdateCgroups", 3},
           Row{"kubepods/besteffort", "io.max[8:0]", "1", "group", "UpdateCgroups", 3},
           Row{"sys/fs/resctrl/BE", "group", "made", "group", "CreateCATGroup", 3},
           Row{"sys/fs/resctrl/BE", "group", "removed", "group", "RemoveCATGroup", 3},
           Row{"sys/fs/resctrl/BE", "tasks", "+2", "group", "UpdateResctrl", 5},
           Row{"sys/fs/resctrl/BE/schemata", "schemata[L3]", "f", "group", "UpdateResctrl", 3},
           Row{"proc/sys/vm/min_free_kbytes", "parameter", "1", "node", "UpdateSystemConfig", 3},
           Row{"proc/sys/kernel/sched_core", "switch", "1", "node", "UpdateSystemConfig", 3},
           Row{"sys/kernel/debug/sched/features", "sched_features[X]", "1", "node",
               "UpdateSystemConfig", 3},
           Row{"eth0", "tc", "x", "node", "UpdateSystemConfig", 3},
           Row{"process 7", "cookie", "x", "unknown", "UpdateCgroups", 3},
       }) {
    AuditRecord record;
    record.cgroup = row.cgroup, record.file = row.file, record.to = row.to;
    record.owner = "BEMemoryEvict", record.why = "memory", record.outcome = "evicted";
    const AuditEvent event = eventOf(record);
    EXPECT_EQ(event.type, row.type) << row.file;
    EXPECT_EQ(event.reason, row.reason) << row.file;
    EXPECT_EQ(auditLevel(record), row.level) << row.file;
  }
  AuditRecord eviction;
  eviction.owner = "BEMemoryEvict", eviction.why = "memory", eviction.cgroup = "shop/web";
  eviction.file = "eviction", eviction.outcome = "evicted";
  const AuditEvent gone = eventOf(eviction);
  EXPECT_EQ(gone.ns + "|" + gone.name + "|" + gone.message,
            "shop|web|BEMemoryEvict: memory (evicted)");
}

}  // namespace
}  // namespace mangrove::agent
