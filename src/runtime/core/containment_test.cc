#include "runtime/core/containment.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"

namespace mangrove::runtime {
namespace {

RunPod podWith(const std::string& container, const std::string& spec = "",
               const std::string& annotations = "") {
  const std::string text =
      R"({"metadata":{"name":"p","namespace":"d","uid":"u-1","annotations":{)" + annotations +
      R"(}},"spec":{)" + spec + (spec.empty() ? "" : ",") +
      R"("containers":[{"name":"main","securityContext":{)" + container + "}}]}}";
  auto pod = api::decodeText<RunPod>(text);
  EXPECT_TRUE(pod) << text;
  return *pod;
}

Result<Containment> held(const RunPod& pod, const Without& without = {}) {
  return containmentOf(pod, pod.run.containers.at(0), without);
}

uint64_t bits(std::initializer_list<std::string_view> names) {
  uint64_t out = 0;
  for (auto name : names) out |= uint64_t{1} << *capabilityNumber(name);
  return out;
}

TEST(Containment, HoldsWhatAsksForNothing) {
  Containment want;
  want.capabilities = defaultCapabilities();
  EXPECT_EQ(*held(podWith("")), want);
  EXPECT_EQ(defaultCapabilities(), 0xa80425fbULL);  // as container runtimes write it
}

TEST(Containment, HonoursEveryField) {
  EXPECT_FALSE(held(podWith(R"("allowPrivilegeEscalation":true)"))->noNewPrivileges);
  EXPECT_TRUE(held(podWith(R"("allowPrivilegeEscalation":false)"))->noNewPrivileges);
  EXPECT_FALSE(held(podWith(R"("seccompProfile":{"type":"Unconfined"})"))->seccomp);
  EXPECT_TRUE(held(podWith(R"("seccompProfile":{"type":"RuntimeDefault"})",
                           R"("securityContext":{"seccompProfile":{"type":"Unconfined"}})"))
                  ->seccomp);
  EXPECT_FALSE(
      held(podWith("", R"("securityContext":{"seccompProfile":{"type":"Unconfined"}})"))->seccomp);
  EXPECT_FALSE(held(podWith(R"("procMount":"Unmasked")"))->maskKernel);
}

TEST(Containment, CountsCapabilities) {
  struct Row {
    std::string asked;
    uint64_t want;
  };
  const Row rows[] = {
      {R"("drop":["ALL"])", 0},
      {R"("drop":["ALL"],"add":["NET_BIND_SERVICE"])", bits({"NET_BIND_SERVICE"})},
      {R"("add":["SYS_TIME"])", defaultCapabilities() | bits({"SYS_TIME"})},
      {R"("add":["CAP_SYS_TIME"],"drop":["CHOWN"])",
       (defaultCapabilities() | bits({"SYS_TIME"})) & ~bits({"CHOWN"})},
      {R"("add":["ALL"])", allCapabilities()},
      {R"("add":["ALL"],"drop":["SYS_BOOT"])", allCapabilities() & ~bits({"SYS_BOOT"})},
  };
  for (const auto& row : rows)
    EXPECT_EQ(held(podWith("\"capabilities\":{" + row.asked + "}"))->capabilities, row.want)
        << row.asked;
  auto wrong = held(podWith(R"("capabilities":{"add":["FLY"]})"));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("'FLY' is no capability"), std::string::npos);
}

TEST(Containment, RefusesWhatItCannotDo) {
  EXPECT_FALSE(held(podWith(R"("seccompProfile":{"type":"Localhost","localhostProfile":"x"})")));
  EXPECT_FALSE(held(podWith(R"("privileged":true,"allowPrivilegeEscalation":false)")));
}

TEST(Containment, ShowsTheMachineToThePrivileged) {
  auto free = held(podWith(R"("privileged":true)"));
  EXPECT_EQ(free->view, View::kMachine);
  EXPECT_EQ(free->capabilities, allCapabilities());
  EXPECT_FALSE(free->seccomp || free->noNewPrivileges || free->maskKernel);
}

TEST(Containment, KeepsTheCallersCommandWithoutCapabilitiesOfTheMachine) {
  auto caller = held(podWith("", "", R"("mangrove.io/caller-environment":"/tmp/e")"));
  EXPECT_EQ(caller->view, View::kCaller);
  EXPECT_EQ(caller->capabilities, defaultCapabilities());
  EXPECT_TRUE(caller->seccomp && caller->noNewPrivileges);
}

TEST(Containment, SwitchesOffOneLayerOnly) {
  const RunPod pod = podWith("", "", R"("mangrove.io/test-without":"seccomp,user-map")");
  EXPECT_TRUE(withoutOf(pod, false).empty());
  const Without without = withoutOf(pod, true);
  EXPECT_FALSE(held(pod, without)->seccomp);
  EXPECT_TRUE(held(pod, without)->noNewPrivileges);
  EXPECT_EQ(firstUserOf(pod, true, without), 0);
}

TEST(Containment, MapsUsersWhereNothingOfTheMachineIsShared) {
  EXPECT_GE(firstUserOf(podWith(""), true), 16 * kMappedUsers);
  EXPECT_EQ(firstUserOf(podWith(""), true) % kMappedUsers, 0);
  EXPECT_LT(firstUserOf(podWith(""), true) + kMappedUsers, int64_t{1} << 31);
  EXPECT_EQ(firstUserOf(podWith(""), false), 0);
  for (const char* spec : {R"("hostUsers":true)", R"("hostNetwork":true)", R"("hostPID":true)",
                           R"("securityContext":{"runAsUser":70000})"})
    EXPECT_EQ(firstUserOf(podWith("", spec), true), 0) << spec;
  EXPECT_EQ(firstUserOf(podWith(R"("privileged":true)"), true), 0);
}

}  // namespace
}  // namespace mangrove::runtime
