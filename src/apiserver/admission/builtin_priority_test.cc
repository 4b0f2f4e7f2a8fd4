#include "apiserver/admission/builtin_priority.h"

#include "apiserver/lifecycle/test_support.h"

namespace mangrove::apiserver {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kClasses = "/apis/scheduling.k8s.io/v1/priorityclasses";

class PriorityTest : public LifecycleTest {
 protected:
  Answer createPod(const std::string& name, const std::string& spec) {
    return ask("POST", kPods,
               R"({"metadata":{"name":")" + name +
                   R"("},"spec":{"containers":[{"name":"c","image":"i:1"}])" + spec + "}}");
  }
  Answer createClass(const std::string& name, int value, const std::string& extra = "") {
    return ask(
        "POST", kClasses,
        R"({"metadata":{"name":")" + name + R"("},"value":)" + std::to_string(value) + extra + "}");
  }
};

TEST_F(PriorityTest, FollowsFromTheClass) {
  EXPECT_EQ(createClass("high", 1000, R"(,"preemptionPolicy":"Never")").status, 201);
  struct Row {
    const char *spec, *priority, *policy;
  };
  int i = 0;
  for (const Row& row : std::initializer_list<Row>{
           {"", "0", "PreemptLowerPriority"},
           {R"(,"priorityClassName":"high")", "1000", "Never"},
           {R"(,"priorityClassName":"high","priority":1000)", "1000", "Never"},
           {R"(,"priorityClassName":"system-cluster-critical")", "2000000000",
            "PreemptLowerPriority"},
           {R"(,"priorityClassName":"system-node-critical")", "2000001000",
            "PreemptLowerPriority"}}) {
    auto pod = createPod("p" + std::to_string(i++), row.spec);
    EXPECT_EQ(pod.status, 201) << pod.body;
    EXPECT_EQ(at(pod, "/spec/priority"), row.priority) << row.spec;
    EXPECT_EQ(at(pod, "/spec/preemptionPolicy"), row.policy) << row.spec;
  }
}

TEST_F(PriorityTest, RefusesWhatDisagrees) {
  createClass("high", 1000);
  struct Row {
    const char *spec, *message;
  };
  for (const Row& row : std::initializer_list<Row>{
           {R"(,"priorityClassName":"none")",
            "pods \"p\" is forbidden: no PriorityClass with name none was found"},
           {R"(,"priorityClassName":"high","priority":7)",
            "pods \"p\" is forbidden: the integer value of priority (7) must not be provided in "
            "pod spec; priority admission controller computed 1000 from the given PriorityClass "
            "name"},
           {R"(,"preemptionPolicy":"Never")",
            "pods \"p\" is forbidden: the string value of PreemptionPolicy (Never) must not be "
            "provided in pod spec; priority admission controller computed PreemptLowerPriority "
            "from the given PriorityClass name"}}) {
    auto answer = createPod("p", row.spec);
    EXPECT_EQ(answer.status, 403) << answer.body;
    EXPECT_EQ(at(answer, "/message"), row.message);
  }
}

TEST_F(PriorityTest, OneClassMayBeTheDefaultOfAll) {
  EXPECT_EQ(createClass("usual", 50, R"(,"globalDefault":true)").status, 201);
  auto second = createClass("second", 60, R"(,"globalDefault":true)");
  EXPECT_EQ(second.status, 403) << second.body;
  auto pod = createPod("p", "");
  EXPECT_EQ(at(pod, "/spec/priority"), "50");
  EXPECT_EQ(at(pod, "/spec/priorityClassName"), "usual");
}

TEST_F(PriorityTest, TheSystemsClassesAreObjects) {
  ensurePriorityClasses(*context_);
  settle();
  auto one = ask("GET", std::string(kClasses) + "/system-node-critical");
  EXPECT_EQ(at(one, "/value"), "2000001000") << one.body;
  EXPECT_EQ(at(one, "/preemptionPolicy"), "PreemptLowerPriority");
}

}  // namespace
}  // namespace mangrove::apiserver
