#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

struct PodCase {
  const char* what;
  const char* pod;   // spec, status and what else there is, YAML
  const char* want;  // ready, status, restarts
};

constexpr PodCase kPodCases[] = {
    {"just made", "{spec: {containers: [{name: a}]}, status: {phase: Pending}}",
     R"("0/1","Pending","0")"},
    {"being set up",
     "{spec: {containers: [{name: a}]}, status: {phase: Pending, containerStatuses: [{name: a, "
     "state: {waiting: {reason: ContainerCreating}}}]}}",
     R"("0/1","ContainerCreating","0")"},
    {"running",
     "{spec: {containers: [{name: a}, {name: b}]}, status: {phase: Running, containerStatuses: "
     "[{name: a, ready: true, state: {running: {}}}, {name: b, ready: false, state: {running: "
     "{}}}]}}",
     R"("1/2","Running","0")"},
    {"crashing",
     "{spec: {containers: [{name: a}]}, status: {phase: Running, containerStatuses: [{name: a, "
     "restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: "
     "{finishedAt: '2026-03-01T11:55:00Z'}}}]}}",
     R"~("0/1","CrashLoopBackOff","3 (5m ago)")~"},
    {"out of memory",
     "{spec: {containers: [{name: a}]}, status: {phase: Failed, containerStatuses: [{name: a, "
     "state: {terminated: {reason: OOMKilled, exitCode: 137}}}]}}",
     R"("0/1","OOMKilled","0")"},
    {"ended without a reason",
     "{spec: {containers: [{name: a}]}, status: {phase: Failed, containerStatuses: [{name: a, "
     "state: {terminated: {exitCode: 2}}}]}}",
     R"("0/1","ExitCode:2","0")"},
    {"ended by a signal",
     "{spec: {containers: [{name: a}]}, status: {phase: Failed, containerStatuses: [{name: a, "
     "state: {terminated: {signal: 9, exitCode: 137}}}]}}",
     R"("0/1","Signal:9","0")"},
    {"done",
     "{spec: {containers: [{name: a}]}, status: {phase: Succeeded, containerStatuses: [{name: a, "
     "state: {terminated: {reason: Completed, exitCode: 0}}}]}}",
     R"("0/1","Completed","0")"},
    {"one done, one running and ready",
     "{spec: {containers: [{name: a}, {name: b}]}, status: {phase: Running, conditions: [{type: "
     "Ready, status: 'True'}], containerStatuses: [{name: a, state: {terminated: {reason: "
     "Completed}}}, {name: b, ready: true, state: {running: {}}}]}}",
     R"("1/2","Running","0")"},
    {"one done, one running, not ready",
     "{spec: {containers: [{name: a}, {name: b}]}, status: {phase: Running, containerStatuses: "
     "[{name: a, state: {terminated: {reason: Completed}}}, {name: b, ready: true, state: "
     "{running: {}}}]}}",
     R"("1/2","NotReady","0")"},
    {"the first container's trouble is shown",
     "{spec: {containers: [{name: a}, {name: b}]}, status: {phase: Pending, containerStatuses: "
     "[{name: a, state: {waiting: {reason: ErrImagePull}}}, {name: b, state: {waiting: {reason: "
     "ContainerCreating}}}]}}",
     R"("0/2","ErrImagePull","0")"},
    {"initialising",
     "{spec: {initContainers: [{name: i}, {name: j}], containers: [{name: a}]}, status: {phase: "
     "Pending, initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0}}}, {name: j, "
     "state: {running: {}}}]}}",
     R"("0/1","Init:1/2","0")"},
    {"initialising fails",
     "{spec: {initContainers: [{name: i}], containers: [{name: a}]}, status: {phase: Pending, "
     "initContainerStatuses: [{name: i, restartCount: 2, state: {terminated: {exitCode: 1, reason: "
     "Error}}}]}}",
     R"("0/1","Init:Error","2")"},
    {"initialising crashes",
     "{spec: {initContainers: [{name: i}], containers: [{name: a}]}, status: {phase: Pending, "
     "initContainerStatuses: [{name: i, state: {waiting: {reason: CrashLoopBackOff}}}]}}",
     R"("0/1","Init:CrashLoopBackOff","0")"},
    {"waiting for the first init container",
     "{spec: {initContainers: [{name: i}], containers: [{name: a}]}, status: {phase: Pending, "
     "initContainerStatuses: [{name: i, state: {waiting: {reason: PodInitializing}}}], "
     "containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}]}}",
     R"("0/1","Init:0/1","0")"},
    {"restarts of finished init containers do not count",
     "{spec: {initContainers: [{name: i}], containers: [{name: a}]}, status: {phase: Running, "
     "initContainerStatuses: [{name: i, restartCount: 4, state: {terminated: {exitCode: 0}}}], "
     "containerStatuses: [{name: a, restartCount: 1, ready: true, state: {running: {}}}]}}",
     R"("1/1","Running","1")"},
    {"a sidecar counts",
     "{spec: {initContainers: [{name: s, restartPolicy: Always}], containers: [{name: a}]}, "
     "status: {phase: Running, initContainerStatuses: [{name: s, restartCount: 2, started: true, "
     "ready: true, state: {running: {}}}], containerStatuses: [{name: a, ready: true, state: "
     "{running: {}}}]}}",
     R"("2/2","Running","2")"},
    {"evicted", "{spec: {containers: [{name: a}]}, status: {phase: Failed, reason: Evicted}}",
     R"("0/1","Evicted","0")"},
    {"gated",
     "{spec: {containers: [{name: a}]}, status: {phase: Pending, conditions: [{type: PodScheduled, "
     "status: 'False', reason: SchedulingGated}]}}",
     R"("0/1","SchedulingGated","0")"},
    {"being deleted",
     "{metadata: {deletionTimestamp: '2026-03-01T11:59:00Z'}, spec: {containers: [{name: a}]}, "
     "status: {phase: Running, containerStatuses: [{name: a, ready: true, state: {running: {}}}]}}",
     R"("1/1","Terminating","0")"},
    {"deleted after its end",
     "{metadata: {deletionTimestamp: '2026-03-01T11:59:00Z'}, spec: {containers: [{name: a}]}, "
     "status: {phase: Succeeded, containerStatuses: [{name: a, state: {terminated: {reason: "
     "Completed}}}]}}",
     R"("0/1","Completed","0")"},
    {"its node is lost",
     "{metadata: {deletionTimestamp: '2026-03-01T11:59:00Z'}, spec: {containers: [{name: a}]}, "
     "status: {phase: Running, reason: NodeLost}}",
     R"("0/1","Unknown","0")"},
};

TEST(PodColumns, SayWhatThePodDoes) {
  const KindInfo& pods = *catalogue().find("", "v1", "Pod");
  for (const auto& c : kPodCases) {
    const std::string cells = fixture::cellsOf(pods, yaml(c.pod));
    const std::string want = std::string(R"(["",)") + c.want + R"(,"<unknown>")";
    EXPECT_EQ(cells.substr(0, want.size()), want) << c.what;
  }
}

TEST(PodColumns, Wide) {
  const KindInfo& pods = *catalogue().find("", "v1", "Pod");
  auto pod = yaml(R"(
metadata: {name: web, creationTimestamp: "2026-02-26T12:00:00Z"}
spec: {nodeName: n1, containers: [{name: a}], readinessGates: [{conditionType: x}, {conditionType: y}]}
status:
  phase: Running
  podIP: 10.0.0.7
  podIPs: [{ip: 10.0.0.7}, {ip: "fd00::7"}]
  nominatedNodeName: n2
  conditions: [{type: y, status: "True"}, {type: x, status: "False"}]
)");
  EXPECT_EQ(fixture::cellsOf(pods, pod),
            R"(["web","0/1","Running","0","3d","10.0.0.7","n1","n2","1/2"])");
  EXPECT_EQ(fixture::cellsOf(pods, yaml("{metadata: {name: web}}")),
            R"(["web","0/0","","0","<unknown>","<none>","<none>","<none>","<none>"])");
}

}  // namespace
}  // namespace mangrove::apiserver
