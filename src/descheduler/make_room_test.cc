// Room for pods that wait: the fewest others move, all of them or none, and nobody for nothing.
#include "descheduler/plugins/make_room.h"

#include "descheduler/testing/room_makers.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

using testing::RoomMakers;

TEST_F(RoomMakers, TheFewestMoveForOneThatWaits) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  guest({"a-1", "a", "2"});
  guest({"a-2", "a", "2"});
  guest({"a-3", "a", "2"});  // 2 free: two would have to go
  guest({"b-1", "b", "4"});
  guest({"b-2", "b", "1"});  // 3 free: b-1 alone does it, and b-2 does not
  guest({"c-1", "c", "4"});  // 4 free
  waits("big", "6");
  makeRoom("");
  EXPECT_THAT(planned(1), UnorderedElementsAre("b-1 to c"));
  EXPECT_THAT(jobs()[0].meta.annotations.get("koordinator.sh/evict-reason").value_or(""),
              HasSubstr("makes room for d/big on b"));
}

TEST_F(RoomMakers, AMachineIsEmptiedWhoseGuestsFitElsewhere) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "3"});
  guest({"a-2", "a", "3"});
  guest({"b-1", "b", "2"});
  waits("whole", "8");  // a whole machine: only b-1 has a place elsewhere
  makeRoom("");
  EXPECT_THAT(planned(1), UnorderedElementsAre("b-1 to a"));
}

TEST_F(RoomMakers, ABudgetIsKeptAndNobodyMovesForNothing) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  for (int i = 0; i < 4; ++i) guest({fmt::format("a-{}", i), "a", "2"});
  for (int i = 0; i < 4; ++i) guest({fmt::format("b-{}", i), "b", "1"});
  guest({"c-1", "c", "1"});
  waits("big", "8");
  makeRoom(R"("budget":1)");  // c alone can be emptied by one move
  EXPECT_THAT(planned(1), UnorderedElementsAre("c-1 to b"));
}

TEST_F(RoomMakers, WhoHasRoomAnywayNeedsNobodyToMove) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "6"});
  waits("small", "4");
  makeRoom("");
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(RoomMakers, NobodyMovesForOneThatMattersLess) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "4", "koord-scheduler", R"("priority":9000,)"});
  guest({"b-1", "b", "4", "koord-scheduler", R"("priority":9000,)"});
  waits("big", "6");
  makeRoom("");
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(RoomMakers, AGangGetsRoomForAllItsMembers) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "16");
  guest({"a-1", "a", "4"});
  guest({"b-1", "b", "4"});
  guest({"c-1", "c", "6"});
  const std::string gang =
      R"("gang.scheduling.koordinator.sh/name":"g","gang.scheduling.koordinator.sh/min-available":"2")";
  waits("g-0", "8", gang);
  waits("g-1", "8", gang);  // c has room for one; the other needs a or b whole
  waits("stranger", "8");
  makeRoom(R"("for":["d/g"])");
  const auto moves = planned(1);
  ASSERT_THAT(moves, SizeIs(1)) << ::testing::PrintToString(moves);
  EXPECT_THAT(moves[0], ::testing::AnyOf("a-1 to b", "b-1 to a"));
  EXPECT_THAT(jobs()[0].meta.annotations.get("koordinator.sh/evict-reason").value_or(""),
              HasSubstr("makes room for d/g-0 and 1 more"));
}

TEST_F(RoomMakers, ADryRunShowsThePlanAndMovesNobody) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "4"});
  guest({"b-1", "b", "4"});
  waits("big", "6");
  makeRoom("", true);
  EXPECT_TRUE(until([&] { return descheduler->journal().moves().size() == 1; },
                    std::chrono::milliseconds(100)));
  EXPECT_EQ(descheduler->journal().moves()[0].plugin, "MakeRoom");
  EXPECT_THAT(jobs(), IsEmpty());
}

// Stopping one job stops all that have not left.
TEST_F(RoomMakers, APlanCanBeStopped) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  guest({"a-1", "a", "2"});
  guest({"a-2", "a", "2"});
  guest({"b-1", "b", "6"});
  guest({"c-1", "c", "6"});
  waits("big", "8");
  makeRoom("");
  ASSERT_TRUE(until([&] { return jobs().size() == 2; }, std::chrono::milliseconds(100)));
  const std::string stopped = jobs()[0].meta.name.str();
  json::Value object = *json::parse(api.truth(kind::kPodMigrationJob).at(stopped));
  object.as_object()["status"] = json::Object{{"phase", "Aborted"}};
  api.put(kind::kPodMigrationJob, "", stopped, json::write(object));
  ASSERT_TRUE(until([&] {
    for (const auto& job : jobs())
      if (job.meta.name.str() != stopped && job.status.reason == "CompanionFailed") return true;
    return false;
  }));
  EXPECT_TRUE(hasPod("a-1") && hasPod("a-2"));
}

TEST(MakeRoomArgs, SaysWhatIsWrong) {
  EXPECT_THAT(readMakeRoomArgs(*json::parse(R"({"budget":0})")).error().text(),
              HasSubstr("budget is 0, want at least 1 move"));
  EXPECT_THAT(readMakeRoomArgs(*json::parse(R"({"for":["web"]})")).error().text(),
              HasSubstr("for names 'web', want namespace/name"));
}

}  // namespace
}  // namespace mangrove::descheduler
