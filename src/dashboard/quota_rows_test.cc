// Quotas as rows, and as lines of a terminal.
#include "dashboard/quota_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "dashboard/top.h"

namespace mangrove::dashboard {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const api::ElasticQuota> quota(std::string_view name, int min, int max,
                                               std::string_view parent, std::string_view notes) {
  auto made = api::decodeText<api::ElasticQuota>(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"ns","annotations":{{{}}},"labels":{{
           "quota.scheduling.koordinator.sh/parent":"{}"}}}},
          "spec":{{"min":{{"cpu":"{}"}},"max":{{"cpu":"{}"}}}}}})",
      name, notes, parent, min, max));
  EXPECT_TRUE(made) << made.error().text();
  return std::make_shared<api::ElasticQuota>(std::move(*made));
}

std::shared_ptr<const api::Pod> pod(std::string_view name, std::string_view quotaName, int cpu,
                                    std::string_view node) {
  auto made = api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ns","uid":"{0}","labels":{{
           "quota.scheduling.koordinator.sh/name":"{1}"}}}},
          "spec":{{"nodeName":"{3}","containers":[{{"name":"c",
            "resources":{{"requests":{{"cpu":"{2}"}}}}}}]}}}})",
      name, quotaName, cpu, node));
  EXPECT_TRUE(made) << made.error().text();
  return std::make_shared<api::Pod>(std::move(*made));
}

ClusterView tenGiven() {
  ClusterView view;
  auto node = api::decodeText<api::Node>(
      R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"10","pods":"110"}}})");
  view.nodes.push_back(std::make_shared<api::Node>(std::move(*node)));
  view.pods = {pod("a", "owner", 1, "n1"), pod("b", "borrower", 7, "n1"),
               pod("c", "borrower", 2, "")};
  return view;
}

json::Object boardOf(const ClusterView& view) {
  const QuotaObjects quotas = {
      quota("org", 10, 10, "", ""), quota("owner", 6, 10, "org", ""),
      quota("borrower", 4, 10, "org",
            R"("quota.mangrove.io/borrows-since":"{\"cpu\":\"2026-01-02T03:04:05Z\"}")")};
  return quotaBoard(view, quotas, WallTime());
}

json::Object twoTenants() {
  return boardOf(tenGiven());
}

TEST(QuotaBoard, ShowsTheTreeFromTopToBottomWithItsAmounts) {
  const json::Object board = twoTenants();
  const json::Array& rows = board.at("quotas").as_array();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("name"), "org");
  EXPECT_EQ(rows[1].at("name"), "borrower");
  EXPECT_EQ(rows[1].at("depth"), 1);
  EXPECT_EQ(rows[1].at("waiting"), 1);
  const json::Value& cpu = rows[1].at("resources").as_array().at(0);
  EXPECT_EQ(json::write(cpu),
            R"({"name":"cpu","min":4,"used":7,"reserved":0,"runtime":9,"max":10,"asked":9,)"
            R"("weight":10,"borrows":3,"since":"2026-01-02T03:04:05Z"})");
}

TEST(QuotaBoard, SaysWhoBorrowsFromWhom) {
  const json::Object board = twoTenants();
  const json::Array& loans = board.at("loans").as_array();
  ASSERT_EQ(loans.size(), 1u);
  EXPECT_EQ(loans[0].at("borrower"), "borrower");
  EXPECT_EQ(loans[0].at("lender"), "owner");
  EXPECT_EQ(loans[0].at("amount").to_number<double>(), 3);
}

// Two cores are kept for owners of one who has taken one of three.
TEST(QuotaBoard, WhatReservationsHoldIsAPartOfItsOwn) {
  ClusterView view = tenGiven();
  auto made = api::decodeText<api::Reservation>(
      R"({"metadata":{"name":"r","uid":"r"},"spec":{"owners":[{"labelSelector":{"matchLabels":
            {"app":"web"}}}],"template":{"metadata":{"labels":{
            "quota.scheduling.koordinator.sh/name":"owner"}},"spec":{"containers":[{"name":"c",
            "resources":{"requests":{"cpu":"3"}}}]}}},
          "status":{"phase":"Available","nodeName":"n1","allocatable":{"cpu":"3"},
            "allocated":{"cpu":"1"}}})");
  ASSERT_TRUE(made) << made.error().text();
  view.reservations.push_back(std::make_shared<api::Reservation>(std::move(*made)));
  const json::Object board = boardOf(view);
  const json::Array& rows = board.at("quotas").as_array();
  for (const auto& [row, used] : {std::pair{0, 10.0}, std::pair{2, 3.0}}) {
    const json::Value& cpu = rows[static_cast<size_t>(row)].at("resources").as_array().at(0);
    EXPECT_EQ(cpu.at("reserved").to_number<double>(), 2) << row;
    EXPECT_EQ(cpu.at("used").to_number<double>(), used) << row;
  }
  EXPECT_EQ(rows[2].at("running"), 1) << "pods alone";
}

TEST(TopByQuota, FitsIntoATerminalAndSaysTheSame) {
  json::Object board = twoTenants();
  TopPicture picture;
  picture.quotas = board.at("quotas").as_array();
  picture.loans = board.at("loans").as_array();
  TopView view{.width = 120, .height = 24};
  view.byQuota = true;
  const std::string printed = printTop(picture, view);
  EXPECT_THAT(printed, HasSubstr("  borrower"));
  EXPECT_THAT(printed,
              HasSubstr("borrower borrows 3.00 of cpu from owner, since 2026-01-02T03:04:05Z"));
  for (const std::string& line : renderTop(picture, view)) EXPECT_LE(line.size(), 120u) << line;
  EXPECT_EQ(renderTop(picture, view).size(), 24u);
  EXPECT_TRUE(turnKey('u', picture, view));
  EXPECT_FALSE(view.byQuota);
}

TEST(TopByQuota, SaysThatThereAreNone) {
  TopView view;
  view.byQuota = true;
  EXPECT_THAT(printTop({}, view), HasSubstr("no ElasticQuota"));
}

}  // namespace
}  // namespace mangrove::dashboard
