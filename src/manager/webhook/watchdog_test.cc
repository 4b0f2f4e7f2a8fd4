// What the manager notices when API servers do not reach it.
#include "manager/webhook/watchdog.h"

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"
#include "json/value.h"

namespace mangrove::manager {
namespace {

using namespace std::chrono_literals;

Result<client::Reply> refusal(const std::string& text) {
  return fail(Code::kInternal, "{}", text);
}

TEST(Watchdog, ReadsWhatTheServerCouldNotCall) {
  EXPECT_EQ(uncalledWebhook(client::Reply{}), "");
  EXPECT_EQ(
      uncalledWebhook(refusal(
          R"(Internal error occurred: failed calling webhook "vpod.koordinator.sh": refused)")),
      "vpod.koordinator.sh");
  EXPECT_EQ(uncalledWebhook(refusal(R"(failed calling webhook "x.example.com": refused)")),
            std::nullopt);
  EXPECT_EQ(uncalledWebhook(refusal(
                R"(admission webhook "velasticquota.koordinator.sh" denied the request: no)")),
            "");
  EXPECT_EQ(uncalledWebhook(refusal("the server could not find the requested resource")),
            std::nullopt);
}

struct Kennel {
  Kennel() {
    dog.start([this] { return registered; });
  }
  void minute() {
    clock.advance(60s);
    owner.drain();
  }
  void answer(int status, const std::string& message) {
    api.reply(status, R"({"kind":"Status","code":)" + std::to_string(status) + R"(,"message":")" +
                          message + R"("})");
    while (owner.drain() > 0) {
    }
  }
  // Reasons of the Events asked for, in order; each is created.
  std::vector<std::string> told() {
    std::vector<std::string> out;
    while (owner.drain() > 0) {
    }
    while (!api.pending.empty()) {
      const auto event = json::parse(api.next().body);
      out.emplace_back(event->at("reason").as_string());
      api.reply(201, api.next().body);
      while (owner.drain() > 0) {
      }
    }
    return out;
  }

  VirtualClock clock{WallTime{} + 500000h};
  Mailbox owner;
  client::testing::ScriptedClient api;
  Registry metrics;
  client::EventRecorder events{api, owner, clock, {.component = "test"}};
  bool registered = true;
  WebhookWatchdog dog{{.client = &api,
                       .owner = &owner,
                       .clock = &clock,
                       .metrics = &metrics,
                       .events = &events,
                       .mutatingName = "m",
                       .validatingName = "v"}};
};

TEST(Watchdog, TellsOnceWhenTheWayIsBlockedAndOnceWhenItIsFree) {
  Kennel kennel;
  kennel.minute();
  ASSERT_EQ(kennel.api.pending.size(), 1U);
  EXPECT_TRUE(kennel.api.next().query.dryRun) << "nothing may be stored";
  kennel.answer(201, "");
  EXPECT_TRUE(kennel.told().empty());
  EXPECT_NE(kennel.metrics.exposition().find("mangrove_manager_webhook_reachable 1"),
            std::string::npos);

  const std::string broken = R"(failed calling webhook \"melasticquota.koordinator.sh\": refused)";
  kennel.minute();
  kennel.answer(500, broken);
  EXPECT_EQ(kennel.told(), std::vector<std::string>{"WebhookUnreachable"});
  EXPECT_NE(kennel.metrics.exposition().find("mangrove_manager_webhook_reachable 0"),
            std::string::npos);
  kennel.minute();
  kennel.answer(500, broken);
  EXPECT_TRUE(kennel.told().empty()) << "it is known";
  kennel.minute();
  kennel.answer(201, "");
  EXPECT_EQ(kennel.told(), std::vector<std::string>{"WebhookReachable"});
}

TEST(Watchdog, IsQuietWhileNothingIsRegistered) {
  Kennel kennel;
  kennel.registered = false;
  kennel.minute();
  EXPECT_TRUE(kennel.api.pending.empty());
  EXPECT_EQ(kennel.metrics.exposition().find("webhook_reachable"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::manager
