#include "dashboard/interference_rows.h"

#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::dashboard {
namespace {

std::shared_ptr<const api::InterferenceReport> report(const char* name, const char* start,
                                                      const char* outcome, bool guilty) {
  auto out = std::make_shared<api::InterferenceReport>();
  out->meta.name = api::Text(name);
  out->spec.victim = "shop/web";
  out->spec.application = "shop/web";
  out->spec.signal = "latency";
  out->spec.start = *parseTime(start);
  out->status.outcome = outcome;
  if (*outcome) out->status.end = out->spec.start + std::chrono::minutes(5);
  api::InterferenceSuspect suspect;
  suspect.pod = "batch/sort-1";
  suspect.application = "batch/sort";
  suspect.verified = guilty ? "guilty" : "innocent";
  suspect.verdict = guilty ? "guilty: +31 % [24, 39] by 10 pairs" : "innocent";
  out->status.suspects.push_back(suspect);
  out->status.actions.push_back({out->spec.start, "experiment: batch/sort-1 gets half"});
  out->status.actions.push_back({out->spec.start, "batch/sort-1: " + suspect.verdict});
  out->status.actions.push_back({out->spec.start, "L5 CPU quota: 1.6"});
  return out;
}

TEST(InterferenceBoard, WhatGoesOnComesFirst) {
  const json::Object board =
      interferenceBoard({report("old", "2026-03-01T10:00:00Z", "Resolved", true),
                         report("new", "2026-03-01T11:00:00Z", "Exonerated", false),
                         report("now", "2026-03-01T09:00:00Z", "", true)});
  const json::Array& episodes = board.at("episodes").get_array();
  ASSERT_EQ(episodes.size(), 3u);
  EXPECT_EQ(episodes[0].at("name").get_string(), "now");
  EXPECT_EQ(episodes[1].at("name").get_string(), "new");
  EXPECT_EQ(episodes[0].at("guilty").get_string(), "batch/sort-1");
  EXPECT_EQ(episodes[1].at("guilty").get_string(), "");
  EXPECT_TRUE(episodes[0].at("end").is_null());
  std::string kinds;
  for (const json::Value& line : episodes[1].at("timeline").get_array())
    kinds += std::string(std::string_view(line.at("kind").get_string())) + " ";
  EXPECT_EQ(kinds, "evidence experiment verdict step end ");
  const json::Array& pairs = board.at("pairs").get_array();
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].at("times").to_number<int64_t>(), 2);
  EXPECT_EQ(board.at("open").to_number<int64_t>(), 1);
  EXPECT_EQ(board.at("resolved").to_number<int64_t>(), 1);
  EXPECT_EQ(board.at("exonerated").to_number<int64_t>(), 1);
}

}  // namespace
}  // namespace mangrove::dashboard
