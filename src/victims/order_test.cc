#include "victims/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::victims {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WallTime kNow{hours(1000)};

Candidate saver(std::string name, double cores, Duration sinceSaved, double frees) {
  Candidate c{.name = std::move(name), .kind = "job", .frees = {frees}};
  c.progress = {.says = Progress::Says::kSaves, .cores = cores, .started = kNow - hours(10)};
  c.progress.saved = kNow - std::chrono::duration_cast<std::chrono::microseconds>(sinceSaved);
  return c;
}
Candidate gpuJob(std::string name, double gpus, Duration sinceSaved) {
  Candidate c = saver(std::move(name), 0, sinceSaved, gpus);
  c.progress.gpus = gpus;
  return c;
}
Request need(double amount) {
  return {.need = {amount}, .now = kNow};
}
std::vector<std::string> names(const Choice& choice) {
  std::vector<std::string> out;
  for (const Leaver& leaver : choice.leavers) out.push_back(leaver.name);
  return out;
}

TEST(Victims, TheJobThatSavedLastGoesAndSaysWhatTheOtherWouldHaveLost) {
  Candidate z = gpuJob("z", 4, {});
  z.progress.says = Progress::Says::kNothing;
  z.progress.started = kNow - hours(2);
  const std::vector<Candidate> all = {gpuJob("x", 8, minutes(9)), gpuJob("y", 8, minutes(1)), z};
  const Choice choice = chooseVictims(all, need(8));
  ASSERT_THAT(names(choice), ElementsAre("y"));
  EXPECT_EQ(choice.leavers[0].cost, (Cost{24'000, 72'000}));
  EXPECT_EQ(choice.leavers[0].nextName, "x");
  EXPECT_EQ(choice.leavers[0].nextCost, (Cost{216'000, 72'000}));
  EXPECT_EQ(sentence(choice.leavers[0]),
            "loses 24000 core seconds of work and 72000 for its restart; x would have lost 216000 "
            "and 72000");
}

TEST(Victims, SaysWhenNobodyElseCouldHaveGone) {
  const std::vector<Candidate> all = {saver("a", 1, seconds(10), 5)};
  EXPECT_EQ(sentence(chooseVictims(all, need(5)).leavers.at(0)),
            "loses 10 core seconds of work and 180 for its restart; nobody else could have gone");
}

TEST(Victims, ALowerClassGoesFirstHoweverMuchItLoses) {
  std::vector<Candidate> all = {saver("cheap-prod", 1, seconds(1), 8),
                                saver("dear-batch", 8, hours(5), 8)};
  all[0].rank = 4;
  all[1].rank = 2;
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("dear-batch"));
}

TEST(Victims, ALowerPriorityGoesFirstWithinAClass) {
  std::vector<Candidate> all = {saver("high", 1, seconds(1), 8), saver("low", 8, hours(5), 8)};
  all[0].priority = 5500;
  all[1].priority = 5000;
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("low"));
}

// All of the lower priority would go, but with the one that must go above, one of them is enough.
TEST(Victims, TakesFromTheLowerPriorityOnlyWhatIsStillNeeded) {
  std::vector<Candidate> all = {saver("low-1", 1, seconds(10), 2),
                                saver("low-2", 1, seconds(90), 2),
                                saver("high", 1, seconds(10), 6)};
  all[2].priority = 1;
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("low-1", "high"));
}

TEST(Victims, TheCheapestSetNotTheCheapestOneByOne) {
  const std::vector<Candidate> all = {saver("small-1", 1, seconds(20), 4),
                                      saver("small-2", 1, seconds(20), 4),
                                      saver("large", 1, seconds(200), 8)};
  // Two small ones lose 20 + 180 each, the large one 200 + 180.
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("large"));
}

TEST(Victims, NeverMoreThanNeeded) {
  const std::vector<Candidate> all = {saver("a", 0, seconds(1), 4), saver("b", 0, seconds(1), 4),
                                      saver("c", 0, seconds(1), 4)};
  EXPECT_EQ(chooseVictims(all, need(5)).leavers.size(), 2U) << "free ones are not thrown in";
  EXPECT_THAT(names(chooseVictims(all, need(0))), IsEmpty());
}

TEST(Victims, GangsLeaveWholeAndPayForAllMembers) {
  std::vector<Candidate> all = {saver("g-0", 1, seconds(10), 4), saver("g-1", 1, seconds(10), 0),
                                saver("alone", 1, seconds(100), 4)};
  all[0].gang = all[1].gang = "ns/g";
  EXPECT_THAT(names(chooseVictims(all, need(4))), ElementsAre("alone"));
  all[2].progress.saved = kNow - hours(1);
  const Choice choice = chooseVictims(all, need(4));
  EXPECT_THAT(names(choice), ElementsAre("gang ns/g (2 pods)"));
  EXPECT_THAT(choice.candidates(), ElementsAre(0, 1));
}

TEST(Victims, AGangStandsAsHighAsItsHighestMember) {
  std::vector<Candidate> all = {saver("g-0", 1, seconds(1), 4), saver("g-1", 1, seconds(1), 4),
                                saver("alone", 1, hours(1), 4)};
  all[0].gang = all[1].gang = "g";
  all[1].rank = 4;
  EXPECT_THAT(names(chooseVictims(all, need(4))), ElementsAre("alone"));
}

TEST(Victims, AGangStaysWithAMemberThatMustStay) {
  std::vector<Candidate> all = {saver("g-0", 1, seconds(1), 4), saver("g-1", 1, seconds(1), 4)};
  all[0].gang = all[1].gang = "g";
  all[1].spared = true;
  EXPECT_THAT(names(chooseVictims(all, need(4))), IsEmpty());
}

TEST(Victims, NoJobAFourthTimeADayUnlessNobodyElseSuffices) {
  std::vector<Candidate> all = {saver("often", 1, seconds(1), 8), saver("dear", 8, hours(5), 8)};
  all[0].evictedToday = 3;
  all[1].priority = 900;
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("dear"));
  EXPECT_THAT(names(chooseVictims(all, need(9))), ElementsAre("dear", "often"));
  all[0].evictedToday = 2;
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("often"));
}

TEST(Victims, WhoCarriesItsJobGoesLastOfItsPriority) {
  std::vector<Candidate> all = {saver("driver", 1, seconds(1), 4),
                                saver("executor", 4, hours(2), 4), saver("other", 4, hours(1), 4)};
  all[0].carries = true;
  EXPECT_THAT(names(chooseVictims(all, need(4))), ElementsAre("other"));
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("other", "executor"));
  EXPECT_THAT(names(chooseVictims(all, need(9))), ElementsAre("other", "executor", "driver"));
  all[1].priority = all[2].priority = 1;
  EXPECT_THAT(names(chooseVictims(all, need(4))), ElementsAre("driver")) << "priority comes first";
}

TEST(Victims, AServiceIsNotThrownOutToSpareABatchJobItsFourthTime) {
  std::vector<Candidate> all = {saver("often", 1, seconds(1), 8),
                                saver("service", 1, seconds(1), 8)};
  all[0].evictedToday = 3;
  all[1].rank = 4;
  EXPECT_THAT(names(chooseVictims(all, need(8))), ElementsAre("often"));
}

TEST(Victims, TooLittleMeansNobodyOrEverybodyAsAsked) {
  const std::vector<Candidate> all = {saver("a", 1, seconds(1), 4), saver("b", 1, seconds(1), 3)};
  EXPECT_THAT(names(chooseVictims(all, need(8))), IsEmpty());
  Request emergency = need(8);
  emergency.evenIfShort = true;
  const Choice choice = chooseVictims(all, emergency);
  EXPECT_FALSE(choice.enough);
  EXPECT_THAT(names(choice), ElementsAre("a", "b"));
}

TEST(Victims, WithoutANeedEverybodyLeavesInOrder) {
  std::vector<Candidate> all = {saver("dear", 1, hours(1), 4), saver("cheap", 1, seconds(1), 4),
                                saver("prod", 1, seconds(1), 4)};
  all[2].rank = 4;
  EXPECT_THAT(names(chooseVictims(all, {.now = kNow})), ElementsAre("cheap", "dear", "prod"));
}

TEST(Victims, EveryAmountOfTheNeedMustBeFreed) {
  std::vector<Candidate> all = {saver("cpu", 1, seconds(1), 0), saver("memory", 1, seconds(1), 0),
                                saver("both", 1, minutes(30), 0)};
  all[0].frees = {4, 0};
  all[1].frees = {0, 4};
  all[2].frees = {4, 4};
  EXPECT_THAT(names(chooseVictims(all, {.need = {4, 4}, .now = kNow})),
              ElementsAre("cpu", "memory"));
}

TEST(Victims, TheCallersFiltersHaveTheLastWord) {
  const std::vector<Candidate> all = {saver("cheap", 1, seconds(1), 4),
                                      saver("holds-the-port", 1, minutes(9), 4)};
  Request request = need(4);
  request.suffices = [](std::span<const size_t> gone) {
    return std::find(gone.begin(), gone.end(), 1U) != gone.end();
  };
  EXPECT_THAT(names(chooseVictims(all, request)), ElementsAre("holds-the-port"));
}

TEST(Victims, AGangGivesSurplusMembersBeforeItGoesWhole) {
  std::vector<Candidate> all;
  for (int i = 0; i < 4; i++) {
    Candidate one{.name = "g" + std::to_string(i), .gang = "g", .rank = 2, .frees = {10}};
    one.surplus = i >= 2;
    one.progress.cores = 1;
    all.push_back(one);
  }
  EXPECT_EQ(chooseVictims(all, {.need = {20}}).candidates(), (std::vector<size_t>{2, 3}));
  EXPECT_EQ(chooseVictims(all, {.need = {30}}).candidates().size(), 4u);
  EXPECT_EQ(chooseVictims(all, {.need = {10}}).leavers.at(0).name, "g2");
  // Whose needed members are not listed is never broken.
  all.erase(all.begin(), all.begin() + 2);
  EXPECT_FALSE(chooseVictims(all, {.need = {30}}).enough);
  EXPECT_EQ(chooseVictims(all, {.need = {20}}).candidates().size(), 2u);
}

}  // namespace
}  // namespace mangrove::victims
