#include "scheduler/watch/bunched_watches.h"

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"

namespace mangrove::scheduler {
namespace {

struct Desk {
  explicit Desk(const api::Kind& kind = api::kind::kPod) {
    client::WatchRequest request;
    request.kind = kind;
    client::WatchHandler handler;
    handler.onOpen = [this] { text += "open "; };
    handler.onEvents = [this](std::string lines) {
      text += "(" + lines + ")";
      return more;
    };
    handler.onEnd = [this](Result<> result) { text += result ? "end" : "broken"; };
    watch = watches.watch(std::move(request), std::move(handler));
    server().open();
  }
  client::testing::ScriptedWatch& server() { return *api.watches.back(); }

  client::testing::ScriptedClient api;
  bool busy = false;
  bool more = true;
  std::string text;
  BunchedWatches watches{api, [this] { return busy; }};
  std::unique_ptr<client::Watch> watch;
};

TEST(BunchedWatches, hands_over_at_once_while_little_is_under_way) {
  Desk desk;
  EXPECT_TRUE(desk.server().sendRaw("a"));
  desk.more = false;
  EXPECT_FALSE(desk.server().sendRaw("b"));
  EXPECT_EQ(desk.text, "open (a)(b)");
}

TEST(BunchedWatches, holds_back_while_much_is_under_way_and_keeps_the_order) {
  Desk desk;
  desk.busy = true;
  desk.server().sendRaw("a");
  desk.server().sendRaw("b");
  EXPECT_EQ(desk.text, "open ");
  desk.watches.flush();
  desk.watches.flush();
  EXPECT_EQ(desk.text, "open (ab)");
  desk.server().sendRaw("c");
  desk.busy = false;
  desk.server().sendRaw("d");
  EXPECT_EQ(desk.text, "open (ab)(cd)");
}

TEST(BunchedWatches, does_not_hold_back_without_end) {
  Desk desk;
  desk.busy = true;
  desk.server().sendRaw(std::string(BunchedWatches::kBunch, 'x'));
  EXPECT_GT(desk.text.size(), BunchedWatches::kBunch);
}

TEST(BunchedWatches, tells_what_it_has_before_the_end) {
  Desk desk;
  desk.busy = true;
  desk.server().sendRaw("a");
  desk.server().end();
  EXPECT_EQ(desk.text, "open (a)end");
}

TEST(BunchedWatches, says_nothing_after_the_watch_is_gone) {
  Desk desk;
  desk.busy = true;
  desk.server().sendRaw("a");
  desk.watch.reset();
  desk.watches.flush();
  EXPECT_EQ(desk.text, "open ");
  EXPECT_TRUE(desk.server().cancelled);
}

TEST(BunchedWatches, leaves_other_kinds_alone) {
  Desk desk(api::kind::kNode);
  desk.busy = true;
  desk.server().sendRaw("a");
  EXPECT_EQ(desk.text, "open (a)");
}

}  // namespace
}  // namespace mangrove::scheduler
