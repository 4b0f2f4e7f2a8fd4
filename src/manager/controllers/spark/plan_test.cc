// Which reservations a Spark application has, from before its driver to its end.
#include "manager/controllers/spark/plan.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

SparkApplication application(std::string_view state = "",
                             std::string_view executor = R"("cores":2,"instances":3)") {
  const std::string text =
      R"({"metadata":{"namespace":"data","name":"pi"},"spec":{"type":"Scala",)"
      R"("driver":{"memory":"512m","annotations":{"scheduling.koordinator.sh/reservation-affinity":)"
      R"("{\"reservationSelector\":{\"colocation.mangrove.io/spark-application\":\"pi\"}}"},)"
      R"("labels":{"colocation.mangrove.io/resource-type":"mid"}},)"
      R"("executor":{"memory":"512m","labels":{"colocation.mangrove.io/resource-type":"batch"},)"
      R"("tolerations":[{"key":"k"}],"schedulerName":"koord-scheduler",)" +
      std::string(executor) + R"(}},"status":{"applicationState":{"state":")" + std::string(state) +
      R"("}}})";
  auto out = api::decodeText<SparkApplication>(text);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

// As the server has it, a while after it was made.
std::shared_ptr<const api::Reservation> made(const json::Value& body, std::string_view phase,
                                             WallTime expires = kNow + 300s) {
  json::Value all = body;
  json::Object& object = all.get_object();
  object["metadata"].get_object()["uid"] =
      "uid-of-" + std::string(body.at("metadata").at("name").as_string());
  object["spec"].get_object()["expires"] = formatTime(expires);
  object["status"] = json::Object{{"phase", phase}};
  return std::make_shared<const api::Reservation>(
      *api::decodeText<api::Reservation>(json::write(all)));
}

std::shared_ptr<const SparkPod> pod(std::string_view role, std::string_view reservation,
                                    bool bound = true) {
  SparkPod out;
  out.meta.labels.set("spark-role", role);
  out.isBound = bound;
  out.reservation = reservation;
  return std::make_shared<const SparkPod>(std::move(out));
}

std::vector<std::string> namesOf(const std::vector<json::Value>& bodies) {
  std::vector<std::string> out;
  for (const auto& body : bodies) out.emplace_back(body.at("metadata").at("name").as_string());
  return out;
}
using Names = std::vector<std::string>;

ReservationList firstSet(std::string_view phase) {
  ReservationList out;
  const auto steps = nextSteps(application(), {}, {}, kNow);
  for (const auto& body : steps->create) out.push_back(made(body, phase));
  return out;
}

TEST(SparkPlan, driver_and_executors_are_reserved_together) {
  const auto steps = nextSteps(application(), {}, {}, kNow);
  ASSERT_TRUE(steps);
  EXPECT_EQ(namesOf(steps->create),
            (Names{"spark-data-pi-driver-0", "spark-data-pi-executor-0", "spark-data-pi-executor-1",
                   "spark-data-pi-executor-2"}));
  const json::Value& driver = steps->create[0];
  const json::Value& executor = steps->create[1];
  for (const json::Value* one : {&driver, &executor}) {
    const auto& notes = one->at("metadata").at("annotations").as_object();
    EXPECT_EQ(notes.at("gang.scheduling.koordinator.sh/min-available").as_string(), "4");
    EXPECT_EQ(notes.at("gang.scheduling.koordinator.sh/mode").as_string(), "Strict");
    EXPECT_EQ(one->at("spec").at("expires").as_string(), "2026-03-01T12:05:00Z");
  }
  const auto requests = [](const json::Value& one) {
    return json::write(one.at("spec")
                           .at("template")
                           .at("spec")
                           .at("containers")
                           .as_array()[0]
                           .at("resources")
                           .at("requests"));
  };
  EXPECT_EQ(requests(driver),
            R"({"kubernetes.io/mid-cpu":"1k","kubernetes.io/mid-memory":"896Mi"})");
  EXPECT_EQ(requests(executor),
            R"({"kubernetes.io/batch-cpu":"2k","kubernetes.io/batch-memory":"896Mi"})");
  const auto& spec = executor.at("spec").at("template").at("spec").as_object();
  EXPECT_EQ(spec.at("schedulerName").as_string(), "koord-scheduler");
  EXPECT_TRUE(spec.contains("tolerations"));
  EXPECT_EQ(json::write(executor.at("spec").at("owners").as_array()[0].at("labelSelector")),
            R"({"matchLabels":{"sparkoperator.k8s.io/app-name":"pi","spark-role":"executor"}})");
}

TEST(SparkPlan, nothing_is_done_twice) {
  const auto steps = nextSteps(application(), firstSet("Pending"), {}, kNow + 10s);
  EXPECT_TRUE(steps->empty());
}

TEST(SparkPlan, what_is_wanted_is_renewed_in_time) {
  const auto steps = nextSteps(application("RUNNING"), firstSet("Available"), {}, kNow + 200s);
  EXPECT_EQ(steps->renew.size(), 4u);
  EXPECT_EQ(steps->renew.at("spark-data-pi-driver-0"), kNow + 500s);
  EXPECT_TRUE(steps->create.empty());
}

TEST(SparkPlan, a_pod_with_a_node_needs_no_room_and_one_that_is_lost_does_again) {
  const auto all = firstSet("Available");
  const SparkPodList running = {pod("driver", "uid-of-spark-data-pi-driver-0"),
                                pod("executor", "uid-of-spark-data-pi-executor-0"),
                                pod("executor", "uid-of-spark-data-pi-executor-1"),
                                pod("executor", "uid-of-spark-data-pi-executor-2")};
  EXPECT_TRUE(nextSteps(application("RUNNING"), all, running, kNow)->empty());
  const SparkPodList oneLess(running.begin(), running.end() - 1);
  auto left = all;
  left.pop_back();  // it was taken, and is over
  const auto steps = nextSteps(application("RUNNING"), left, oneLess, kNow);
  ASSERT_EQ(namesOf(steps->create), (Names{"spark-data-pi-executor-2"}));
  EXPECT_TRUE(steps->create[0].at("metadata").at("annotations").as_object().empty());
}

TEST(SparkPlan, room_that_nobody_misses_is_given_back) {
  const SparkPodList elsewhere = {pod("driver", ""), pod("executor", ""), pod("executor", "")};
  const auto steps = nextSteps(application("RUNNING"), firstSet("Available"), elsewhere, kNow);
  EXPECT_EQ(steps->remove, (Names{"spark-data-pi-driver-0", "spark-data-pi-executor-1",
                                  "spark-data-pi-executor-2"}));
}

TEST(SparkPlan, the_end_leaves_nothing) {
  EXPECT_EQ(nextSteps(application("COMPLETED"), firstSet("Available"), {}, kNow)->remove.size(),
            4u);
  EXPECT_EQ(lastSteps(firstSet("Available")).remove.size(), 4u);
  EXPECT_EQ(
      nextSteps(application("RUNNING"), firstSet("Succeeded"),
                {pod("driver", ""), pod("executor", ""), pod("executor", ""), pod("executor", "")},
                kNow)
          ->remove.size(),
      4u);
}

TEST(SparkPlan, sizes_that_cannot_be_read_are_said) {
  const auto steps = nextSteps(application("", R"("memoryOverhead":"some")"), {}, {}, kNow);
  ASSERT_FALSE(steps);
  EXPECT_NE(steps.error().text().find("spec.executor"), std::string::npos);
}

TEST(SparkPlan, applications_that_did_not_ask_are_left_alone) {
  auto out = api::decodeText<SparkApplication>(
      R"({"metadata":{"namespace":"data","name":"pi"},"spec":{"driver":{},"executor":{}}})");
  EXPECT_FALSE(out->wantsRoom());
  EXPECT_TRUE(nextSteps(*out, {}, {}, kNow)->empty());
}

}  // namespace
}  // namespace mangrove::manager
