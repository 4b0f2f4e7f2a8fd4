#include "cli/reservation_view.h"

#include <gtest/gtest.h>

namespace mangrove::cli {
namespace {

template <class T>
std::shared_ptr<T> object(std::string_view text) {
  auto read = api::decodeText<T>(text);
  EXPECT_TRUE(read) << read.error().text();
  return std::make_shared<T>(std::move(*read));
}

constexpr WallTime kNow{std::chrono::seconds(1'772'366'400)};

class View : public ::testing::Test {
 protected:
  View() {
    view.add(object<api::Node>(
        R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","pods":"10"}}})"));
    view.add(object<api::Reservation>(
        R"({"metadata":{"name":"r","uid":"u-r","creationTimestamp":"2026-03-01T12:00:00Z"},
            "spec":{"owners":[{"labelSelector":{"matchLabels":{"app":"x"}}}],"allocateOnce":false,
            "ttl":"2h","allocatePolicy":"Restricted",
            "template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}},
            "status":{"phase":"Available","nodeName":"n1","allocatable":{"cpu":"4"}}})"));
  }
  void pod(const std::string& name, const std::string& app, const std::string& node,
           const std::string& notes) {
    view.add(object<api::Pod>(
        R"({"metadata":{"name":")" + name + R"(","namespace":"d","uid":"u-)" + name +
        R"(","labels":{"app":")" + app + R"("},"annotations":{)" + notes +
        R"(}},"spec":{"nodeName":")" + node +
        R"(","containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]}})"));
  }
  ReservationView view;
};

TEST_F(View, says_where_it_is_what_is_left_and_who_waits) {
  pod("a", "x", "n1",
      R"("scheduling.koordinator.sh/reservation-allocated":"{\"name\":\"r\",\"uid\":\"u-r\"}")");
  pod("b", "x", "", "");
  pod("c", "y", "", "");
  const auto told = view.tell("r", kNow);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_TRUE(told->good);
  EXPECT_NE(told->answer.find("reservation r is on node n1, it ends in"), std::string::npos)
      << told->answer;
  EXPECT_NE(told->terms.find("cpu       4         3      1"), std::string::npos) << told->terms;
  EXPECT_NE(told->terms.find("Taken by:\n  d/a"), std::string::npos) << told->terms;
  EXPECT_NE(told->terms.find("d/b may enter it"), std::string::npos) << told->terms;
  EXPECT_NE(told->terms.find("1 that are none of its owners"), std::string::npos) << told->terms;
}

TEST_F(View, says_what_is_taken_at_any_later_time) {
  view.add(object<api::Reservation>(
      R"({"metadata":{"name":"later","uid":"u-l","creationTimestamp":"2026-03-01T12:00:00Z",
          "annotations":{"colocation.mangrove.io/reservation-start":"2026-03-01T13:00:00Z"}},
          "spec":{"owners":[{}],"ttl":"3h","template":{"spec":{"containers":[{"name":"c",
          "resources":{"requests":{"cpu":"4"}}}]}}},
          "status":{"phase":"Waiting","nodeName":"n1","allocatable":{"cpu":"4"}}})"));
  pod("short", "y", "n1", R"("colocation.mangrove.io/expected-duration":"30m")");
  const auto told = view.tell("later", kNow);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_TRUE(told->good);
  EXPECT_EQ(told->answer, "reservation later begins on node n1 at 2026-03-01T13:00:00Z, in 1h0m0s");
  const size_t at = told->terms.find("Taken on node n1 over time:");
  ASSERT_NE(at, std::string::npos) << told->terms;
  EXPECT_EQ(told->terms.substr(at),
            "Taken on node n1 over time:\n"
            "  FROM                  cpu  BECAUSE\n"
            "  now                   7\n"
            "  2026-03-01T12:30:30Z  4    pod d/short is gone\n"
            "  2026-03-01T13:00:00Z  8    reservation later begins\n"
            "  2026-03-01T14:00:00Z  4    reservation r is gone\n"
            "  2026-03-01T16:00:00Z  0    reservation later is gone\n");
  json::Object data;
  const std::string node = view.tellNode("n1", kNow, data);
  EXPECT_NE(node.find("later        cpu       4         0      later"), std::string::npos) << node;
  EXPECT_NE(node.find("r            cpu       4         0      4"), std::string::npos) << node;
  EXPECT_EQ(data.at("reservations").at("steps").as_array().size(), 5u);
}

TEST_F(View, says_why_it_has_no_place) {
  view.add(object<api::Reservation>(
      R"({"metadata":{"name":"p","uid":"u-p"},"spec":{"owners":[{}],
          "template":{"spec":{"containers":[{"name":"c"}]}}},"status":{"phase":"Pending",
          "conditions":[{"type":"Scheduled","status":"False","reason":"Unschedulable",
          "message":"0/1 nodes are available: 1 Insufficient cpu."}]}})"));
  const auto told = view.tell("p", kNow);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_FALSE(told->good);
  EXPECT_NE(told->answer.find("has no place: 0/1 nodes are available"), std::string::npos);
  EXPECT_FALSE(view.tell("nobody", kNow));
}

}  // namespace
}  // namespace mangrove::cli
