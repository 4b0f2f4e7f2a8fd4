#pragma once
// A whole server on a store in memory for the tests of subresources and webhooks: send a request,
// get the answer.

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "apiserver/core/test_doubles.h"

namespace mangrove::apiserver::testing {

class ServerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = store::Store::open({.dir = ""}, [this](Fn fn) { owner_.post(std::move(fn)); });
    ASSERT_TRUE(opened) << opened.error().text();
    store_ = std::move(*opened);
    context_.emplace(
        Context{clock_, owner_, *store_, resources_, admission_, authorizer_, metrics_, rng_});
    server_ = std::make_unique<Server>(*context_);
  }
  void TearDown() override {
    server_.reset();
    owner_.drain();
  }

  std::shared_ptr<std::optional<Answer>> send(std::string method, std::string target,
                                              std::string body, std::string type) {
    auto kept = std::make_shared<std::optional<Answer>>();
    auto info = parseRequest(method, target);
    EXPECT_TRUE(info) << target;
    Call call{*info,
              Identity{"tester", "", {"crew"}, {}},
              std::move(body),
              std::move(type),
              "application/json",
              "test/1"};
    server_->handle(std::move(call), std::make_shared<KeepAnswer>(kept));
    settle();
    return kept;
  }
  void settle() {
    owner_.drain();
    store_->flush();
    owner_.drain();
  }
  // Waits for answers that come from other threads.
  Answer ask(std::string method, std::string target, std::string body = "",
             std::string type = "application/json") {
    auto kept = send(std::move(method), std::move(target), std::move(body), std::move(type));
    while (!*kept && owner_.runOne(std::chrono::seconds(30))) settle();
    EXPECT_TRUE(*kept) << "no answer";
    return kept->value_or(Answer{});
  }
  Answer merge(std::string target, std::string body) {
    return ask("PATCH", std::move(target), std::move(body), "application/merge-patch+json");
  }
  static std::string at(const Answer& answer, std::string_view pointer) {
    return textAt(answer, pointer);
  }

  VirtualClock clock_{WallTime(std::chrono::seconds(1'800'000'000))};
  Mailbox owner_;
  std::unique_ptr<store::Store> store_;
  Resources resources_;
  AdmissionChain admission_;
  AllowEverything authorizer_;
  Registry metrics_;
  Rng rng_{1};
  std::optional<Context> context_;
  std::unique_ptr<Server> server_;
};

}  // namespace mangrove::apiserver::testing
