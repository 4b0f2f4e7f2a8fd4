#pragma once
// A whole server on a store in memory: send a request as a client does, get the answer.

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "apiserver/core/test_doubles.h"

namespace mangrove::apiserver::testing {

class ServerFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    openStore();
    startServer();
  }
  void openStore() {
    auto opened = store::Store::open({.dir = ""}, [this](Fn fn) { owner_.post(std::move(fn)); });
    ASSERT_TRUE(opened) << opened.error().text();
    store_ = std::move(*opened);
  }
  // As at the start of the process, on what the store holds.
  void startServer() {
    resources_ = Resources();
    context_.emplace(
        Context{clock_, owner_, *store_, resources_, admission_, authorizer_, metrics_, rng_});
    server_ = std::make_unique<Server>(*context_);
  }
  void TearDown() override {
    server_.reset();
    owner_.drain();
  }

  // Without waiting for the answer: what is sent until settle() goes to the store in one batch.
  void hand(ResponderPtr to, const std::string& method, const std::string& target, std::string body,
            std::string type, std::string user = "tester") {
    auto info = parseRequest(method, target);
    EXPECT_TRUE(info) << target;
    Call call{*info,
              Identity{std::move(user), "", {"crew"}, {}},
              std::move(body),
              std::move(type),
              "application/json",
              "test/1"};
    server_->handle(std::move(call), std::move(to));
  }
  std::shared_ptr<std::optional<Answer>> send(const std::string& method, const std::string& target,
                                              std::string body = "",
                                              std::string type = "application/json") {
    auto kept = std::make_shared<std::optional<Answer>>();
    hand(std::make_shared<KeepAnswer>(kept), method, target, std::move(body), std::move(type));
    return kept;
  }
  virtual void settle() {
    owner_.drain();
    store_->flush();
    owner_.drain();
  }
  // Waits for answers that come from other threads.
  Answer ask(const std::string& method, const std::string& target, std::string body = "",
             std::string type = "application/json") {
    auto kept = send(method, target, std::move(body), std::move(type));
    settle();
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
