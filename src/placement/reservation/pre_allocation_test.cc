#include "placement/reservation/pre_allocation.h"

#include <gmock/gmock.h>

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

NodeRoom nodeWithFree(int64_t cpus, std::span<const Amounts> candidates) {
  NodeRoom out;
  out.allocatable = {{"cpu", cpus * 1000}};
  for (const Amounts& one : candidates) out.allocatable.add(one);
  for (const Amounts& one : candidates) out.requested.add(one);
  return out;
}

const std::vector<Amounts> kCandidates{{{"cpu", 2000}}, {{"cpu", 3000}}, {{"cpu", 4000}}};

PreAllocationVerdict onFree(int64_t cpus, const PreAllocationAsk& ask) {
  return preAllocate(nodeWithFree(cpus, kCandidates), ask, kCandidates);
}

TEST(PreAllocate, SeveralUntilItFits) {
  EXPECT_THAT(onFree(1, {{{"cpu", 6000}}, false, false, true}).taken, ElementsAre(0, 1));
  // The 3 would overflow 5; 2 alone with 3 free is enough anyway.
  EXPECT_THAT(onFree(3, {{{"cpu", 5000}}, false, false, true}).taken, ElementsAre(0));
}

TEST(PreAllocate, OneThatFillsBest) {
  EXPECT_THAT(onFree(4, {{{"cpu", 6000}}, false, false, false}).taken, ElementsAre(2));
  EXPECT_THAT(onFree(4, {{{"cpu", 3000}}, false, false, false}).taken, ElementsAre(1));
}

TEST(PreAllocate, FreeRoomFirstOrLast) {
  const PreAllocationAsk first{{{"cpu", 2000}}, false, true, true};
  EXPECT_TRUE(onFree(4, first).pass);
  EXPECT_THAT(onFree(4, first).taken, IsEmpty());
  EXPECT_THAT(onFree(4, {{{"cpu", 2000}}, false, false, true}).taken, ElementsAre(0));
  // No candidate stays inside a reservation of 1: only free room is left.
  const auto last = onFree(4, {{{"cpu", 1000}}, false, false, true});
  EXPECT_TRUE(last.pass);
  EXPECT_THAT(last.taken, IsEmpty());
}

TEST(PreAllocate, WhoMustTakeSaysWhatWasInTheWay) {
  EXPECT_THAT(onFree(4, {{{"cpu", 1000}}, true, true, false}).reasons,
              ElementsAre("Reservation(s) Insufficient cpu", "Reservation(s) Insufficient cpu",
                          "Reservation(s) Insufficient cpu"));
  EXPECT_THAT(preAllocate(nodeWithFree(4, {}), {{{"cpu", 1000}}, true, false, true}, {}).reasons,
              ElementsAre("no pod(s) to meet the pre-allocation requirements"));
  EXPECT_THAT(onFree(0, {{{"cpu", 20000}}, false, false, true}).reasons,
              ElementsAre("Insufficient cpu by node"));
}

TEST(PreAllocate, FewerAreBetter) {
  const PreAllocationAsk several{{{"cpu", 6000}}, false, true, true};
  EXPECT_EQ(scoreOf(onFree(6, several), several, kCandidates), 100);
  EXPECT_EQ(scoreOf(onFree(4, several), several, kCandidates), 50);
  EXPECT_EQ(scoreOf(onFree(1, several), several, kCandidates), 33);
  const PreAllocationAsk one{{{"cpu", 6000}}, false, false, false};
  EXPECT_EQ(scoreOf(onFree(4, one), one, kCandidates), 66);
}

api::Pod running(std::string_view uid, std::string_view cpu) {
  api::Pod out = *api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"a","uid":"{0}","labels":{{"app":"web"}}}},
          "spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{1}"}}}}}}]}}}})",
      uid, cpu));
  return out;
}

std::vector<std::string> names(const CandidateList& list) {
  std::vector<std::string> out;
  for (const api::Pod* pod : list.pods) out.push_back(pod->meta.name.str());
  return out;
}

TEST(Candidates, OfTheClusterByTheirPriorityThenUid) {
  api::Pod pods[] = {running("d", "1"), running("c", "1"), running("b", "1"),
                     running("a", "1"), running("e", "1"), running("f", "1")};
  for (api::Pod& pod : pods) pod.meta.labels.set(api::label::kPreAllocatable, "true");
  pods[1].meta.annotations.set(api::annotation::kPreAllocatablePriority, "7");
  pods[3].meta.annotations.set(api::annotation::kPreAllocatablePriority, "high");
  pods[4].meta.annotations.set(api::annotation::kReservationAllocated, R"({"name":"r"})");
  pods[5].meta.labels.erase(api::label::kPreAllocatable);
  std::vector<const api::Pod*> all;
  for (const api::Pod& pod : pods) all.push_back(&pod);
  const auto list = clusterCandidates(all);
  EXPECT_THAT(names(list), ElementsAre("c", "a", "b", "d"));
  EXPECT_THAT(list.troubles, SizeIs(1));
}

TEST(Candidates, OfItsOwnersTheBestFillingFirst) {
  auto reservation = *api::decodeText<api::Reservation>(R"({"metadata":{"name":"r"},
    "spec":{"owners":[{},{"labelSelector":{"matchLabels":{"app":"web"}}}],
      "template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}}})");
  api::Pod pods[] = {running("small", "1"), running("large", "3"), running("other", "2"),
                     running("taken", "2"), running("broken", "2")};
  pods[2].meta.labels.set("app", "db");  // the empty term matches it and selects nobody
  pods[3].meta.annotations.set(api::annotation::kReservationAllocated, R"({"name":"x"})");
  pods[4].meta.annotations.set(api::annotation::kReservationAffinity, "{");
  std::vector<const api::Pod*> all;
  for (const api::Pod& pod : pods) all.push_back(&pod);
  const auto list = ownCandidates(all, *ReservationOffer::of(reservation), {});
  EXPECT_THAT(names(list), ElementsAre("large", "small"));
  EXPECT_THAT(list.troubles, SizeIs(1));
}

}  // namespace
}  // namespace mangrove::placement
