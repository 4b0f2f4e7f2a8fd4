// Reservations that begin later: who may use their room until then, and that it is free in time.
#include "base/text/time_text.h"
#include "placement/testing/reservation_lab.h"

namespace mangrove::placement {
namespace {

using namespace std::chrono_literals;

class Later : public Reservations {
 protected:
  std::string startIn(Duration from) {
    const auto at = lab.clock().wall() + std::chrono::floor<WallTime::duration>(from);
    return R"("colocation.mangrove.io/reservation-start":")" + formatTime(at) + R"(")";
  }
  static std::string runs(const std::string& duration) {
    return R"("colocation.mangrove.io/expected-duration":")" + duration + R"(")";
  }
  void stranger(const std::string& name, const std::string& cpu, const std::string& notes = "",
                const std::string& spec = "") {
    pod({.name = name, .cpu = cpu, .app = "y", .annotations = notes, .spec = spec});
  }
};

TEST_F(Later, has_its_node_and_waits) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6", .annotations = startIn(1h)});
  EXPECT_EQ(phase("r"), "Waiting") << saidOf("r");
  EXPECT_EQ(nodeOfReservation("r"), "n1");
  EXPECT_EQ(condition("r", "Scheduled"), "True/Scheduled");
  EXPECT_EQ(condition("r", "Ready"), "False/NotBegun");
  pod({.name = "owner", .cpu = "1", .affinity = R"({"name":"r"})"});
  EXPECT_EQ(lab.nodeOf("owner"), "");  // not before it begins
}

TEST_F(Later, the_room_is_for_those_who_are_gone_by_then) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6", .annotations = startIn(1h)});
  stranger("stays", "4");
  EXPECT_EQ(lab.nodeOf("stays"), "");
  stranger("too-long", "4", runs("1h"));
  EXPECT_EQ(lab.nodeOf("too-long"), "");
  stranger("short", "4", runs("30m"));
  EXPECT_EQ(lab.nodeOf("short"), "n1") << lab.said("short");
  // 6 must be free then: whoever stays sees 2, whatever the short one takes of the 6 meanwhile.
  stranger("stays-too", "3");
  EXPECT_EQ(lab.nodeOf("stays-too"), "");
  stranger("small", "2");
  EXPECT_EQ(lab.nodeOf("small"), "n1");
  stranger("short-too", "2", runs("10m"));
  EXPECT_EQ(lab.nodeOf("short-too"), "n1");
  stranger("full", "1", runs("10m"));
  EXPECT_EQ(lab.nodeOf("full"), "");
}

TEST_F(Later, whoever_is_late_goes_and_the_owner_enters_at_the_start) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6", .annotations = startIn(1h)});
  stranger("short", "8", runs("20m"));
  ASSERT_EQ(lab.nodeOf("short"), "n1") << lab.said("short");
  pod({.name = "owner", .cpu = "6", .affinity = "{}"});
  lab.wait(59min);
  EXPECT_EQ(lab.nodeOf("short"), "n1");  // nobody needs the room yet
  lab.wait(62s);
  EXPECT_FALSE(lab.find("short"));
  EXPECT_EQ(condition("r", "Scheduled"), "True/Scheduled");
  EXPECT_TRUE(isIn("owner", "r")) << lab.said("owner");
  EXPECT_LE(cpuOn("n1"), 8000);
}

TEST_F(Later, lower_priorities_use_it_and_are_evicted_as_few_as_must) {
  node("n1", "8");
  reserve(
      {.name = "r", .cpu = "4", .annotations = startIn(10min), .podSpec = R"(,"priority":100)"});
  stranger("low", "3", "", R"(,"priority":1)");
  stranger("lower", "3", "", R"(,"priority":0)");
  stranger("low-too", "2", "", R"(,"priority":2)");
  for (auto name : {"low", "lower", "low-too"}) ASSERT_EQ(lab.nodeOf(name), "n1") << lab.said(name);
  stranger("equal", "1", "", R"(,"priority":100,"preemptionPolicy":"Never")");
  EXPECT_EQ(lab.nodeOf("equal"), "");
  lab.wait(10min + 2s);
  EXPECT_EQ(phase("r"), "Available");
  EXPECT_FALSE(lab.find("lower"));
  EXPECT_FALSE(lab.find("low"));
  EXPECT_EQ(lab.nodeOf("low-too"), "n1");
}

TEST_F(Later, without_a_priority_of_its_own_it_evicts_nobody) {
  node("n1", "8");
  stranger("low", "6", "", R"(,"priority":-5)");
  reserve({.name = "r", .cpu = "4", .annotations = startIn(10min)});
  EXPECT_EQ(nodeOfReservation("r"), "");
  EXPECT_NE(saidOf("r").find("nobody is evicted before it begins"), std::string::npos)
      << saidOf("r");
  EXPECT_EQ(lab.nodeOf("low"), "n1");
}

TEST_F(Later, several_share_a_node_one_after_the_other) {
  node("n1", "8");
  reserve({.name = "first", .cpu = "6", .spec = R"(,"ttl":"1h")", .annotations = startIn(1h)});
  reserve({.name = "beside", .cpu = "4", .spec = R"(,"ttl":"1h")", .annotations = startIn(90min)});
  reserve({.name = "after", .cpu = "6", .annotations = startIn(2h)});
  EXPECT_EQ(phase("first"), "Waiting");
  EXPECT_EQ(phase("beside"), "");
  EXPECT_EQ(phase("after"), "Waiting");
  stranger("between", "8", runs("30m"));
  EXPECT_EQ(lab.nodeOf("between"), "n1");
}

TEST_F(Later, a_node_that_goes_is_replaced) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6", .annotations = startIn(1h)});
  ASSERT_EQ(nodeOfReservation("r"), "n1");
  lab.removeNode("n1");
  node("n2", "8");
  lab.wait(20s);
  EXPECT_EQ(phase("r"), "Waiting");
  EXPECT_EQ(nodeOfReservation("r"), "n2");
}

TEST_F(Later, a_start_that_has_passed_is_none) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6", .annotations = startIn(-1h)});
  EXPECT_EQ(phase("r"), "Available");
}

TEST_F(Later, its_life_begins_with_its_start) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6", .spec = R"(,"ttl":"10m")", .annotations = startIn(1h)});
  lab.wait(65min);
  EXPECT_EQ(phase("r"), "Available");
  lab.wait(6min);
  EXPECT_EQ(phase("r"), "Failed");
  EXPECT_EQ(cpuOn("n1"), 0);
}

TEST_F(Later, what_cannot_be_kept_for_later_is_refused_in_a_sentence) {
  node("n1", "8");
  reserve({.name = "gpu",
           .cpu = "1",
           .labels = R"("koordinator.sh/qosClass":"LSR")",
           .annotations = startIn(1h)});
  EXPECT_NE(saidOf("gpu").find("keeps amounts only"), std::string::npos) << saidOf("gpu");
  reserve({.name = "bad", .annotations = R"("colocation.mangrove.io/reservation-start":"noon")"});
  EXPECT_EQ(phase("bad"), "");
  EXPECT_NE(lab.cluster().reservations.findByName("bad")->trouble.find("'noon' is no time"),
            std::string::npos);
}

// ---- other schedulers

TEST_F(Later, over_commitment_by_others_is_said_and_nothing_more_is_placed) {
  node("n1", "8");
  reserve({.name = "r", .cpu = "6"});
  lab.takeLog();
  lab.pod(R"({"metadata":{"name":"foreign"},"spec":{"schedulerName":"other","nodeName":"n1",
      "containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]},"status":{"phase":"Running"}})");
  EXPECT_TRUE(lab.engine().hasNews());
  lab.wait(1s);
  std::string said;
  for (const std::string& line : lab.takeLog())
    if (line.find(" over: ") != std::string::npos) said += line + "\n";
  EXPECT_EQ(said,
            "r over: node n1 is over-committed (cpu: 10 of 8 are taken): pod default/foreign of "
            "scheduler other is there beside this reservation; nothing more is placed there\n");
  stranger("nothing-asked", "0");
  EXPECT_EQ(lab.nodeOf("nothing-asked"), "");
  pod({.name = "owner-of-too-much", .cpu = "5", .affinity = "{}"});
  EXPECT_EQ(lab.nodeOf("owner-of-too-much"), "");
  lab.removePod("foreign");
  lab.wait(20s);
  EXPECT_EQ(lab.nodeOf("nothing-asked"), "n1") << lab.said("nothing-asked");
  EXPECT_TRUE(isIn("owner-of-too-much", "r"));
}

}  // namespace
}  // namespace mangrove::placement
