#include "scheduler/effects/event_outbox.h"

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"

namespace mangrove::scheduler {
namespace {

api::Pod podOf(std::string_view name) {
  return *api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"d","uid":"u","resourceVersion":"7"}},"spec":{{"nodeName":"n1"}}}})",
      name));
}

struct Desk {
  client::testing::ScriptedClient api;
  Mailbox home;
  VirtualClock clock{WallTime{std::chrono::seconds(1'772'366'400)}};  // 2026-03-01T12:00:00Z
  Registry metrics;
  EventOutbox outbox{api, home, clock, metrics};

  void add(size_t events, size_t underWay) {
    for (size_t i = 0; i < events; i++)
      outbox.add("s", PodEvent::scheduled(podOf(fmt::format("p{}", i)), "n1"), underWay);
    home.drain();
  }
  // Answers until nothing is asked any more; how many requests there were.
  size_t serve() {
    size_t requests = 0;
    for (home.drain(); !api.pending.empty(); home.drain(), requests++) api.reply(201, "{}");
    return requests;
  }
};

TEST(EventOutbox, writes_at_once_while_there_is_little_else_to_write) {
  Desk desk;
  desk.add(3, EventOutbox::kBusy - 1);
  EXPECT_EQ(desk.serve(), 3u);
  EXPECT_EQ(desk.outbox.waiting(), 0u);
}

TEST(EventOutbox, lets_events_wait_while_there_is_much_but_not_for_ever) {
  Desk desk;
  desk.add(EventOutbox::kTrickle + 50, EventOutbox::kBusy);
  EXPECT_EQ(desk.serve(), 0u);
  EXPECT_FALSE(desk.outbox.idle());
  desk.outbox.tick(EventOutbox::kBusy);
  EXPECT_EQ(desk.serve(), EventOutbox::kTrickle);
  desk.add(1, 0);  // behind those that came before
  EXPECT_EQ(desk.outbox.waiting(), 51u);
  desk.outbox.tick(0);
  EXPECT_EQ(desk.serve(), 51u);
  EXPECT_TRUE(desk.outbox.idle());
}

TEST(EventOutbox, tells_when_it_happened_not_when_it_is_written) {
  Desk desk;
  desk.add(1, EventOutbox::kBusy);
  desk.clock.advance(std::chrono::seconds(90));
  desk.outbox.tick(0);
  desk.home.drain();
  const std::string body = desk.api.next().body;
  EXPECT_NE(body.find(R"("firstTimestamp":"2026-03-01T12:00:00Z")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("lastTimestamp":"2026-03-01T12:00:00Z")"), std::string::npos) << body;
}

TEST(EventOutbox, drops_what_there_is_no_place_for) {
  Desk desk;
  desk.add(EventOutbox::kMost + 2, EventOutbox::kBusy);
  EXPECT_EQ(desk.outbox.waiting(), EventOutbox::kMost);
  EXPECT_FALSE(desk.outbox.hasRoom());
  EXPECT_NE(desk.metrics.exposition().find(R"(mangrove_events_total{result="dropped"} 2)"),
            std::string::npos);
}

TEST(EventOutbox, tells_what_kubernetes_tells) {
  struct Row {
    PodEvent event;
    std::string_view type, reason, action, note, related;
  };
  Row rows[] = {
      {PodEvent::scheduled(podOf("a"), "n1"), "Normal", "Scheduled", "Binding",
       "Successfully assigned d/a to n1", ""},
      {PodEvent::failed(podOf("a"), "0/1 nodes"), "Warning", "FailedScheduling", "Scheduling",
       "0/1 nodes", ""},
      {PodEvent::preempted(podOf("a"), podOf("b")), "Normal", "Preempted", "Preempting",
       "Preempted by pod u on node n1", "b"},
      {PodEvent::preempted(podOf("a"), podOf("b"), "loses 10"), "Normal", "Preempted", "Preempting",
       "Preempted by pod u on node n1; loses 10", "b"},
  };
  for (const Row& row : rows) {
    const api::Event event = row.event.wholly();
    EXPECT_EQ(event.type, row.type);
    EXPECT_EQ(event.reason, row.reason);
    EXPECT_EQ(event.action, row.action);
    EXPECT_EQ(event.note, row.note);
    EXPECT_EQ(event.related.name, row.related);
    EXPECT_EQ(event.regarding.name, "a");
    EXPECT_EQ(event.regarding.ns, "d");
    EXPECT_EQ(event.regarding.uid, "u");
    EXPECT_EQ(event.regarding.resourceVersion, "7");
  }
}

}  // namespace
}  // namespace mangrove::scheduler
