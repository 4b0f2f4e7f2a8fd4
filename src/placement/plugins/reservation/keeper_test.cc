// Which statuses of reservations wait while bindings do.
#include "placement/plugins/reservation/keeper.h"

#include "placement/framework/group_task.h"
#include "placement/framework/plugin.h"
#include "placement/testing/reservation_lab.h"

namespace mangrove::placement {
namespace {

using namespace std::chrono_literals;

class NoDeeds final : public Deeds {
 public:
  bool busy = true;

  void makeRoom(const PodPtr&, Row, const std::vector<PodPtr>&) override {}
  RoomAnswer makeGroupRoom(const Stranded&, const GroupTask&) override { return {}; }
  void ignored(const api::Pod&, const std::string&) override {}
  void deviceTrouble(const api::Pod&, const std::string&) override {}
  void expel(const PodPtr&, const api::Pod&) override {}
  void overcommitted(const api::Pod&, const std::string&) override {}
  void evict(const PodPtr&, std::string, Done) override {}
  bool isBusy() const override { return busy; }
};

class UntoldOwners : public Reservations {
 protected:
  // The owner is bound, and nobody but this keeper writes that down.
  void ownerCame(const std::string& spec) {
    node("n1");
    reserve({.name = "r", .spec = spec});
    lab.cluster().reservations.keeper = &keeper;
    pod({.name = "p"});
    ASSERT_TRUE(isIn("p", "r"));
  }
  size_t written(std::chrono::seconds later) {
    return keeper.takePatches(lab.cluster().reservations.time() + later).size();
  }

  NoDeeds deeds;
  ReservationArgs args;
  ReservationKeeper keeper{lab.cluster(), args, &deeds};
};

TEST_F(UntoldOwners, wait_while_bindings_do_but_not_for_ever) {
  ownerCame(kMany);
  EXPECT_EQ(written(0s), 0u);
  EXPECT_EQ(written(9s), 0u);
  EXPECT_EQ(written(1s), 1u);
}

TEST_F(UntoldOwners, are_told_at_once_on_a_quiet_day) {
  ownerCame(kMany);
  deeds.busy = false;
  EXPECT_EQ(written(0s), 1u);
}

TEST_F(UntoldOwners, the_only_one_as_well) {
  ownerCame("");
  EXPECT_EQ(written(0s), 0u);
  EXPECT_EQ(written(10s), 1u);
}

TEST_F(UntoldOwners, never_hold_back_the_end) {
  ownerCame(std::string(kMany) + R"(,"ttl":"1m")");
  EXPECT_EQ(written(0s), 0u);
  EXPECT_EQ(written(2min), 1u);
  EXPECT_EQ(lab.cluster().reservations.findByName("r")->isBeingWritten(), true);
}

}  // namespace
}  // namespace mangrove::placement
