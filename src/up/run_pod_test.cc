#include "up/run_pod.h"

#include <gtest/gtest.h>

#include "up/first_objects.h"

namespace mangrove::up {
namespace {

RunRequest request(std::string qos, std::string cpu, std::string memory) {
  RunRequest out;
  out.name = "job";
  out.qos = std::move(qos);
  out.cpu = std::move(cpu);
  out.memory = std::move(memory);
  out.command = {"sh", "-c", "echo $HOME"};
  out.environmentFile = "/tmp/environment";
  out.directory = "/data";
  return out;
}

TEST(RunPod, BestEffortAsksForReclaimedResources) {
  auto pod = podOf(request("BE", "1500m", "1Gi"));
  ASSERT_TRUE(pod) << pod.error().text();
  const json::Value value = *pod;
  const auto& container = value.at("spec").at("containers").at(0);
  EXPECT_EQ(json::write(container.at("resources").at("limits")),
            R"({"kubernetes.io/batch-cpu":"1500","kubernetes.io/batch-memory":"1Gi"})");
  EXPECT_EQ(container.at("command").at(2), "echo $$HOME");
  EXPECT_FALSE(container.as_object().contains("env"));  // a file of the caller's own has it
  EXPECT_EQ(value.at("metadata").at("annotations").at("mangrove.io/caller-environment"),
            "/tmp/environment");
  EXPECT_EQ(container.at("workingDir"), "/data");
  EXPECT_EQ(value.at("spec").at("priorityClassName"), "koord-batch");
}

TEST(RunPod, ServicesAskForTheMachinesOwn) {
  auto pod = podOf(request("LS", "2", ""));
  ASSERT_TRUE(pod);
  const json::Value value = *pod;
  EXPECT_EQ(json::write(value.at("spec").at("containers").at(0).at("resources").at("requests")),
            R"({"cpu":"2"})");
  EXPECT_EQ(value.at("spec").at("priorityClassName"), "koord-prod");
}

TEST(RunPod, SaysWhatDoesNotFit) {
  EXPECT_NE(podOf(request("BEST", "1", "")).error().text().find("LSE, LSR, LS or BE"),
            std::string::npos);
  EXPECT_NE(podOf(request("BE", "x", "")).error().text().find("--cpu"), std::string::npos);
  EXPECT_NE(podOf(request("BE", "1", "-1Gi")).error().text().find("--memory"), std::string::npos);
  RunRequest empty = request("BE", "", "");
  empty.command.clear();
  EXPECT_FALSE(podOf(empty));
}

TEST(FirstObjects, AreWhatTheSpecificationSays) {
  const auto objects = firstObjects();
  ASSERT_EQ(objects.size(), 10u);
  EXPECT_EQ(json::Value(objects[0].body).at("metadata").at("name"), "koordinator-system");
  const int values[] = {9000, 7000, 5000, 3000};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(json::Value(objects[i + 1].body).at("value"), values[i]);
  EXPECT_EQ(json::Value(objects[5].body).at("provisioner"), "mangrove.io/local");
  EXPECT_EQ(json::Value(objects[6].body).at("handler"), "mangrove-process");
  EXPECT_EQ(json::Value(objects[7].body).at("kind"), "ClusterRole");
  const json::Value config = objects[8].body;
  auto colocation =
      json::parse(std::string_view(config.at("data").at("colocation-config").as_string()));
  ASSERT_TRUE(colocation);
  EXPECT_EQ(colocation->at("enable"), true);
}

}  // namespace
}  // namespace mangrove::up
