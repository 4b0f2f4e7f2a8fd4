#pragma once
// Plans as one line, so that a table of cases can be read: what is created, removed, said, and when
// to look again. And objects from JSON.
//
//   EXPECT_EQ(textOf(planJob(*object<Job>(spec), pods, "", now)), "create 2 | again 10s");
//
// For tests.

#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

template <class T>
std::shared_ptr<const T> object(const std::string& text) {
  auto decoded = api::decodeText<T>(text);
  EXPECT_TRUE(decoded) << decoded.error().text() << "\n" << text;
  return std::make_shared<const T>(decoded ? std::move(*decoded) : T());
}

// "create 2 Pod | remove a,b | size web-1=3 | note Suspended | again 10s"; "" for nothing.
inline std::string textOf(const Plan& plan) {
  std::string out;
  const auto say = [&](const std::string& what) { out += (out.empty() ? "" : " | ") + what; };
  std::map<std::string, int> made;
  for (const auto& one : plan.create) made[std::string(one.kind.kind)]++;
  for (const auto& [kind, count] : made) say(fmt::format("create {} {}", count, kind));
  std::string gone;
  for (const auto& one : plan.remove) gone += (gone.empty() ? "" : ",") + one.ref.name;
  if (!gone.empty()) say("remove " + gone);
  for (const auto& one : plan.change) {
    const auto* spec = one.body.if_contains("spec");
    if (spec && spec->is_object() && spec->get_object().contains("replicas"))
      say(fmt::format("size {}={}", one.ref.name, json::write(spec->get_object().at("replicas"))));
  }
  for (const auto& note : plan.notes) say("note " + note.reason);
  if (plan.again > Duration::zero()) say("again " + formatDuration(plan.again));
  return out;
}

// The status that the plan writes for the object at hand; {} when it writes none.
inline json::Object statusIn(const Plan& plan) {
  for (const auto& one : plan.change)
    if (one.ref.subresource == "status") return one.body.at("status").as_object();
  return {};
}

// The type of the last condition that is true; "" when there is none.
inline std::string lastCondition(const Plan& plan) {
  const json::Object status = statusIn(plan);
  const auto* list = status.if_contains("conditions");
  if (list == nullptr || !list->is_array() || list->get_array().empty()) return "";
  return std::string(list->get_array().back().at("type").as_string());
}

}  // namespace mangrove::workloads
