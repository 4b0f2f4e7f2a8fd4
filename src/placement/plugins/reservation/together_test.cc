// Reservations that are members of a gang: all of them get their room, or none does. What a Spark
// application needs before its driver starts.
#include "placement/testing/reservation_lab.h"

namespace mangrove::placement {
namespace {

class Together : public Reservations {
 protected:
  void member(const std::string& name, const std::string& cpu) {
    reserve({.name = name,
             .cpu = cpu,
             .annotations = R"("gang.scheduling.koordinator.sh/name":"spark-pi-minimum",
                 "gang.scheduling.koordinator.sh/min-available":"3",
                 "gang.scheduling.koordinator.sh/total-number":"3",
                 "gang.scheduling.koordinator.sh/mode":"Strict",
                 "gang.scheduling.koordinator.sh/match-policy":"once-satisfied")"});
  }
  size_t available() const {
    size_t out = 0;
    for (auto name : {"driver", "executor-0", "executor-1"}) {
      const auto found = lab.findReservation(name);
      out += found && found->status.phase == "Available";
    }
    return out;
  }
};

TEST_F(Together, all_get_their_room_or_none_does) {
  node("n1", "8");
  member("driver", "1");
  member("executor-0", "4");
  EXPECT_EQ(available(), 0u);
  member("executor-1", "4");
  lab.wait(std::chrono::seconds(20));
  EXPECT_EQ(available(), 0u);  // 9 of 8
  node("n2", "8");
  lab.wait(std::chrono::seconds(40));
  EXPECT_EQ(available(), 3u) << saidOf("driver");
}

TEST_F(Together, a_driver_waits_for_the_room_of_its_executors) {
  node("n1", "8");
  member("driver", "1");
  pod({.name = "spark-driver", .cpu = "1", .affinity = R"({"name":"driver"})"});
  EXPECT_EQ(lab.nodeOf("spark-driver"), "");
  member("executor-0", "3");
  member("executor-1", "3");
  lab.wait(std::chrono::seconds(20));
  EXPECT_EQ(available(), 2u);  // the driver's is taken
  EXPECT_TRUE(isIn("spark-driver", "driver")) << lab.said("spark-driver");
}

}  // namespace
}  // namespace mangrove::placement
