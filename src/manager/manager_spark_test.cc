// Spark applications through a running manager: room before the driver, while executors are missing,
// and nothing afterwards.
#include <gtest/gtest.h>

#include "manager/controllers/spark/plan.h"
#include "manager/manager_test_support.h"

namespace mangrove::manager {
namespace {

using namespace testing;

class SparkRoom : public ManagerTest {
 protected:
  void application(const std::string& state, const std::string& memory = "512m") {
    api.put(
        kSparkKind, "data", "pi",
        R"({"spec":{"type":"Scala","driver":{"annotations":{"scheduling.koordinator.sh/reservation-affinity":)"
        R"("{\"reservationSelector\":{\"colocation.mangrove.io/spark-application\":\"pi\"}}"}},)"
        R"("executor":{"instances":2,"memory":")" +
            memory + R"("}},"status":{"applicationState":{"state":")" + state + R"("}}})");
  }
  void pod(const std::string& name, const std::string& role, const std::string& node) {
    api.put(kind::kPod, "data", name,
            R"({"metadata":{"uid":"u-)" + name +
                R"(","labels":{"sparkoperator.k8s.io/app-name":"pi","spark-role":")" + role +
                R"("}},"spec":{"nodeName":")" + node +
                R"(","containers":[{"name":"c"}]},"status":{"phase":"Running"}})");
  }
  void begin() {
    start();
    manager->lead();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, text] : api.truth(kind::kReservation)) out.push_back(name);
    return out;
  }
  using Names = std::vector<std::string>;
};

TEST_F(SparkRoom, IsReservedKeptAndGivenBack) {
  application("");
  begin();
  ASSERT_TRUE(until([&] { return names().size() == 3; }));
  EXPECT_EQ(names(), (Names{"spark-data-pi-driver-0", "spark-data-pi-executor-0",
                            "spark-data-pi-executor-1"}));
  pod("driver", "driver", "n1");
  pod("exec-1", "executor", "n1");
  ASSERT_TRUE(until([&] { return names() == Names{"spark-data-pi-executor-0"}; }));
  pod("exec-2", "executor", "n2");
  ASSERT_TRUE(until([&] { return names().empty(); }));
  api.remove(kind::kPod, "data", "exec-2");
  ASSERT_TRUE(until([&] { return names() == Names{"spark-data-pi-executor-0"}; }));
  application("COMPLETED");
  ASSERT_TRUE(until([&] { return names().empty(); }));
}

TEST_F(SparkRoom, IsRenewedWhileItIsWanted) {
  application("");
  begin();
  ASSERT_TRUE(until([&] { return names().size() == 3; }));
  const auto expires = [&] {
    const auto body = json::parse(api.truth(kind::kReservation).at("spark-data-pi-driver-0"));
    return std::string(body->at("spec").at("expires").as_string());
  };
  const std::string first = expires();
  clock.advance(240s);
  ASSERT_TRUE(until([&] { return expires() > first; }));
}

TEST_F(SparkRoom, GoesWithItsApplication) {
  application("RUNNING");
  begin();
  ASSERT_TRUE(until([&] { return names().size() == 3; }));
  api.remove(kSparkKind, "data", "pi");
  ASSERT_TRUE(until([&] { return names().empty(); }));
}

TEST_F(SparkRoom, IsRefusedInASentenceWhereSizesCannotBeRead) {
  application("", "lots");
  begin();
  ASSERT_TRUE(until([&] { return !told("ReservationInvalid").empty(); }));
  EXPECT_NE(told("ReservationInvalid")[0].find("spec.executor"), std::string::npos);
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace mangrove::manager
