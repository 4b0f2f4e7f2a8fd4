#include "apiserver/in_process_client.h"

#include <gtest/gtest.h>

#include "apiserver/embedded.h"

namespace mangrove::apiserver {
namespace {

// What a request is when its client closes: still in the mailbox, on its way to the disk, answered.
class InProcessClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = EmbeddedServer::open(clock_, owner_, metrics_, {.seed = 7});
    ASSERT_TRUE(opened) << opened.error().text();
    server_ = std::move(*opened);
    client_ = std::make_unique<InProcessClient>(owner_, server_->server(), Identity::system());
    owner_.drain();
  }
  void create(const std::string& name) {
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {client::kind::kNamespace, "", ""};
    request.body =
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + R"("}})";
    client_->submit(std::move(request), [this](Result<client::Reply>) { ++told_; });
  }
  bool exists(const std::string& name) {
    return server_->context().store.get(Interned("namespaces"), "", name) != nullptr;
  }

  VirtualClock clock_;
  Mailbox owner_;
  Registry metrics_;
  std::unique_ptr<EmbeddedServer> server_;
  std::unique_ptr<InProcessClient> client_;
  int told_ = 0;
};

TEST_F(InProcessClientTest, TellsTheEndOfARequest) {
  create("a");
  owner_.drain();
  EXPECT_EQ(told_, 1);
  EXPECT_TRUE(exists("a"));
}

TEST_F(InProcessClientTest, NobodyIsToldOnceItIsClosed) {
  create("a");
  client_->close();
  create("b");
  owner_.drain();
  EXPECT_EQ(told_, 0);
}

TEST_F(InProcessClientTest, WhatIsUnderWayGoesOnWithoutItsClient) {
  create("a");
  ASSERT_TRUE(owner_.runOne(Duration::zero()));  // handed to the server, which waits for the store
  client_.reset();
  owner_.drain();
  EXPECT_EQ(told_, 0);
  EXPECT_TRUE(exists("a"));
}

}  // namespace
}  // namespace mangrove::apiserver
