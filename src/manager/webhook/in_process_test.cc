// The handlers without a network, and Reservations, which only come this way in most clusters.
#include "manager/webhook/in_process.h"

#include <gtest/gtest.h>

#include "manager/webhook/reservation/mutate.h"
#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::Asked;
using testing::at;
using testing::clusterWith;

constexpr std::string_view kBatch =
    R"({"metadata":{"name":"batch"},"spec":{"qosClass":"BE","priorityClassName":"koord-batch"}})";

InProcessQuestion aboutPod(std::string ns) {
  InProcessQuestion out;
  out.uid = "1";
  out.version = "v1";
  out.resource = "pods";
  out.kind = "Pod";
  out.ns = std::move(ns);
  return out;
}

TEST(InProcess, ChangesThenJudges) {
  const auto around = std::make_shared<const Surroundings>(clusterWith({kBatch}));
  InProcessAdmission admission([&] { return around; });
  json::Value pod = *json::parse(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  std::vector<std::string> warnings;
  EXPECT_FALSE(admission.mutate(aboutPod("default"), pod, nullptr, warnings));
  EXPECT_EQ(at(pod, "spec|containers|0|resources|requests"), R"({"kubernetes.io/batch-cpu":"1k"})");
  EXPECT_FALSE(admission.validate(aboutPod("default"), pod, nullptr, warnings));
  pod.at("metadata").at("labels").at("koordinator.sh/qosClass") = "LS";
  auto refusal = admission.validate(aboutPod("default"), pod, nullptr, warnings);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "batch-resources-need-be");
}

TEST(InProcess, SparesTheControlPlaneAndForeignObjects) {
  auto cluster = clusterWith({kBatch});
  auto namespaces = std::make_shared<NamespaceLabels>();
  (*namespaces)["kube-system"] = {{"control-plane", "true"}};
  cluster.namespaces = namespaces;
  const auto around = std::make_shared<const Surroundings>(cluster);
  InProcessAdmission admission([&] { return around; });
  const json::Value before = *json::parse(R"({"metadata":{"name":"p"},"spec":{"containers":[]}})");
  json::Value pod = before;
  std::vector<std::string> warnings;
  EXPECT_FALSE(admission.mutate(aboutPod("kube-system"), pod, nullptr, warnings));
  EXPECT_EQ(pod, before);
  InProcessQuestion service = aboutPod("default");
  service.resource = "services";
  EXPECT_FALSE(admission.mutate(service, pod, nullptr, warnings));
  EXPECT_EQ(pod, before);
}

TEST(InProcess, TellsWhatUsersShouldKnow) {
  const auto around = std::make_shared<const Surroundings>(clusterWith());
  std::vector<std::string> heard;
  InProcessAdmission admission(
      [&] { return around; },
      [&](const InProcessQuestion&, const Notice& notice) { heard.push_back(notice.reason); });
  json::Value pod = *json::parse(
      R"({"metadata":{"annotations":{"volcano.sh/qos-level":"LC","volcano.sh/preemptable":"true"}},"spec":{}})");
  std::vector<std::string> warnings;
  EXPECT_FALSE(admission.mutate(aboutPod("default"), pod, nullptr, warnings));
  EXPECT_EQ(heard, std::vector<std::string>{"QoSDialectConflict"});
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(Reservation, TakesProfilesByItsOwnLabels) {
  const auto around = clusterWith(
      {R"({"metadata":{"name":"p"},"spec":{"namespaceSelector":{"matchLabels":{"no":"such"}},)"
       R"("selector":{"matchLabels":{"app":"x"}},"qosClass":"LSR","priorityClassName":"koord-prod",)"
       R"("schedulerName":"koord-scheduler","koordinatorPriority":3}})"});
  Asked asked(Operation::kCreate,
              R"({"metadata":{"name":"r","labels":{"app":"x"}},"spec":{"template":{"spec":)"
              R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}})");
  const json::Value after = asked.after(mutateReservation(asked.request, around));
  EXPECT_EQ(at(after, "metadata|labels"),
            R"({"app":"x","koordinator.sh/priority":"3","koordinator.sh/qosClass":"LSR"})");
  EXPECT_EQ(at(after, "spec|template|spec|priority"), "9000");
  EXPECT_EQ(at(after, "spec|template|spec|schedulerName"), "koord-scheduler");
  EXPECT_EQ(at(after, "spec|template|spec|containers|0|resources|requests"), R"({"cpu":"1"})");
}

}  // namespace
}  // namespace mangrove::manager
