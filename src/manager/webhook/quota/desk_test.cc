// Booking pods on quotas against a small API server: one write for many pods, conflicts, refusals.
#include "manager/webhook/quota/desk.h"

#include <gtest/gtest.h>

#include "base/testing/wait.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::at;
namespace kind = client::kind;

class QuotaDeskTest : public ::testing::Test {
 protected:
  QuotaDeskTest() {
    api_.put(kind::kElasticQuota, "q", "team", R"({"spec":{"max":{"cpu":"4"}}})");
    client_ = *client::HttpApiClient::make(loop_, realClock(), api_.config(), {.perSecond = 0});
    picture_ = std::make_unique<ClusterPicture>(PictureSetup{client_.get(),
                                                             &owner_,
                                                             &worker_.mailbox(),
                                                             &realClock(),
                                                             nullptr,
                                                             1,
                                                             "koordinator-system",
                                                             "slo-controller-config",
                                                             {}});
    desk_ = std::make_unique<QuotaDesk>(DeskSetup{.client = client_.get(),
                                                  .owner = &owner_,
                                                  .clock = &realClock(),
                                                  .picture = picture_.get(),
                                                  .retryJitter = std::chrono::milliseconds(4),
                                                  .maxTotalJitter = std::chrono::milliseconds(9)});
    picture_->start();
    EXPECT_TRUE(runUntil([&] { return picture_->now()->quotas->find("team") != nullptr; }));
  }
  ~QuotaDeskTest() override {
    desk_.reset();
    picture_.reset();
  }

  template <class Condition>
  bool runUntil(Condition condition) {
    return mangrove::runUntil(owner_, std::move(condition));
  }

  void book(std::string_view cpu, bool dryRun = false) {
    const size_t place = reviews_.size();
    reviews_.emplace_back();
    desk_->book("team", api::ResourceList{{"cpu", cpu}}, dryRun,
                [this, place](Review review) { reviews_[place] = std::move(review); });
  }
  bool allAnswered() {
    for (const auto& review : reviews_)
      if (!review) return false;
    return true;
  }
  std::string childRequest() {
    return at(*json::parse(api_.truth(kind::kElasticQuota).at("q/team")),
              "metadata|annotations|quota.scheduling.koordinator.sh/child-request");
  }

  net::Loop loop_{1};
  client::testing::FakeApi api_{loop_};
  Mailbox owner_;
  std::unique_ptr<client::HttpApiClient> client_;
  client::Worker worker_;
  std::unique_ptr<ClusterPicture> picture_;
  std::unique_ptr<QuotaDesk> desk_;
  std::vector<std::optional<Review>> reviews_;
};

TEST_F(QuotaDeskTest, BooksInTheOrderOfArrivalAndNeverTooMuch) {
  for (int i = 0; i < 6; ++i) book("1");
  ASSERT_TRUE(runUntil([&] { return allAnswered(); }));
  int allowed = 0;
  for (const auto& review : reviews_) allowed += review->allowed ? 1 : 0;
  EXPECT_EQ(allowed, 4);
  EXPECT_FALSE(reviews_[5]->allowed);
  EXPECT_EQ(reviews_[5]->message,
            "exceeded quota: q/team, requested: cpu=1, used: cpu=4, limited: cpu=4");
  EXPECT_EQ(childRequest(), R"({"cpu":"4"})");
}

TEST_F(QuotaDeskTest, DryRunsBookNothing) {
  book("3", true);
  ASSERT_TRUE(runUntil([&] { return allAnswered(); }));
  EXPECT_TRUE(reviews_[0]->allowed);
  EXPECT_EQ(childRequest(), "(absent)");
}

TEST_F(QuotaDeskTest, JudgesAnewWhenSomebodyElseWasFaster) {
  int refusals = 3;  // one less than all tries
  api_.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.method != "PATCH" || refusals-- <= 0) return std::nullopt;
    return net::HttpResponse::json(409, R"({"kind":"Status","reason":"Conflict","code":409})");
  });
  book("2");
  ASSERT_TRUE(runUntil([&] { return allAnswered(); }));
  EXPECT_TRUE(reviews_[0]->allowed) << reviews_[0]->message;
  EXPECT_EQ(childRequest(), R"({"cpu":"2"})");
}

TEST_F(QuotaDeskTest, GivesUpWhenTheRaceIsLostTooOften) {
  api_.setHook([&](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
    if (request.method != "PATCH") return std::nullopt;
    return net::HttpResponse::json(409, R"({"kind":"Status","reason":"Conflict","code":409})");
  });
  book("2");
  ASSERT_TRUE(runUntil([&] { return allAnswered(); }));
  EXPECT_FALSE(reviews_[0]->allowed);
  EXPECT_EQ(reviews_[0]->code, 500);
}

TEST_F(QuotaDeskTest, SaysWhenThereIsNoSuchQuota) {
  bool answered = false;
  desk_->book("nobody", {}, false, [&](Review review) {
    answered = true;
    EXPECT_EQ(review.code, 500);
    EXPECT_EQ(review.message, "quota nobody: there are 0 quotas called nobody; want exactly one");
  });
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace mangrove::manager
