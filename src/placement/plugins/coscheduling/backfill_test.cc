// Backfill on the virtual clock: the head of the line is never hurt by who passes it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/annotations/expected_duration.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::seconds;

struct Work {
  std::string name;
  int64_t cpu = 1;
  int64_t arrives = 0;
  int64_t says = 0;  // seconds; 0: nothing
  int64_t runs = 1;
};

struct Trace {
  std::vector<int64_t> nodes;  // cores
  std::vector<Work> before;    // there before the head comes
  std::vector<int64_t> head;   // cores of its members, at second 1
  std::vector<Work> later;
};

constexpr int64_t kNever = 1'000'000;

// Seconds until the whole head group has its nodes.
class Replay {
 public:
  Replay(const Trace& trace, std::string_view backfill) : lab_(config(backfill)), trace_(trace) {
    for (size_t i = 0; i < trace.nodes.size(); i++)
      lab_.node(fmt::format(
          R"({{"metadata":{{"name":"n{}"}},"status":{{"allocatable":{{"cpu":"{}","memory":"64Gi"}}}}}})",
          i, trace.nodes[i]));
  }

  int64_t headStart(int64_t horizon, bool withLater = true) {
    for (const Work& work : trace_.before) begin(work);
    lab_.run();
    for (now_ = 1; now_ <= horizon; now_++) {
      lab_.clock().advance(seconds(1));
      lab_.engine().tick();
      endWhatIsOver();
      if (now_ == 1) createHead();
      if (withLater)
        for (const Work& work : trace_.later)
          if (work.arrives == now_) begin(work);
      lab_.run();
      noteStarts();
      if (headHasNodes()) return now_;
    }
    return kNever;
  }
  std::string said(const std::string& pod) const { return lab_.said(pod); }
  size_t passed() const { return passed_; }
  json::Object head() {
    return lab_.engine().profiles()[0]->find("Coscheduling")->serve("head")->as_object();
  }

 private:
  static SchedulerConfig config(std::string_view backfill) {
    SchedulerConfig out = defaultConfig({"default-scheduler"});
    out.podInitialBackoff = out.podMaxBackoff = {};
    out.profiles[0].args["Coscheduling"] =
        *json::parse(fmt::format(R"({{"backfill":{}}})", backfill));
    return out;
  }
  void begin(const Work& work) {
    const std::string says = work.says > 0
                                 ? fmt::format(R"(,"annotations":{{"{}":"{}s"}})",
                                               api::annotation::kExpectedDuration, work.says)
                                 : "";
    lab_.pod(fmt::format(
        R"({{"metadata":{{"name":"{}"{}}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
        work.name, says, work.cpu));
    waiting_.push_back(work);
  }
  void createHead() {
    for (size_t i = 0; i < trace_.head.size(); i++)
      lab_.pod(fmt::format(
          R"({{"metadata":{{"name":"h{}","annotations":{{"gang.scheduling.koordinator.sh/name":"head","gang.scheduling.koordinator.sh/min-available":"{}"}}}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
          i, trace_.head.size(), trace_.head[i]));
  }
  bool headHasNodes() const {
    for (size_t i = 0; i < trace_.head.size(); i++)
      if (lab_.nodeOf(fmt::format("h{}", i)).empty()) return false;
    return true;
  }
  void noteStarts() {
    std::erase_if(waiting_, [&](const Work& work) {
      if (lab_.nodeOf(work.name).empty()) return false;
      ends_.emplace_back(now_ + work.runs, work.name);
      passed_ += work.arrives > 0;
      return true;
    });
  }
  void endWhatIsOver() {
    if (now_ == 1) noteStarts();
    for (auto& [end, name] : ends_)
      if (end <= now_) lab_.removePod(name);
    std::erase_if(ends_, [&](const auto& one) { return one.first <= now_; });
  }

  Lab lab_;
  const Trace& trace_;
  std::vector<Work> waiting_;
  std::vector<std::pair<int64_t, std::string>> ends_;
  int64_t now_ = 0;
  size_t passed_ = 0;
};

// What was there before says when it ends, and how wrong it is: `late` seconds at most.
Trace randomTrace(Rng& rng, int64_t late) {
  Trace out;
  for (int64_t i = rng.between(2, 4); i > 0; i--) out.nodes.push_back(rng.between(4, 8));
  const auto lateness = [&] { return late > 0 ? rng.between(0, late) : 0; };
  for (int64_t i = rng.between(3, 8); i > 0; i--) {
    const int64_t says = rng.between(3, 30);
    out.before.push_back({fmt::format("b{}", i), rng.between(1, 4), 0, says, says + lateness()});
  }
  for (int64_t i = rng.between(2, 4); i > 0; i--) out.head.push_back(rng.between(2, 4));
  for (int64_t i = rng.between(4, 14); i > 0; i--) {
    const int64_t runs = rng.between(1, 20);
    const bool says = rng.between(0, 3) > 0;
    out.later.push_back({fmt::format("l{}", i), rng.between(1, 3), rng.between(2, 25),
                         says ? runs : 0, says ? runs + lateness() : rng.between(1, 60)});
  }
  return out;
}

constexpr auto kOn = R"({"enabled":true})";

TEST(Backfill, the_head_never_starts_later_than_without_anybody_passing) {
  Rng rng(2024);
  const int traces = sized(150, 1000);
  size_t waited = 0, passed = 0;
  for (int i = 0; i < traces; i++) {
    const Trace trace = randomTrace(rng, 0);
    const int64_t alone = Replay(trace, kOn).headStart(80, false);
    Replay with(trace, kOn);
    const int64_t start = with.headStart(alone == kNever ? 40 : 80);
    EXPECT_LE(start, alone) << "trace " << i;
    waited += alone > 1 && alone != kNever;
    passed += with.passed();
  }
  EXPECT_GT(waited, static_cast<size_t>(traces) / 4);  // the traces are not all trivial
  EXPECT_GT(passed, static_cast<size_t>(traces));      // and others do pass
}

TEST(Backfill, wrong_durations_cost_at_most_the_overrun) {
  Rng rng(77);
  constexpr int64_t kLate = 6;
  const int traces = sized(100, 1000);
  for (int i = 0; i < traces; i++) {
    const Trace trace = randomTrace(rng, kLate);
    Trace promised = trace;
    for (Work& work : promised.before) work.runs = work.says;
    const int64_t alone = Replay(promised, kOn).headStart(80, false);
    if (alone == kNever) continue;
    EXPECT_LE(Replay(trace, kOn).headStart(100), alone + kLate) << "trace " << i;
  }
}

// Small pods that say nothing keep coming; each of them is gone soon, but never all at once.
Trace stream() {
  Trace out{{4}, {}, {4}, {}};
  for (int64_t i = 0; i < 4; i++) out.before.push_back({fmt::format("b{}", i), 1, 0, 0, 2 + i});
  for (int64_t t = 2; t < 100; t++) out.later.push_back({fmt::format("l{}", t), 1, t, 0, 5});
  return out;
}

TEST(Backfill, an_aged_group_does_not_starve) {
  const Trace trace = stream();
  EXPECT_EQ(Replay(trace, R"({"enabled":false})").headStart(90), kNever);
  const int64_t start = Replay(trace, R"({"enabled":true,"agedAfter":"10s"})").headStart(90);
  EXPECT_LE(start, 25);
  EXPECT_GT(start, 10);
}

TEST(Backfill, says_who_is_the_head_when_it_starts_and_why_others_wait) {
  const Trace trace{{4, 2},
                    {{"b", 3, 0, 20, 20}},
                    {4},
                    {{"short", 1, 2, 5, 5}, {"silent", 1, 2, 0, 5}, {"more", 2, 2, 0, 50}}};
  Replay run(trace, kOn);
  EXPECT_EQ(run.headStart(10), kNever);
  const json::Object head = run.head();
  EXPECT_EQ(head.at("group"), "default/head");
  EXPECT_EQ(head.at("keptNodes"), 1);
  EXPECT_TRUE(head.contains("expectedStart"));
  EXPECT_NE(run.said("more").find("node(s) didn't satisfy plugin(s) [Coscheduling]"),
            std::string::npos)
      << run.said("more");
  EXPECT_EQ(Replay(trace, kOn).headStart(40), 21);
}

TEST(Backfill, durations_are_read_and_nonsense_is_no_duration) {
  const auto of = [](std::string_view text) {
    api::Annotations notes;
    notes.set(api::annotation::kExpectedDuration, text);
    return api::expectedDurationOf(notes);
  };
  EXPECT_EQ(of("1h30m"), Duration(std::chrono::minutes(90)));
  for (auto bad : {"", "soon", "-5m", "0s", "90"}) EXPECT_EQ(of(bad), std::nullopt) << bad;
  EXPECT_EQ(api::expectedDurationOf({}), std::nullopt);
}

}  // namespace
}  // namespace mangrove::placement
