#include "cli/reservation_wish.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::cli {
namespace {

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

TEST(ReservationWish, may_begin_later) {
  for (const char* start : {"2h", "2026-03-01T14:00:00Z"}) {
    const auto made = reservationOf(
        {.cpu = "8", .owners = {"app=x"}, .start = start, .priority = "9000"}, "abc", kNow);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->at("metadata").at("annotations").at("colocation.mangrove.io/reservation-start"),
              "2026-03-01T14:00:00Z");
    EXPECT_EQ(made->at("spec").at("template").at("spec").at("priority"), 9000);
  }
}

TEST(ReservationWish, becomes_a_reservation) {
  const auto made = reservationOf({.cpu = "8",
                                   .resources = {"kubernetes.io/batch-cpu=4000"},
                                   .duration = std::chrono::hours(2),
                                   .owners = {"app=x,tier=y", "app=z"},
                                   .node = "n1"},
                                  "abc", kNow);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->at("metadata").at("name"), "reserve-abc");
  const json::Value& spec = made->at("spec");
  EXPECT_EQ(spec.at("ttl"), "2h0m0s");
  EXPECT_EQ(spec.at("allocateOnce"), true);
  EXPECT_EQ(spec.at("owners").as_array().size(), 2u);
  EXPECT_EQ(spec.at("owners").at(0).at("labelSelector").at("matchLabels").at("tier"), "y");
  const json::Value& pod = spec.at("template").at("spec");
  EXPECT_EQ(pod.at("nodeName"), "n1");
  EXPECT_EQ(pod.at("containers").at(0).at("resources").at("requests").at("cpu"), "8");
}

TEST(ReservationWish, mistakes_are_named) {
  struct Case {
    ReservationWish wish;
    std::string says;
  };
  const Case cases[] = {
      {{.owners = {"app=x"}}, "nothing to reserve"},
      {{.cpu = "8"}, "for whom"},
      {{.cpu = "eight", .owners = {"app=x"}}, "'eight' is no amount"},
      {{.cpu = "8", .owners = {"app"}}, "--owner 'app'"},
      {{.cpu = "8", .resources = {"gpu"}, .owners = {"app=x"}}, "--resource 'gpu'"},
      {{.cpu = "8", .owners = {"app=x"}, .policy = "Loose"}, "--policy 'Loose'"},
      {{.cpu = "8", .owners = {"app=x"}, .start = "noon"}, "--start 'noon'"},
      {{.cpu = "8", .owners = {"app=x"}, .start = "2026-03-01T11:00:00Z"}, "want a time to come"},
      {{.cpu = "8", .owners = {"app=x"}, .priority = "high"}, "--priority 'high'"},
  };
  for (const Case& c : cases) {
    const auto made = reservationOf(c.wish, "abc", kNow);
    ASSERT_FALSE(made) << c.says;
    EXPECT_NE(made.error().text().find(c.says), std::string::npos) << made.error().text();
  }
}

}  // namespace
}  // namespace mangrove::cli
