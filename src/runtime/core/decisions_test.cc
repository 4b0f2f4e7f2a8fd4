// What to do with a pod, as tables: records in, actions and status out.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "runtime/core/pod_actions.h"
#include "runtime/core/pod_status.h"
#include "runtime/core/restart.h"

namespace mangrove::runtime {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

RunPod pod(std::string_view spec, std::string_view meta = "") {
  auto text = fmt::format(
      R"({{"metadata":{{"name":"web","namespace":"prod","uid":"u1"{}}},"spec":{}}})", meta, spec);
  auto decoded = api::decodeText<RunPod>(text);
  EXPECT_TRUE(decoded) << decoded.error().text();
  return decoded ? *decoded : RunPod();
}

const char* kTwo = R"({"containers":[{"name":"a"},{"name":"b"}]})";

ContainerRecord starting(std::string name) {
  ContainerRecord r;
  r.name = std::move(name);
  r.id = "containerd://1";
  r.starting = true;
  return r;
}

ContainerRecord running(std::string name) {
  ContainerRecord r;
  r.name = std::move(name);
  r.id = "containerd://1";
  r.running = r.started = r.ready = true;
  r.startedAt = kNow - 1min;
  return r;
}

ContainerRecord ended(std::string name, int code, int crashes = 1, Duration ago = 0s) {
  ContainerRecord r;
  r.name = std::move(name);
  r.id = "containerd://1";
  r.crashes = crashes;
  ExitRecord run;
  run.exitCode = code;
  run.reason = code == 0 ? "Completed" : "Error";
  run.finishedAt = kNow - std::chrono::duration_cast<std::chrono::microseconds>(ago);
  run.startedAt = run.finishedAt - 10s;
  r.last = run;
  return r;
}

PodRecord record(std::vector<ContainerRecord> containers) {
  PodRecord out;
  out.containers = std::move(containers);
  out.sandbox = true;
  out.startTime = kNow - 5min;
  return out;
}

using Names = std::vector<std::string>;

TEST(BackOff, DoublesAndIsForgiven) {
  EXPECT_EQ(backOff(0), 0s);
  EXPECT_EQ(backOff(1), 10s);
  EXPECT_EQ(backOff(2), 20s);
  EXPECT_EQ(backOff(5), 160s);
  EXPECT_EQ(backOff(6), 300s);
  EXPECT_EQ(backOff(1000), 300s);
  ExitRecord run;
  run.startedAt = kNow;
  run.finishedAt = kNow + 599s;
  EXPECT_EQ(crashesAfter(3, run), 4);
  run.finishedAt = kNow + 600s;
  EXPECT_EQ(crashesAfter(3, run), 0);
}

TEST(Restarts, ByPolicyAndRole) {
  using P = api::RestartPolicy;
  using R = ContainerRole;
  struct Row {
    P policy;
    R role;
    int code;
    bool want;
  } rows[] = {
      {P::kAlways, R::kMain, 0, true},     {P::kAlways, R::kMain, 1, true},
      {P::kOnFailure, R::kMain, 0, false}, {P::kOnFailure, R::kMain, 1, true},
      {P::kNever, R::kMain, 0, false},     {P::kNever, R::kMain, 1, false},
      {P::kAlways, R::kInit, 0, false},    {P::kAlways, R::kInit, 1, true},
      {P::kNever, R::kInit, 1, false},     {P::kNever, R::kSidecar, 0, true},
  };
  for (const auto& row : rows) {
    ExitRecord run;
    run.exitCode = row.code;
    EXPECT_EQ(restarts(row.policy, row.role, run), row.want) << row.code;
  }
}

TEST(Decide, StartsEverythingOfANewPod) {
  PodRecord fresh;
  auto next = decide(pod(kTwo), fresh, kNow);
  EXPECT_TRUE(next.makeSandbox);
  EXPECT_EQ(next.start, (Names{"a", "b"}));
  EXPECT_FALSE(next.over);
}

TEST(Decide, LeavesWhatRunsAndWaitsForTheBackOff) {
  auto next = decide(pod(kTwo), record({running("a"), ended("b", 1, 3, 5s)}), kNow);
  EXPECT_TRUE(next.start.empty());
  EXPECT_EQ(next.held, Names{"b"});
  EXPECT_EQ(next.wakeAt, kNow + 15s);
  next = decide(pod(kTwo), record({running("a"), ended("b", 1, 3, 20s)}), kNow);
  EXPECT_EQ(next.start, Names{"b"});
  next = decide(pod(kTwo), record({running("a"), ended("b", 1, 1)}), kNow);
  EXPECT_EQ(next.start, Names{"b"}) << "the first restart comes at once";
}

TEST(Decide, RunsInitsInOrderAndSidecarsOn) {
  const auto p = pod(R"({"initContainers":[{"name":"i1"},{"name":"s","restartPolicy":"Always"},
                       {"name":"i2"}],"containers":[{"name":"a"}]})");
  PodRecord r = record({});
  EXPECT_EQ(decide(p, r, kNow).start, Names{"i1"});
  r = record({ended("i1", 0)});
  EXPECT_EQ(decide(p, r, kNow).start, Names{"s"});
  auto sidecar = running("s");
  sidecar.started = false;
  r = record({ended("i1", 0), sidecar});
  EXPECT_TRUE(decide(p, r, kNow).start.empty()) << "the sidecar has not started";
  r = record({ended("i1", 0), running("s")});
  EXPECT_EQ(decide(p, r, kNow).start, Names{"i2"});
  r = record({ended("i1", 0), running("s"), ended("i2", 0)});
  EXPECT_EQ(decide(p, r, kNow).start, Names{"a"});
  r = record({ended("i1", 0), ended("s", 1), ended("i2", 0), running("a")});
  r.hasInited = true;
  EXPECT_EQ(decide(p, r, kNow).start, Names{"s"}) << "a sidecar comes back beside the others";
}

TEST(Decide, EndsSidecarsAfterTheOthers) {
  const auto p = pod(R"({"restartPolicy":"Never","initContainers":[
      {"name":"s1","restartPolicy":"Always"},{"name":"s2","restartPolicy":"Always"}],
      "containers":[{"name":"a"}]})");
  PodRecord r = record({running("s1"), running("s2"), ended("a", 0)});
  r.hasInited = true;
  auto next = decide(p, r, kNow);
  EXPECT_EQ(next.stop, Names{"s2"});
  EXPECT_FALSE(next.over);
  r = record({running("s1"), ended("s2", 0), ended("a", 0)});
  r.hasInited = true;
  // s2 would come back in a living pod; here it must not.
  next = decide(p, r, kNow);
  EXPECT_EQ(next.stop, Names{"s1"});
  r = record({ended("s1", 0), ended("s2", 0), ended("a", 0)});
  r.hasInited = true;
  EXPECT_TRUE(decide(p, r, kNow).over);
}

TEST(Decide, DeletionStopsEverything) {
  const auto p = pod(kTwo, R"(,"deletionTimestamp":"2026-03-01T12:00:30Z")");
  auto next = decide(p, record({running("a"), ended("b", 1)}), kNow);
  EXPECT_EQ(next.stop, Names{"a"});
  EXPECT_TRUE(next.start.empty());
  EXPECT_FALSE(next.over);
  auto stopping = running("a");
  stopping.stopping = true;
  EXPECT_TRUE(decide(p, record({stopping}), kNow).stop.empty()) << "told already";
  EXPECT_TRUE(decide(p, record({ended("a", 137)}), kNow).over);
  EXPECT_TRUE(decide(p, PodRecord(), kNow).over) << "never started";
}

TEST(Decide, DeadlinePasses) {
  const auto p = pod(R"({"activeDeadlineSeconds":301,"containers":[{"name":"a"}]})");
  auto next = decide(p, record({running("a")}), kNow);
  EXPECT_FALSE(next.deadlinePassed);
  EXPECT_EQ(next.wakeAt, kNow + 1s);
  next = decide(p, record({running("a")}), kNow + 1s);
  EXPECT_TRUE(next.deadlinePassed);
  EXPECT_EQ(next.stop, Names{"a"});
}

std::string phase(const RunPod& p, const PodRecord& r) {
  return std::string(api::podPhaseName(phaseOf(p, r)));
}

TEST(Status, Phases) {
  const auto always = pod(kTwo);
  const auto never = pod(R"({"restartPolicy":"Never","containers":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(phase(always, PodRecord()), "Pending");
  EXPECT_EQ(phase(always, record({running("a"), running("b")})), "Running");
  EXPECT_EQ(phase(always, record({starting("a"), starting("b")})), "Pending");
  EXPECT_EQ(phase(always, record({running("a"), starting("b")})), "Running");
  EXPECT_EQ(phase(always, record({ended("a", 1), ended("b", 0)})), "Running");
  EXPECT_EQ(phase(never, record({ended("a", 0), running("b")})), "Running");
  EXPECT_EQ(phase(never, record({ended("a", 0), ended("b", 0)})), "Succeeded");
  EXPECT_EQ(phase(never, record({ended("a", 2), ended("b", 0)})), "Failed");
  const auto init = pod(R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],
                            "containers":[{"name":"a"}]})");
  EXPECT_EQ(phase(init, record({running("i")})), "Pending");
  EXPECT_EQ(phase(init, record({ended("i", 1)})), "Failed");
}

json::Value statusOf(const RunPod& p, const PodRecord& r) {
  return podStatus(p, r, {"10.0.0.1", kNow});
}

TEST(Status, SaysWhatUsersLookFor) {
  auto held = ended("b", 1, 3);
  held.held = true;
  held.attempt = 2;
  auto r = record({running("a"), held});
  r.ip = "10.88.0.5";
  const auto status = statusOf(pod(kTwo), r);
  EXPECT_EQ(status.at("phase"), "Running");
  EXPECT_EQ(status.at("podIP"), "10.88.0.5");
  EXPECT_EQ(status.at("qosClass"), "BestEffort");
  const auto& b = status.at("containerStatuses").at(1);
  EXPECT_EQ(b.at("restartCount"), 2);
  EXPECT_EQ(b.at("state").at("waiting").at("reason"), "CrashLoopBackOff");
  EXPECT_EQ(b.at("state").at("waiting").at("message"),
            "back-off 20s restarting failed container=b pod=web_prod(u1)");
  EXPECT_EQ(b.at("lastState").at("terminated").at("exitCode"), 1);
  const auto& ready = status.at("conditions").at(2);
  EXPECT_EQ(ready.at("type"), "Ready");
  EXPECT_EQ(ready.at("status"), "False");
  EXPECT_EQ(ready.at("message"), "containers with unready status: [b]");
}

TEST(Status, NamesWhoIsWaitedForBeforeTheFirstStart) {
  const RunPod p = pod(R"({"restartPolicy":"Never","initContainers":[{"name":"one"},{"name":"two"},
      {"name":"aside","restartPolicy":"Always"}],"containers":[{"name":"a"}]})");
  const auto said = [&](std::vector<ContainerRecord> records) {
    const json::Value status = podStatus(p, record(std::move(records)), {"10.0.0.1", kNow});
    for (const auto& one : status.at("conditions").get_array())
      if (one.at("type") == "Initialized") return std::string(one.at("message").get_string());
    return std::string("no condition");
  };
  EXPECT_EQ(said({}), "containers with incomplete status: [one two aside]");
  EXPECT_EQ(said({ended("one", 0), ended("two", 1)}),
            "containers with incomplete status: [two aside]");
  EXPECT_EQ(said({ended("one", 0), ended("two", 0), starting("aside")}),
            "containers with incomplete status: [aside]");
}

TEST(Status, WaitingReasons) {
  const auto init = pod(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  auto status = statusOf(init, record({running("i")}));
  EXPECT_EQ(status.at("containerStatuses").at(0).at("state").at("waiting").at("reason"),
            "PodInitializing");
  ContainerRecord blocked;
  blocked.name = "a";
  blocked.blockedReason = "CreateContainerConfigError";
  blocked.blockedMessage = "configmap \"x\" not found";
  status = statusOf(pod(R"({"containers":[{"name":"a"}]})"), record({blocked}));
  EXPECT_EQ(status.at("containerStatuses").at(0).at("state").at("waiting").at("message"),
            "configmap \"x\" not found");
}

TEST(Status, KeepsForeignConditionsAndTransitionTimes) {
  auto decoded = api::decodeText<RunPod>(
      R"({"metadata":{"name":"w","uid":"u"},"spec":{"containers":[{"name":"a"}]},
          "status":{"conditions":[
            {"type":"example.com/gate","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"},
            {"type":"Ready","status":"True","lastTransitionTime":"2026-02-01T00:00:00Z"}]}})");
  ASSERT_TRUE(decoded) << decoded.error().text();
  const auto status = statusOf(*decoded, record({running("a")}));
  const auto& conditions = status.at("conditions").as_array();
  EXPECT_EQ(conditions[2].at("lastTransitionTime"), "2026-02-01T00:00:00Z");
  EXPECT_EQ(conditions.back().at("type"), "example.com/gate");
}

// What the server echoes late must not change what we say: two echoes could chase each other.
TEST(Status, TransitionTimesComeFromOurOwnMemory) {
  const auto p = pod(R"({"containers":[{"name":"a"}]})");
  auto r = record({running("a")});
  noteTransitions(p, r, kNow);
  noteTransitions(p, r, kNow + 5s);
  auto echoed = api::decodeText<RunPod>(
      R"({"metadata":{"name":"web","namespace":"prod","uid":"u1"},
          "spec":{"containers":[{"name":"a"}]},"status":{"conditions":[
            {"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T12:00:03Z"}]}})");
  ASSERT_TRUE(echoed);
  noteTransitions(*echoed, r, kNow + 6s);
  EXPECT_EQ(statusOf(*echoed, r).at("conditions").at(2).at("lastTransitionTime"),
            "2026-03-01T12:00:00Z");
  r.containers[0].ready = false;
  noteTransitions(*echoed, r, kNow + 7s);
  EXPECT_EQ(statusOf(*echoed, r).at("conditions").at(2).at("lastTransitionTime"),
            "2026-03-01T12:00:07Z");
}

}  // namespace
}  // namespace mangrove::runtime
