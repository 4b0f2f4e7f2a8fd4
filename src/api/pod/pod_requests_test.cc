#include "api/pod/pod_requests.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::api {
namespace {

struct Row {
  const char* about;
  const char* spec;
  const char* requests;
  const char* limits;
};

std::string text(const ResourceList& list) {
  return json::write(list.toJson());
}

Pod podOf(const std::string& json) {
  auto pod = decodeText<Pod>(json);
  EXPECT_TRUE(pod) << pod.error().text();
  return pod ? *std::move(pod) : Pod();
}

// {"resources": …} of one container.
#define WANT(amount) \
  R"({"resources":{"requests":{"cpu":")" amount R"("},"limits":{"cpu":")" amount R"("}}})"
#define SIDE(amount)                                                     \
  R"({"restartPolicy":"Always","resources":{"requests":{"cpu":")" amount \
  R"("},"limits":{"cpu":")" amount R"("}}})"

TEST(PodRequests, FollowKubernetes) {
  const Row table[] = {
      {"nothing", R"({})", "{}", "{}"},
      {"sum of containers", R"({"containers":[)" WANT("1") "," WANT("2") "]}", R"({"cpu":"3"})",
       R"({"cpu":"3"})"},
      {"init below the sum",
       R"({"containers":[)" WANT("1") "," WANT("2") R"(],"initContainers":[)" WANT("2") "]}",
       R"({"cpu":"3"})", R"({"cpu":"3"})"},
      {"init above the sum",
       R"({"containers":[)" WANT("1") R"(],"initContainers":[)" WANT("2") "," WANT("5") "]}",
       R"({"cpu":"5"})", R"({"cpu":"5"})"},
      {"a sidecar counts beside the containers",
       R"({"containers":[)" WANT("1") R"(],"initContainers":[)" SIDE("2") "]}", R"({"cpu":"3"})",
       R"({"cpu":"3"})"},
      {"a sidecar counts beside later inits only",
       R"({"containers":[)" WANT("1") "," WANT("2") R"(],"initContainers":[)" SIDE("1") "," WANT(
           "5") "]}",
       R"({"cpu":"6"})", R"({"cpu":"6"})"},
      {"an init before the sidecar stands alone",
       R"({"containers":[)" WANT("1") R"(],"initContainers":[)" WANT("5") "," SIDE("1") "]}",
       R"({"cpu":"5"})", R"({"cpu":"5"})"},
      {"overhead: requests always, limits only where there is one",
       R"({"overhead":{"cpu":"250m","memory":"1Mi"},"containers":[)" WANT("1") "]}",
       R"({"cpu":"1250m","memory":"1Mi"})", R"({"cpu":"1250m"})"},
      {"the pod's own resources replace the sums, for cpu, memory and huge pages only",
       R"({"resources":{"requests":{"cpu":"7","x/y":"1","hugepages-2Mi":"4Mi"},"limits":{"cpu":"8"}},"containers":[)" WANT(
           "1") "]}",
       R"({"cpu":"7","hugepages-2Mi":"4Mi"})", R"({"cpu":"8"})"},
      {"names are treated one by one",
       R"({"containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi"}}}],
           "initContainers":[{"resources":{"requests":{"cpu":"1","memory":"2Gi"}}}]})",
       R"({"cpu":"2","memory":"2Gi"})", "{}"},
  };
  for (const Row& row : table) {
    const Pod pod = podOf(R"({"spec":)" + std::string(row.spec) + "}");
    EXPECT_EQ(text(podRequests(pod)), row.requests) << row.about;
    EXPECT_EQ(text(podRequests(*pod.spec)), row.requests) << row.about;
    EXPECT_EQ(text(podLimits(*pod.spec)), row.limits) << row.about;
  }
}

TEST(PodRequests, OptionsLeaveThingsOut) {
  const Pod pod = podOf(R"({"spec":{"overhead":{"cpu":"1"},"resources":{"requests":{"cpu":"9"}},
    "containers":[{"resources":{"requests":{"cpu":"2"}}}]}})");
  EXPECT_EQ(podRequests(pod).cpu(), MilliCpu{10000});
  EXPECT_EQ(podRequests(pod, {.withOverhead = false}).cpu(), MilliCpu{9000});
  EXPECT_EQ(podRequests(pod, {.withPodResources = false}).cpu(), MilliCpu{3000});
}

TEST(PodRequests, MissingAmountsAreFilledPerContainer) {
  const Pod pod = podOf(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}},{}],
    "initContainers":[{}]}})");
  const ResourceList filled = podRequests(pod, {.missing = &scoringDefaults()});
  EXPECT_EQ(filled.cpu(), MilliCpu{1100});
  EXPECT_EQ(filled.memory(), Bytes{2 * 209715200LL});
}

TEST(PodRequests, GrantsCountWhileAResizeIsUnderWay) {
  const char* body = R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"%s"}}}]},
    "status":{%s"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"2"}},
      "allocatedResources":{"cpu":"3"}}]}})";
  const auto pod = [&](const char* wish, const char* conditions) {
    char text[1024];
    std::snprintf(text, sizeof text, body, wish, conditions);
    return podOf(text);
  };
  const char* infeasible =
      R"("conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],)";
  EXPECT_EQ(podRequests(pod("1", ""), {.withGrants = true}).cpu(), MilliCpu{3000});
  EXPECT_EQ(podRequests(pod("5", ""), {.withGrants = true}).cpu(), MilliCpu{5000});
  EXPECT_EQ(podRequests(pod("5", infeasible), {.withGrants = true}).cpu(), MilliCpu{3000});
  EXPECT_EQ(podRequests(pod("5", infeasible)).cpu(), MilliCpu{5000});
}

}  // namespace
}  // namespace mangrove::api
