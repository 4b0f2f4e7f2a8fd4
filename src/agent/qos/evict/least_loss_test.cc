// The one order of victims in the agent's hands: tasks of memory and CPU, and watermarks.
#include "agent/qos/evict/least_loss.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"

namespace mangrove::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kG = int64_t{1} << 30;
const WallTime kNow = *parseTime("2026-11-17T15:00:00Z");

struct Made {
  std::string name;
  int priority = 5500;
  std::string last = {};         // checkpoint-last
  std::string annotations = {};  // more of them, with a comma in front
};

api::Pod podOf(const Made& made) {
  std::string annotations = R"("x":"y")" + made.annotations;
  if (!made.last.empty())
    annotations += fmt::format(R"(,"colocation.mangrove.io/checkpoint":"{{\"mode\":\"signal\"}}",)"
                               R"("colocation.mangrove.io/checkpoint-last":"{}")",
                               made.last);
  const auto pod = api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"{0}","labels":)"
      R"({{"koordinator.sh/qosClass":"BE"}},"annotations":{{{2}}}}},"spec":{{"priority":{1},)"
      R"("containers":[{{"name":"c","resources":{{"requests":{{"kubernetes.io/batch-cpu":"1000"}}}}}}]}},)"
      R"("status":{{"phase":"Running","startTime":"2026-11-17T10:00:00Z"}}}})",
      made.name, made.priority, annotations));
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  return *pod;
}

struct Scene {
  std::vector<api::Pod> made;
  std::vector<EvictPod> pods;
  EvictTask task{feature::kMemory, true, {}, {}, [](const EvictPod& one) {
                   return EvictAmounts{{"memory", one.memory.value_or(Bytes{0}).v}};
                 }};

  explicit Scene(const std::vector<Made>& all, int64_t need) {
    for (const Made& one : all) made.push_back(podOf(one));
    for (const api::Pod& pod : made) pods.push_back({&pod, 1.0, Bytes{4 * kG}, false});
    for (const EvictPod& one : pods) task.order.push_back(&one);
    task.pods = pods;
    task.release = {{"memory", need}};
  }
  std::vector<std::string> gone(const LossView& view = {.now = kNow}) {
    std::vector<std::string> out;
    for (const Victim& victim : leastLossVictims(std::span(&task, 1), view))
      out.push_back(victim.pod->pod->meta.name.str());
    return out;
  }
};

TEST(LeastLossEvict, WhoSavedLastGoesFirst) {
  Scene scene({{.name = "old", .last = "2026-11-17T14:00:00Z"},
               {.name = "fresh", .last = "2026-11-17T14:59:50Z"}},
              2 * kG);
  EXPECT_THAT(scene.gone(), ElementsAre("fresh"));
  const auto victims = leastLossVictims(std::span(&scene.task, 1), {.now = kNow});
  EXPECT_EQ(
      victims.at(0).loss,
      "loses 10 core seconds of work and 180 for its restart; ns/old would have lost 3600 and "
      "180");
}

TEST(LeastLossEvict, PriorityAndTurnComeBeforeLoss) {
  Scene lower({{.name = "dear", .priority = 5000, .last = "2026-11-17T10:00:00Z"},
               {.name = "cheap", .last = "2026-11-17T14:59:50Z"}},
              2 * kG);
  EXPECT_THAT(lower.gone(), ElementsAre("dear"));
  Scene turn({{.name = "high",
               .priority = 9500,
               .annotations = R"(,"koordinator.sh/eviction-priority":"-1")"},
              {.name = "low", .priority = 5000}},
             2 * kG);
  EXPECT_THAT(turn.gone(), ElementsAre("high"));
}

TEST(LeastLossEvict, NeverMoreThanNeededAndWhatThereIsWhenShort) {
  const std::vector<Made> three = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  EXPECT_EQ(Scene(three, 5 * kG).gone().size(), 2u);
  EXPECT_EQ(Scene(three, 50 * kG).gone().size(), 3u);
  Scene nothing(three, 5 * kG);
  for (EvictPod& one : nothing.pods) one.memory = Bytes{0};
  EXPECT_THAT(nothing.gone(), IsEmpty()) << "who frees nothing stays";
  Scene leaving(three, 4 * kG);
  leaving.pods[1].leaving = true;
  EXPECT_THAT(leaving.gone(), IsEmpty()) << "who leaves already counts";
}

TEST(LeastLossEvict, StrictGangsGoAsOne) {
  const std::string gang = R"(,"gang.scheduling.koordinator.sh/name":"g")";
  const std::string loose = gang + R"(,"gang.scheduling.koordinator.sh/mode":"NonStrict")";
  const char* fresh = "2026-11-17T14:59:50Z";
  Scene strict({{.name = "g0", .last = fresh, .annotations = gang},
                {.name = "g1", .last = fresh, .annotations = gang}},
               2 * kG);
  EXPECT_THAT(strict.gone(), ElementsAre("g0", "g1"));
  Scene executors({{.name = "e0", .last = fresh, .annotations = loose},
                   {.name = "e1", .last = fresh, .annotations = loose}},
                  2 * kG);
  EXPECT_EQ(executors.gone().size(), 1u);
}

TEST(LeastLossEvict, AClaimIsBoundedByWhatWasMeasured) {
  Scene scene({{.name = "boaster",
                .annotations = R"(,"colocation.mangrove.io/checkpoint":"{\"mode\":\"none\"}")"},
               {.name = "worker", .last = "2026-11-17T14:55:00Z"}},
              2 * kG);
  EXPECT_THAT(scene.gone(), ElementsAre("worker"));
  LossView view{.now = kNow};
  view.cpuSeconds = [](const api::Pod& pod) {
    return pod.meta.name.view() == "boaster" ? std::optional(20.0) : std::nullopt;
  };
  EXPECT_THAT(scene.gone(view), ElementsAre("boaster"));
}

TEST(LeastLossEvict, NobodyAFourthTimeADay) {
  Scene scene({{.name = "often", .last = "2026-11-17T14:59:50Z"},
               {.name = "other", .last = "2026-11-17T12:00:00Z"}},
              2 * kG);
  stakes::EvictionTally tally;
  for (int i = 0; i < 3; i++) tally.add("ns/often", kNow - std::chrono::hours(i));
  LossView view{.now = kNow, .tally = &tally};
  EXPECT_THAT(scene.gone(view), ElementsAre("other"));
  scene.task.release["memory"] = 8 * kG;
  EXPECT_EQ(scene.gone(view).size(), 2u) << "unless nobody else suffices";
}

TEST(LeastLossEvict, MarksAskTheSameOrder) {
  const Scene scene({{.name = "old", .last = "2026-11-17T14:00:00Z"},
                     {.name = "fresh", .last = "2026-11-17T14:59:50Z"}},
                    0);
  const Watermark mark{"memory", 90, 85, {}};
  const auto gone = [&](std::optional<double> share, bool leaving = false) {
    const std::vector<WatermarkPod> pods = {{&scene.made[0], share, leaving},
                                            {&scene.made[1], share, false}};
    std::vector<std::string> out;
    for (const MarkVictim& victim : leastLossVictims(mark, 93, pods, {.now = kNow}))
      out.push_back(victim.pod->pod->meta.name.str());
    return out;
  };
  EXPECT_THAT(gone(10), ElementsAre("fresh"));
  EXPECT_THAT(gone(5), ElementsAre("fresh", "old"));
  EXPECT_THAT(gone(std::nullopt), ElementsAre("fresh")) << "one, and the next look decides";
  EXPECT_THAT(gone(10, true), IsEmpty());
  EXPECT_THAT(gone(0), IsEmpty());
}

}  // namespace
}  // namespace mangrove::agent
