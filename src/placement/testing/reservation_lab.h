#pragma once
// Reservations and pods on a table, with what tests ask about them. For tests.

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {

inline constexpr std::string_view kAllocated = "scheduling.koordinator.sh/reservation-allocated";

struct Room {
  std::string name, cpu = "4", memory = "", policy = "Aligned", spec = "";
  std::string labels = "", annotations = "";
  std::string owners = R"([{"labelSelector":{"matchLabels":{"app":"x"}}}])";
  std::string podSpec = "";  // further members, with a leading comma
};
struct Ask {
  std::string name, cpu = "1", memory = "", app = "x", affinity = "", labels = "", annotations = "",
                    spec = "";
};

inline std::string requestsText(const std::string& cpu, const std::string& memory) {
  return R"({"cpu":")" + cpu + R"(")" + (memory.empty() ? "" : R"(,"memory":")" + memory + R"(")") +
         "}";
}

class Reservations : public ::testing::Test {
 protected:
  explicit Reservations(std::string_view args = "{}") : lab(configWith(args)) {}
  static SchedulerConfig configWith(std::string_view args) {
    SchedulerConfig config = defaultConfig({"default-scheduler"});
    config.profiles[0].args["Reservation"] = *json::parse(args);
    return config;
  }
  void node(const std::string& name, const std::string& cpu = "32",
            const std::string& labels = "{}") {
    lab.node(R"({"metadata":{"name":")" + name + R"(","labels":)" + labels +
             R"(},"status":{"allocatable":{"cpu":")" + cpu + R"(","memory":"64Gi"}}})");
  }
  void reserve(const Room& r) {
    lab.reservation(R"({"metadata":{"name":")" + r.name + R"(","labels":{)" + r.labels +
                    R"(},"annotations":{)" + r.annotations + R"(}},"spec":{"owners":)" + r.owners +
                    R"(,"allocatePolicy":")" + r.policy +
                    R"(","template":{"spec":{"containers":[{"name":"c",)" +
                    R"("resources":{"requests":)" + requestsText(r.cpu, r.memory) + R"(}}])" +
                    r.podSpec + "}}" + r.spec + "}}");
    lab.run();
  }
  void pod(const Ask& a) {
    std::string notes = a.annotations;
    if (!a.affinity.empty())
      notes += std::string(notes.empty() ? "" : ",") +
               R"("scheduling.koordinator.sh/reservation-affinity":)" +
               json::write(json::Value(a.affinity));
    lab.pod(R"({"metadata":{"name":")" + a.name + R"(","labels":{"app":")" + a.app + R"(")" +
            a.labels + R"(},"annotations":{)" + notes +
            R"(}},"spec":{"containers":[{"name":"c","resources":{"requests":)" +
            requestsText(a.cpu, a.memory) + "}}]" + a.spec + "}}");
    lab.run();
  }
  // A pod that is there and has nothing to do with reservations.
  void filler(const std::string& node, const std::string& cpu) {
    lab.pod(R"({"metadata":{"name":"fill-)" + node + R"("},"spec":{"nodeName":")" + node +
            R"(","containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu +
            R"("}}}]},"status":{"phase":"Running"}})");
  }
  bool isIn(const std::string& pod, const std::string& reservation) const {
    return lab.annotation(pod, kAllocated).find("\"" + reservation + "\"") != std::string::npos;
  }
  std::string phase(const std::string& name) const {
    const auto found = lab.findReservation(name);
    return found ? found->status.phase : "gone";
  }
  std::string nodeOfReservation(const std::string& name) const {
    return lab.findReservation(name)->status.nodeName;
  }
  std::string condition(const std::string& name, const std::string& type) const {
    for (const auto& one : lab.findReservation(name)->status.conditions)
      if (one.type == type) return one.status + "/" + one.reason;
    return "";
  }
  std::string saidOf(const std::string& reservation) const {
    return lab.said("default/" + lab.findReservation(reservation)->meta.uid.str());
  }
  int64_t cpuOn(const std::string& node) {
    return lab.cluster().table.requested(kCpuId)[lab.cluster().table.find(node)];
  }

  Lab lab;
};

inline constexpr auto kMany = R"(,"allocateOnce":false)";

}  // namespace mangrove::placement
