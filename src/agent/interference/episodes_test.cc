// Whole episodes over a small simulated node: who is accused, what is done, and that everything is
// given back, whenever the agent is killed.
#include "agent/interference/episodes.h"

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/testing/size.h"
#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

using std::chrono::seconds;

Switches allOn() {
  Switches out;
  out.gaussian = out.cpi2 = out.pressure = out.ladder = out.causal = true;
  return out;
}

// A service beside two batch pods, of which `guilty` makes it wait.
struct Node {
  explicit Node(uint64_t seed) : rng(seed), episodes(seed) {}

  Orders tick() {
    ++second;
    Scene scene;
    scene.at = MonoTime{} + seconds(second);
    scene.wall = WallTime{seconds(1'800'000'000 + second)};
    double stall = 3;
    for (auto& [uid, cores] : use) {
      const double now = cap.count(uid) ? std::min(cores, cap[uid]) : cores;
      if (uid == guilty && present.count(uid)) stall += 12 * now;
      if (present.count(uid))
        scene.neighbours.push_back({.uid = uid,
                                    .name = "batch/" + uid,
                                    .rank = 2,
                                    .running = seconds(3600),
                                    .cores = now,
                                    .exempt = uid == exempt});
    }
    if (calm) stall = 2;
    stall += rng.unit();
    average += (stall - average) / 10;
    Service web{.uid = "web", .ns = "shop", .name = "web", .application = "web", .cores = 2};
    web.instant.cpu = stall;
    if (second % 10 == 0) web.stalls = Stalls{.cpu = average};
    scene.services.push_back(web);
    orders = episodes.step(scene, switches);
    cap.clear();
    for (const Orders::Cap& one : orders.caps) {
      cap[one.uid] = cap.count(one.uid) ? std::min(cap[one.uid], one.cores) : one.cores;
      touched.insert(one.uid);
    }
    for (const Orders::Leave& one : orders.leave) present.erase(one.uid);
    for (auto& report : episodes.takeReports("n1")) reports[report.meta.name.str()] = report;
    return orders;
  }
  void ticks(int count) {
    for (int i = 0; i < count; ++i) tick();
  }
  // What the next agent starts with.
  void kill() {
    const std::string kept = json::write(episodes.state());
    episodes = Episodes(rng.next());
    episodes.restore(json::parse(kept).value());
  }
  const api::InterferenceReport& report() { return reports.begin()->second; }

  Rng rng;
  Episodes episodes;
  Switches switches = allOn();
  std::map<std::string, double> use{{"sort", 4}, {"train", 4}}, cap;
  std::set<std::string> present{"sort", "train"}, touched;
  std::string guilty = "sort", exempt;
  bool calm = false;
  double average = 3;
  int second = 0;
  Orders orders;
  std::map<std::string, api::InterferenceReport> reports;
};

std::string verdictOn(const api::InterferenceReport& report, const std::string& pod) {
  for (const auto& one : report.status.suspects)
    if (one.pod == "batch/" + pod) return one.verified;
  return "not a suspect";
}

TEST(Episodes, TheGuiltyOneIsFoundAndHeldAndLetGo) {
  for (const char* guilty : {"sort", "train"}) {
    Node node(7);
    node.guilty = guilty;
    node.ticks(600);
    ASSERT_EQ(node.reports.size(), 1u);
    EXPECT_EQ(verdictOn(node.report(), guilty), "guilty") << sentenceOf(node.report());
    const std::string other = node.guilty == "sort" ? "train" : "sort";
    EXPECT_NE(verdictOn(node.report(), other), "guilty") << sentenceOf(node.report());
    EXPECT_GT(node.cap.count(guilty), 0u) << sentenceOf(node.report());
    EXPECT_EQ(node.cap.count(other), 0u);
    EXPECT_LT(node.average, 15) << "the service is well again";
    node.calm = true;
    node.ticks(3600);
    EXPECT_EQ(node.episodes.size(), 0u) << node.episodes.text();
    EXPECT_EQ(node.report().status.outcome, "Resolved");
    EXPECT_TRUE(node.cap.empty());
  }
}

TEST(Episodes, NobodyIsHeldForWhatNobodyDid) {
  Node node(3);
  node.guilty = "nobody";
  for (int i = 0; i < 2000; ++i) {
    node.average = 40;  // the service suffers, whatever its neighbours do
    node.tick();
    for (const auto& one : node.orders.caps)
      EXPECT_NE(one.why.find("experiment"), std::string::npos) << one.why;
  }
  ASSERT_FALSE(node.reports.empty());
  EXPECT_NE(verdictOn(node.report(), "sort"), "guilty");
  EXPECT_NE(verdictOn(node.report(), "train"), "guilty");
  EXPECT_EQ(node.present.size(), 2u) << "nobody was evicted";
}

TEST(Episodes, WhoIsExemptIsNeverTouched) {
  Node node(3);
  node.exempt = "sort";
  node.ticks(1500);
  EXPECT_EQ(node.touched.count("sort"), 0u);
  EXPECT_EQ(node.present.count("sort"), 1u);
}

TEST(Episodes, WithoutExperimentsNoStepAgainstOnePod) {
  Node node(3);
  node.switches.causal = false;
  node.ticks(1500);
  EXPECT_TRUE(node.touched.empty());
  ASSERT_FALSE(node.reports.empty()) << "it is seen and told all the same";
}

TEST(Episodes, WithoutTheLadderItLooksAndProvesOnly) {
  Node node(3);
  node.switches.ladder = false;
  node.ticks(600);
  EXPECT_EQ(verdictOn(node.report(), "sort"), "guilty");
  EXPECT_TRUE(node.cap.empty());
  EXPECT_TRUE(node.orders.idleClass.empty());
}

TEST(Episodes, DetectsWithinAMinute) {
  Node node(5);
  node.use = {{"sort", 0}, {"train", 4}};
  node.ticks(600);
  EXPECT_TRUE(node.reports.empty()) << "nothing is wrong";
  node.use["sort"] = 4;
  node.ticks(60);
  EXPECT_EQ(node.reports.size(), 1u);
}

// Killed at any point the next agent goes on, and in the end nothing is left.
TEST(Episodes, LeaveNoTraceHoweverOftenTheAgentIsKilled) {
  for (int life = 1; life <= sized(60, 2000); ++life) {
    Node node(static_cast<uint64_t>(life));
    Rng rng(static_cast<uint64_t>(life));
    if (rng.below(4) == 0) node.guilty = "nobody";
    const int kills = static_cast<int>(rng.below(6));
    for (int i = 0; i <= kills; ++i) {
      node.ticks(1 + static_cast<int>(rng.below(150)));
      node.kill();
    }
    node.calm = true;
    node.ticks(2400);
    EXPECT_TRUE(node.orders.caps.empty()) << "life " << life << ": " << node.episodes.text();
    EXPECT_TRUE(node.orders.idleClass.empty()) << "life " << life;
    EXPECT_EQ(node.episodes.size(), 0u) << "life " << life << ": " << node.episodes.text();
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Episodes, ReadOnlyStatesOfTheirOwn) {
  for (const char* text :
       {"null", "{}", "[1]", R"({"open":[1]})", R"({"open":[{"uid":""}]})",
        R"({"open":[{"uid":"a"}],"acquittals":[]})",
        R"({"open":[{"uid":"a","series":{"pairs":{"pairs":[["x"]]}},"ladder":[]}]})"}) {
    Episodes episodes;
    episodes.restore(json::parse(text).value());
    EXPECT_LE(episodes.size(), 1u) << text;
  }
}

}  // namespace
}  // namespace mangrove::agent::interference
