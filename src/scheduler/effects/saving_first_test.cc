#include "scheduler/effects/saving_first.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/wait.h"
#include "base/text/time_text.h"
#include "client/http/http_api_client.h"
#include "client/testing/fake_api.h"
#include "json/value.h"

namespace mangrove::scheduler {
namespace {

using namespace std::chrono_literals;
namespace kind = client::kind;

class SavingFirstTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kContract =
      R"("colocation.mangrove.io/checkpoint":"{\"mode\":\"signal\",\"maxSeconds\":5}")";

  void put(const std::string& annotations) {
    api.put(kind::kPod, "d", "p",
            R"({"metadata":{"uid":"u","annotations":{)" + annotations +
                R"(}},"spec":{"containers":[{"name":"c"}]}})");
  }
  api::Pod pod() const { return *api::decodeText<api::Pod>(api.truth(kind::kPod).at("d/p")); }
  void ask(bool insists) {
    saving.ask(pod(), {"Preemption", insists}, [this](const Result<>& mayGo) {
      answers++;
      good = mayGo.has_value();
    });
  }
  bool isAsked() const {
    return api.truth(kind::kPod).at("d/p").find("checkpoint-request") != std::string::npos;
  }
  template <class Condition>
  bool until(Condition condition) {
    return runUntil(owner, clock, std::move(condition));
  }
  double count(const char* result) {
    return metrics.counters("mangrove_scheduler_checkpoints_total", "", {"result"})
        .with({result})
        .value();
  }

  Mailbox owner;
  VirtualClock clock{*parseTime("2026-11-18T02:00:00Z")};
  net::Loop loop{1};
  client::testing::FakeApi api{loop, {.seed = 7, .retryAfter = 0}};
  Registry metrics;
  std::unique_ptr<client::HttpApiClient> client =
      *client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0});
  SavingFirst saving{*client, owner, clock, metrics};
  int answers = 0;
  bool good = false;
};

TEST_F(SavingFirstTest, WhoHasNothingToSaveGoesAtOnce) {
  put("");
  ask(false);
  EXPECT_EQ(answers, 1);
  EXPECT_TRUE(good);
  EXPECT_FALSE(isAsked());
}

TEST_F(SavingFirstTest, GoesOnceItHasSaved) {
  put(std::string(kContract));
  ask(false);
  ASSERT_TRUE(until([&] { return isAsked(); }));
  EXPECT_EQ(answers, 0);
  auto object = *json::parse(api.truth(kind::kPod).at("d/p"));
  object.as_object()["metadata"]
      .as_object()["annotations"]
      .as_object()["colocation.mangrove.io/checkpoint-last"] = formatTime(clock.wall() + 1s);
  api.put(kind::kPod, "d", "p", json::write(object));
  ASSERT_TRUE(until([&] { return answers == 1; }));
  EXPECT_TRUE(good);
  EXPECT_EQ(count("saved"), 1);
  EXPECT_EQ(saving.waiting(), 0u);
}

TEST_F(SavingFirstTest, AtTheDeadlineTheMightyInsistAndOthersTakeTheNext) {
  for (const bool insists : {true, false}) {
    put(std::string(kContract));
    answers = 0;
    const MonoTime before = clock.mono();
    ask(insists);
    ASSERT_TRUE(until([&] { return answers == 1; }));
    EXPECT_EQ(good, insists);
    EXPECT_GE(clock.mono() - before, Duration(5s));
  }
  EXPECT_EQ(count("late"), 1);
  EXPECT_EQ(count("spared"), 1);
}

TEST_F(SavingFirstTest, WhoIsGoneMayGo) {
  put(std::string(kContract));
  ask(false);
  ASSERT_TRUE(until([&] { return isAsked(); }));
  api.remove(kind::kPod, "d", "p");
  ASSERT_TRUE(until([&] { return answers == 1; }));
  EXPECT_TRUE(good);
}

// The request is on the pod: a successor waits for the same deadline and writes no other one.
TEST_F(SavingFirstTest, ASuccessorWaitsForTheSameDeadline) {
  put(std::string(kContract));
  {
    SavingFirst first(*client, owner, clock, metrics);
    first.ask(pod(), {"Preemption", true}, [](const Result<>&) { FAIL() << "it is gone"; });
    ASSERT_TRUE(until([&] { return isAsked(); }));
  }
  clock.advance(3s);
  const MonoTime before = clock.mono();
  ask(true);
  ASSERT_TRUE(until([&] { return answers == 1; }));
  EXPECT_LT(clock.mono() - before, Duration(4s));
  EXPECT_EQ(count("asked"), 1);
}

}  // namespace
}  // namespace mangrove::scheduler
