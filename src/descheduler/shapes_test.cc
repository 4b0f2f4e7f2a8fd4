// Room for what nobody asks for yet: places of a shape, and nodes without pods.
#include "descheduler/plan/at_once.h"
#include "descheduler/plugins/make_room.h"
#include "descheduler/testing/room_makers.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RoomMakers;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class Shapes : public RoomMakers {
 protected:
  std::string reason() const {
    return std::string(
        jobs().at(0).meta.annotations.get("koordinator.sh/evict-reason").value_or(""));
  }
};

TEST_F(Shapes, APlaceIsOpenedBeforeAnybodyWaits) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "3"});
  guest({"b-1", "b", "2"});
  makeRoom(R"("shapes":[{"name":"big","requests":{"cpu":"8"}}])");
  EXPECT_THAT(planned(1), UnorderedElementsAre(::testing::AnyOf("a-1 to b", "b-1 to a")));
  EXPECT_THAT(reason(), HasSubstr("makes room for shape big on "));
}

TEST_F(Shapes, WhereThereIsAPlaceNobodyMoves) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "3"});
  makeRoom(R"("shapes":[{"name":"big","requests":{"cpu":"8"}}])");
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(Shapes, SeveralOfThemFindTheirPlacesTogether) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  guest({"a-1", "a", "3"});
  guest({"b-1", "b", "3"});  // c is free: one of the two has to go to the other
  makeRoom(R"("shapes":[{"name":"big","count":2,"requests":{"cpu":"8"}}])");
  EXPECT_THAT(planned(1), UnorderedElementsAre(::testing::AnyOf("a-1 to b", "b-1 to a")));
}

TEST_F(Shapes, TheNodeWithTheFewestPodsIsEmptied) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  for (int i = 0; i < 3; ++i) guest({fmt::format("a-{}", i), "a", "1"});
  for (int i = 0; i < 2; ++i) guest({fmt::format("b-{}", i), "b", "1"});
  for (int i = 0; i < 4; ++i) guest({fmt::format("c-{}", i), "c", "1"});
  makeRoom(R"("emptyNodes":1)");
  const auto moves = planned(2);
  ASSERT_THAT(moves, SizeIs(2)) << ::testing::PrintToString(moves);
  for (const std::string& move : moves) EXPECT_THAT(move, HasSubstr("b-"));
  EXPECT_EQ(reason(), "empties node b");
}

TEST_F(Shapes, AnEmptyNodeIsEnoughAndNobodyMovesOntoIt) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  guest({"a-1", "a", "1"});
  guest({"b-1", "b", "1"});
  makeRoom(R"("emptyNodes":1)");
  EXPECT_THAT(planned(), IsEmpty()) << "c is empty";
}

TEST_F(Shapes, ASecondOneIsEmptiedBesidesTheFirst) {
  machine("a", "8");
  machine("b", "8");
  machine("c", "8");
  guest({"a-1", "a", "1"});
  guest({"b-1", "b", "1"});
  makeRoom(R"("emptyNodes":2)");
  EXPECT_THAT(planned(1), UnorderedElementsAre(::testing::AnyOf("a-1 to b", "b-1 to a")))
      << "not onto c, and not both";
}

TEST_F(Shapes, WhatBelongsToItsNodeDoesNotCount) {
  machine("a", "8");
  machine("b", "8");
  guest({"a-1", "a", "1"});
  guest({"b-mirror", "b", "1", "koord-scheduler", "",
         R"("kubernetes.io/config.mirror":"x","kubernetes.io/config.source":"file")"});
  makeRoom(R"("emptyNodes":1)");
  EXPECT_THAT(planned(), IsEmpty()) << "b has nobody who could leave";
}

TEST_F(Shapes, NodesStayAsTheyAreBeyondTheBudgetOrWithoutAPlace) {
  machine("a", "8");
  machine("b", "8");
  for (int i = 0; i < 3; ++i) guest({fmt::format("a-{}", i), "a", "2"});
  guest({"b-1", "b", "7"});
  makeRoom(R"("emptyNodes":1,"budget":2)");  // three would be too many, and b-1 fits nowhere
  EXPECT_THAT(planned(), IsEmpty());
  EXPECT_THAT(whyNot("b-1"), HasSubstr("nodes are available"));
}

TEST(ShapeArgs, SayWhatIsWrong) {
  const auto said = [](const char* text) {
    return readMakeRoomArgs(*json::parse(text)).error().text();
  };
  EXPECT_THAT(said(R"({"shapes":[{"requests":{"cpu":"1"}}]})"), HasSubstr("name is missing"));
  EXPECT_THAT(said(R"({"shapes":[{"name":"x"}]})"), HasSubstr("requests of shape 'x'"));
  EXPECT_THAT(said(R"({"shapes":[{"name":"x","count":0,"requests":{"cpu":"1"}}]})"),
              HasSubstr("count is 0, want 1 to 64"));
  EXPECT_THAT(said(R"({"shapes":[{"name":"x","requests":{"cpu":"many"}}]})"), HasSubstr("many"));
  EXPECT_THAT(said(R"({"emptyNodes":-1})"), HasSubstr("emptyNodes is -1, want at least 0"));
}

TEST(RoomQuestion, IsPutIntoTheArgumentsOfMakeRoom) {
  DeschedulerConfig config;
  config.profiles.resize(2);
  ASSERT_TRUE(planRoomFor(config, {.shapes = {"cpu=8,memory=32Gi"}, .emptyNodes = 2}));
  ASSERT_EQ(config.profiles.size(), 1U);
  const auto args = readMakeRoomArgs(config.profiles[0].args.at("MakeRoom"));
  ASSERT_TRUE(args) << args.error().text();
  EXPECT_EQ(args->emptyNodes, 2);
  ASSERT_THAT(args->shapes, SizeIs(1));
  EXPECT_EQ(args->shapes[0].name, "cpu=8,memory=32Gi");
  EXPECT_FALSE(args->whom.empty()) << "those that wait were not asked about";
  EXPECT_THAT(planRoomFor(config, {.shapes = {"cpu8"}}).error().text(),
              HasSubstr("found 'cpu8', want RESOURCE=AMOUNT"));
}

}  // namespace
}  // namespace mangrove::descheduler
