#include "apiserver/kinds/conversion.h"

#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

TEST(Conversion, ServedFormsBecomeStoredOnesAndBack) {
  struct Row {
    const char *served, *stored;
  };
  const Row kRows[] = {
      {"{apiVersion: events.k8s.io/v1, kind: Event, note: hi, regarding: {name: p}, reason: R, "
       "reportingController: c, deprecatedCount: 3}",
       "{apiVersion: v1, kind: Event, message: hi, involvedObject: {name: p}, reason: R, "
       "reportingComponent: c, count: 3}"},
      {"{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 3, "
       "targetCPUUtilizationPercentage: 70}, status: {currentCPUUtilizationPercentage: 5}}",
       "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 3, "
       "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
       "averageUtilization: 70}}}]}, status: {currentMetrics: [{type: Resource, resource: {name: "
       "cpu, current: {averageUtilization: 5}}}]}}"},
      {"{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {annotations: "
       "{autoscaling.alpha.kubernetes.io/metrics: '[{\"type\":\"Pods\"}]', "
       "autoscaling.alpha.kubernetes.io/behavior: '{}'}}, spec: {}}",
       "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {}, spec: {metrics: "
       "[{type: Pods}], behavior: {}}}"},
  };
  for (const Row& row : kRows) {
    json::Value object = yaml(row.served);
    const KindInfo& kind = kindOf(object);
    EXPECT_FALSE(kind.storage);
    toStored(kind, object.get_object());
    EXPECT_EQ(json::writeSorted(object), json::writeSorted(yaml(row.stored)));
    fromStored(kind, object);
    EXPECT_EQ(json::writeSorted(object), json::writeSorted(yaml(row.served)));
  }
}

TEST(Conversion, SelectorsAreRenamedToo) {
  const KindInfo& events = *catalogue().find("events.k8s.io", "v1", "Event");
  for (std::string_view name : events.selectable) {
    const KindInfo& core = *catalogue().find("", "v1", "Event");
    std::string_view stored = storedField(events, name);
    EXPECT_NE(std::find(core.selectable.begin(), core.selectable.end(), stored),
              core.selectable.end())
        << name;
  }
}

}  // namespace
}  // namespace mangrove::apiserver
