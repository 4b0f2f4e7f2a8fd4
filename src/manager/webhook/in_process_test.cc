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

// Asks and takes the answer, which comes at once without an owner.
std::optional<Review> mutated(InProcessAdmission& admission, const InProcessQuestion& question,
                              json::Value& pod, std::vector<std::string>& warnings) {
  std::optional<Review> out;
  const json::Value nothing;
  admission.mutate(question, {pod, nothing, warnings},
                   [&](std::optional<Review> refusal) { out = std::move(refusal); });
  return out;
}
std::optional<Review> validated(InProcessAdmission& admission, const InProcessQuestion& question,
                                json::Value& pod, std::vector<std::string>& warnings) {
  std::optional<Review> out;
  const json::Value nothing;
  admission.validate(question, {pod, nothing, warnings},
                     [&](std::optional<Review> refusal) { out = std::move(refusal); });
  return out;
}

TEST(InProcess, ChangesThenJudges) {
  const auto around = std::make_shared<const Surroundings>(clusterWith({kBatch}));
  InProcessAdmission admission({.picture = [&] { return around; }});
  json::Value pod = *json::parse(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  std::vector<std::string> warnings;
  EXPECT_FALSE(mutated(admission, aboutPod("default"), pod, warnings));
  EXPECT_EQ(at(pod, "spec|containers|0|resources|requests"), R"({"kubernetes.io/batch-cpu":"1k"})");
  EXPECT_FALSE(validated(admission, aboutPod("default"), pod, warnings));
  pod.at("metadata").at("labels").at("koordinator.sh/qosClass") = "LS";
  auto refusal = validated(admission, aboutPod("default"), pod, warnings);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "batch-resources-need-be");
}

TEST(InProcess, SparesTheControlPlaneAndForeignObjects) {
  auto cluster = clusterWith({kBatch});
  auto namespaces = std::make_shared<NamespaceLabels>();
  (*namespaces)["kube-system"] = {{"control-plane", "true"}};
  cluster.namespaces = namespaces;
  const auto around = std::make_shared<const Surroundings>(cluster);
  InProcessAdmission admission({.picture = [&] { return around; }});
  const json::Value before = *json::parse(R"({"metadata":{"name":"p"},"spec":{"containers":[]}})");
  json::Value pod = before;
  std::vector<std::string> warnings;
  EXPECT_FALSE(mutated(admission, aboutPod("kube-system"), pod, warnings));
  EXPECT_EQ(pod, before);
  InProcessQuestion service = aboutPod("default");
  service.resource = "services";
  EXPECT_FALSE(mutated(admission, service, pod, warnings));
  EXPECT_EQ(pod, before);
}

TEST(InProcess, TellsWhatUsersShouldKnow) {
  const auto around = std::make_shared<const Surroundings>(clusterWith());
  std::vector<std::string> heard;
  InProcessAdmission admission(
      {.picture = [&] { return around; },
       .heard = [&](const InProcessQuestion&,
                    const Notice& notice) { heard.push_back(notice.reason); }});
  json::Value pod = *json::parse(
      R"({"metadata":{"annotations":{"volcano.sh/qos-level":"LC","volcano.sh/preemptable":"true"}},"spec":{}})");
  std::vector<std::string> warnings;
  EXPECT_FALSE(mutated(admission, aboutPod("default"), pod, warnings));
  EXPECT_EQ(heard, std::vector<std::string>{"QoSDialectConflict"});
  EXPECT_EQ(warnings.size(), 1U);
}

// Some handlers answer later and from elsewhere; the ones behind them wait.
TEST(InProcess, WaitsForTheOwner) {
  const auto around = std::make_shared<const Surroundings>(clusterWith());
  std::vector<std::pair<std::string, ReviewDone>> asked;
  InProcessSetup setup;
  setup.picture = [&] { return around; };
  setup.onOwner = [&](const Route& route, const AdmissionRequest&, ReviewDone done) {
    asked.emplace_back(route.path, std::move(done));
  };
  setup.needsSecondLook = [](const AdmissionRequest& request, const Surroundings&) {
    return request.resource == "pods";
  };
  setup.secondLook = [&](const AdmissionRequest&, ReviewDone done) {
    asked.emplace_back("second look", std::move(done));
  };
  InProcessAdmission admission(std::move(setup));
  std::vector<std::string> warnings, answers;
  const json::Value nothing;
  const auto note = [&](std::optional<Review> refusal) {
    answers.push_back(refusal ? refusal->reason : "good");
  };

  InProcessQuestion quota = aboutPod("default");
  quota.group = "scheduling.sigs.k8s.io";
  quota.resource = "elasticquotas";
  quota.operation = Operation::kDelete;
  json::Value gone;
  const json::Value old = *json::parse(R"({"metadata":{"name":"team"}})");
  admission.validate(quota, {gone, old, warnings}, note);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].first, "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota");
  EXPECT_TRUE(answers.empty());
  asked[0].second(Review::refuse(kForbidden, "has-pods", "two pods"));
  EXPECT_EQ(answers, std::vector<std::string>{"has-pods"});

  json::Value pod = *json::parse(R"({"metadata":{"name":"p"},"spec":{"containers":[]}})");
  admission.validate(aboutPod("default"), {pod, nothing, warnings}, note);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[1].first, "second look");
  asked[1].second(Review());
  EXPECT_EQ(answers.back(), "good");
  admission.mutate(aboutPod("default"), {pod, nothing, warnings}, note);
  EXPECT_EQ(asked.size(), 2U) << "only a pod that is about to be stored is booked";
}

// Before the first picture a question waits; where there is none in time, failure policies hold.
TEST(InProcess, WaitsForThePicture) {
  const auto around = std::make_shared<const Surroundings>(clusterWith({kBatch}));
  bool ready = false;
  std::vector<Fn> waiting;
  Registry metrics;
  InProcessSetup setup;
  setup.picture = [&] { return ready ? around : std::make_shared<const Surroundings>(); };
  setup.ready = [&] { return ready; };
  setup.wait = [&](Fn go) { waiting.push_back(std::move(go)); };
  setup.metrics = &metrics;
  InProcessAdmission admission(std::move(setup));
  const json::Value nothing;
  json::Value pod = *json::parse(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  json::Value late = pod, service = pod;
  std::vector<std::string> warnings, answers;
  const auto note = [&](std::optional<Review> refusal) {
    answers.push_back(refusal ? refusal->reason : "good");
  };
  InProcessQuestion other = aboutPod("default");
  other.resource = "services";
  admission.mutate(other, {service, nothing, warnings}, note);
  EXPECT_EQ(answers, std::vector<std::string>{"good"}) << "nobody's business waits for nobody";
  admission.mutate(aboutPod("default"), {late, nothing, warnings}, note);
  admission.mutate(aboutPod("default"), {pod, nothing, warnings}, note);
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(answers.size(), 1U);
  waiting[0]();  // too late
  EXPECT_EQ(answers.back(), "not-ready");
  ready = true;
  waiting[1]();
  EXPECT_EQ(answers.back(), "good");
  EXPECT_EQ(at(pod, "spec|containers|0|resources|requests"), R"({"kubernetes.io/batch-cpu":"1k"})");
  const std::string page = metrics.exposition();
  EXPECT_NE(
      page.find(
          R"(mangrove_manager_webhook_failures_total{path="/mutate-pod",reason="not-ready"} 1)"),
      page.npos)
      << page;
  EXPECT_NE(
      page.find(
          R"(koord_manager_webhook_webhook_duration_milliseconds_count{webhook_type="mutate",object_type="pod",operation="CREATE",plugin_name="pod",status="allowed"} 1)"),
      page.npos)
      << page;
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
