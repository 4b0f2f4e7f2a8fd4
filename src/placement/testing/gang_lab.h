#pragma once
// A lab with gangs: members by a few words, and what became of them.
//
//   TEST_F(Gangs, …) { node("n1", "4"); pod({.name = "a"}); lab.run(); EXPECT_EQ(placed({"a"}), 0); }
//
// Test code; one thread.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "placement/testing/lab.h"

namespace mangrove::placement {

struct Wish {
  std::string name, gang = "g", min = "3", cpu = "1";
  std::string more = "";  // further annotations, with a leading comma
  std::string spec = "";  // further members of the spec, with a trailing comma
  int priority = 0;
};

inline std::string text(const Wish& w) {
  return R"({"metadata":{"name":")" + w.name +
         R"(","annotations":{"gang.scheduling.koordinator.sh/name":")" + w.gang +
         R"(","gang.scheduling.koordinator.sh/min-available":")" + w.min + R"(")" + w.more +
         R"(}},"spec":{"priority":)" + std::to_string(w.priority) + "," + w.spec +
         R"("containers":[{"name":"c","resources":{"requests":{"cpu":")" + w.cpu + R"("}}}]}})";
}

inline constexpr auto kNonStrict = R"(,"gang.scheduling.koordinator.sh/mode":"NonStrict")";

inline SchedulerConfig configWith(std::string_view args) {
  SchedulerConfig config = defaultConfig({"default-scheduler"});
  config.profiles[0].args["Coscheduling"] = *json::parse(args);
  return config;
}

class Gangs : public ::testing::Test {
 protected:
  explicit Gangs(std::string_view args = "{}") : lab(configWith(args)) {}
  void node(const std::string& name, const std::string& cpu) {
    lab.node(R"({"metadata":{"name":")" + name + R"("},"status":{"allocatable":{"cpu":")" + cpu +
             R"(","memory":"64Gi"}}})");
  }
  void pod(const Wish& wish) { lab.pod(text(wish)); }
  int placed(const std::vector<std::string>& names) const {
    int count = 0;
    for (const auto& name : names) count += !lab.nodeOf(name).empty();
    return count;
  }
  json::Object gang(const std::string& id) {
    auto page = lab.engine().profiles()[0]->find("Coscheduling")->serve("gang/default/" + id);
    return page ? page->as_object() : json::Object();
  }
  size_t waiting() { return lab.engine().waitingPods().waiting().size(); }
  std::string podGroup(const std::string& name, int min) {
    auto group =
        api::decodeText<api::PodGroup>(R"({"metadata":{"namespace":"default","name":")" + name +
                                       R"("},"spec":{"minMember":)" + std::to_string(min) + "}}");
    lab.cluster().putPodGroup("default/" + name,
                              std::make_shared<api::PodGroup>(std::move(*group)));
    return name;
  }

  Lab lab;
};

// The reference's machine: member by member, waiting at Permit.
class PermitGangs : public Gangs {
 protected:
  PermitGangs() : Gangs(R"({"placeWhole":false})") {}
};

}  // namespace mangrove::placement
