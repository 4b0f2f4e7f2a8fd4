#include "frame/role.h"

#include <array>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "frame/role_flags.h"

namespace mangrove::frame {
namespace {

constexpr std::array kGates = {GateInfo{"Shiny", false, Maturity::kAlpha, "a new thing"}};

// A role that does one thing on start and can refuse to stop.
class ToyRole final : public Role {
 public:
  enum class OnStart { kQuit, kSignal, kFail };
  explicit ToyRole(OnStart onStart) : onStart_(onStart) {}

  RoleInfo info() const override {
    return {.name = "toy",
            .about = "plays",
            .opsDefault = "127.0.0.1:0",
            .gates = kGates,
            .stopGrace = std::chrono::milliseconds(50)};
  }
  void flags(Flags& flags) override {
    flags.add("stubborn", stubborn_, "never stops");
    refuseRecord(flags, "toys forget");
  }
  Result<> start(RoleContext& context) override {
    shiny = context.gates.on("Shiny");
    served = context.ops != nullptr;
    readyInStart = context.health.readiness().good;
    context.owner.post([this, &context] { readyAfterStart = context.health.readiness().good; });
    if (onStart_ == OnStart::kFail) return fail(Code::kUnavailable, "no toys");
    if (onStart_ == OnStart::kQuit) context.quit(3);
    if (onStart_ == OnStart::kSignal) context.owner.post([] { ::kill(::getpid(), SIGTERM); });
    return {};
  }
  void stop(Fn stopped) override {
    asked = true;
    if (!stubborn_) stopped();
  }

  bool shiny = false;
  bool served = false;
  bool readyInStart = true, readyAfterStart = false;
  bool asked = false;

 private:
  OnStart onStart_;
  bool stubborn_ = false;
};

TEST(Role, ThatCannotBeRecordedSaysWhy) {
  ToyRole role(ToyRole::OnStart::kQuit);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(runRole(role, {"--record", "/nowhere/day"}), 2);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("toys forget"), std::string::npos);
  EXPECT_FALSE(role.asked);
}

TEST(Role, RunsUntilItQuitsAndReturnsItsCode) {
  ToyRole role(ToyRole::OnStart::kQuit);
  EXPECT_EQ(runRole(role, {"--feature-gates=Shiny=true", "-v=0"}), 3);
  EXPECT_TRUE(role.shiny);
  EXPECT_TRUE(role.served);
  EXPECT_TRUE(role.asked);
}

TEST(Role, IsReadyOnlyOnceItHasStarted) {
  ToyRole role(ToyRole::OnStart::kQuit);
  EXPECT_EQ(runRole(role, {}), 3);
  EXPECT_FALSE(role.readyInStart);
  EXPECT_TRUE(role.readyAfterStart);
}

TEST(Role, ServesNothingWhenToldSo) {
  ToyRole role(ToyRole::OnStart::kQuit);
  EXPECT_EQ(runRole(role, {"--metrics-bind-address=0"}), 3);
  EXPECT_FALSE(role.served);
}

TEST(Role, WrongFlagsAreExitCodeTwo) {
  for (const std::string flag : {"--feature-gates=Shinny=true", "--logging-format=xml", "--nope",
                                 "--metrics-bind-address=nowhere", "--vmodule=a=loud"}) {
    ToyRole role(ToyRole::OnStart::kQuit);
    EXPECT_EQ(runRole(role, {flag}), 2) << flag;
    EXPECT_FALSE(role.asked);
  }
}

TEST(Role, FailureToStartIsExitCodeOne) {
  ToyRole role(ToyRole::OnStart::kFail);
  EXPECT_EQ(runRole(role, {}), 1);
}

TEST(RoleDeathTest, SigtermStopsItInOrder) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ToyRole role(ToyRole::OnStart::kSignal);
        ::_exit(runRole(role, {}));
      },
      testing::ExitedWithCode(0), "stopping toy after signal 15");
}

TEST(Role, GivesUpOnARoleThatDoesNotStop) {
  ToyRole role(ToyRole::OnStart::kQuit);
  EXPECT_EQ(runRole(role, {"--stubborn"}), 1);
}

}  // namespace
}  // namespace mangrove::frame
