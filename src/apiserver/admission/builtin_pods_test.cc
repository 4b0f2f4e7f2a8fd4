// What the server's own admission adds to objects and refuses, through the whole request path.
#include "apiserver/admission/builtin_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/admission/builtin_claims.h"
#include "apiserver/admission/builtin_limits.h"
#include "apiserver/admission/builtin_quota.h"
#include "apiserver/admission/builtin_services.h"
#include "apiserver/admission/builtin_warnings.h"
#include "apiserver/lifecycle/test_support.h"

namespace mangrove::apiserver {
namespace {

json::Object object(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value->get_object();
}

TEST(DefaultTolerations, AreAddedUnlessThePodHasItsOwn) {
  struct Row {
    const char* spec;
    size_t count;
  };
  const Row rows[] = {
      {R"({})", 2},
      {R"({"tolerations":[{"operator":"Exists"}]})", 1},
      {R"({"tolerations":[{"operator":"Exists","effect":"NoSchedule"}]})", 3},
      {R"({"tolerations":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]})", 2},
      {R"({"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists"}]})", 2},
      {R"({"tolerations":[{"key":"other","operator":"Exists","effect":"NoExecute"}]})", 3},
  };
  for (const Row& row : rows) {
    json::Object spec = object(row.spec);
    addDefaultTolerations(spec);
    EXPECT_EQ(spec.at("tolerations").as_array().size(), row.count) << row.spec;
    json::Object again = spec;
    addDefaultTolerations(again);
    EXPECT_EQ(again, spec) << row.spec;
  }
}

TEST(Limits, GiveDefaultsAndSayWhatTheySet) {
  const json::Object range = object(
      R"({"spec":{"limits":[{"type":"Container","default":{"cpu":"500m"},"defaultRequest":{"cpu":"100m"}}]}})");
  json::Object pod = object(
      R"({"metadata":{},"spec":{"containers":[{"name":"a"},{"name":"b","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}}}]}})");
  applyLimitDefaults(range, pod);
  const json::Value& first = pod["spec"].at("containers").at(0).at("resources");
  EXPECT_EQ(first.at("requests").at("cpu"), "100m");
  EXPECT_EQ(first.at("limits").at("cpu"), "500m");
  EXPECT_EQ(pod["spec"].at("containers").at(1).at("resources").at("limits").at("cpu"), "1");
  EXPECT_EQ(pod["metadata"].at("annotations").at("kubernetes.io/limit-ranger"),
            "LimitRanger plugin set: cpu request for container a; cpu limit for container a");
}

TEST(Limits, NameEveryViolation) {
  struct Row {
    const char *limit, *resources, *text;
  };
  const Row rows[] = {
      {R"({"type":"Container","max":{"cpu":"1"}})", R"({"limits":{"cpu":"2"}})",
       "maximum cpu usage per Container is 1, but limit is 2"},
      {R"({"type":"Container","max":{"cpu":"1"}})", R"({})",
       "maximum cpu usage per Container is 1.  No limit is specified"},
      {R"({"type":"Container","min":{"memory":"1Gi"}})", R"({"requests":{"memory":"512Mi"}})",
       "minimum memory usage per Container is 1Gi, but request is 512Mi"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})",
       R"({"requests":{"cpu":"1"},"limits":{"cpu":"4"}})",
       "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"},
      {R"({"type":"Pod","max":{"cpu":"1"}})",
       R"({"limits":{"cpu":"1500m"},"requests":{"cpu":"1"}})",
       "maximum cpu usage per Pod is 1, but limit is 1500m"},
      {R"({"type":"Container","max":{"cpu":"2"}})", R"({"limits":{"cpu":"2"}})", ""},
  };
  for (const Row& row : rows) {
    const json::Object range = object(std::string(R"({"spec":{"limits":[)") + row.limit + "]}}");
    const json::Object pod = object(
        std::string(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":)") +
        row.resources + "}]}}");
    const auto found = limitViolations(range, pod);
    EXPECT_EQ(found.empty() ? "" : found[0], row.text) << row.limit;
  }
}

TEST(PodWarnings, NameWhatIsGivenTwice) {
  const json::Object spec = object(
      R"({"containers":[{"env":[{"name":"A"},{"name":"B"},{"name":"A"}],
          "ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"UDP"},{"containerPort":80,"protocol":"TCP"}]}]})");
  EXPECT_EQ(
      podWarnings(spec, "spec"),
      (std::vector<std::string>{
          "spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped "
          "when using apply",
          "spec.containers[0].ports[2]: duplicate port definition with "
          "spec.containers[0].ports[0]"}));
}

TEST(PodWarnings, TellWhichSecurityIsNotCarriedOut) {
  const auto spec = json::parse(
      R"({"securityContext":{"seLinuxOptions":{"level":"s0"},"supplementalGroupsPolicy":"Strict"},"containers":[{"name":"a",)"
      R"("securityContext":{"appArmorProfile":{"type":"RuntimeDefault"},"runAsUser":1}}]})");
  ASSERT_TRUE(spec);
  EXPECT_THAT(podWarnings(spec->get_object(), "spec"),
              ::testing::ElementsAre(
                  ::testing::StartsWith("spec.securityContext.seLinuxOptions: stored, but not"),
                  ::testing::StartsWith("spec.securityContext.supplementalGroupsPolicy: groups"),
                  ::testing::StartsWith("spec.containers[0].securityContext.appArmorProfile: ")));
}

TEST(Warnings, SayWhatIsStoredOnly) {
  const auto text = [](std::string_view group, std::string_view plural) {
    const KindInfo* kind = catalogue().findPlural(group, "v1", plural);
    return kind ? storedOnly(*kind) : "no such kind";
  };
  EXPECT_THAT(text("networking.k8s.io", "networkpolicies"),
              ::testing::HasSubstr("no traffic is refused"));
  EXPECT_THAT(text("networking.k8s.io", "ingresses"), ::testing::HasSubstr("no request reaches"));
  EXPECT_EQ(text("", "services"), "");
}

class BuiltInAdmission : public LifecycleTest {
 protected:
  static constexpr const char* kBase = "/api/v1/namespaces/default/";

  Answer make(const std::string& plural, const std::string& body) {
    return ask("POST", kBase + plural, body);
  }
  Answer pod(const std::string& name, const std::string& requests) {
    return make("pods",
                R"({"metadata":{"name":")" + name +
                    R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":)" +
                    requests + "}}]}}");
  }
};

TEST_F(BuiltInAdmission, AccountsMustExistAndAreNamed) {
  context_->admission.add(std::make_unique<PodAdmission>(context_->store));
  auto plain = pod("a", "{}");
  EXPECT_EQ(at(plain, "/spec/serviceAccountName"), "default") << plain.body;
  auto unknown = make(
      "pods",
      R"({"metadata":{"name":"b"},"spec":{"serviceAccountName":"none","containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(unknown.status, 403);
  EXPECT_EQ(at(unknown, "/message"),
            "pods \"b\" is forbidden: error looking up service account default/none: "
            "serviceaccount \"none\" not found");
  auto heavy = make(
      "pods",
      R"({"metadata":{"name":"h"},"spec":{"overhead":{"cpu":"1"},"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(heavy.status, 403) << heavy.body;
}

TEST_F(BuiltInAdmission, ServicesGetAddressesAndPortsOfTheirOwn) {
  auto services = std::make_unique<ServiceAdmission>(*context_);
  context_->observers.push_back(services.get());
  context_->admission.add(std::move(services));
  auto one = make("services",
                  R"({"metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  EXPECT_EQ(one.status, 201) << one.body;
  const std::string ip = at(one, "/spec/clusterIP"), port = at(one, "/spec/ports/0/nodePort");
  EXPECT_TRUE(ip.starts_with("10.")) << ip;
  EXPECT_GE(std::stoi(port), kFirstNodePort);
  EXPECT_LE(std::stoi(port), kLastNodePort);
  auto taken = [&](const std::string& spec) {
    return make("services",
                R"({"metadata":{"name":"b"},"spec":{"ports":[{"port":80}],)" + spec + "}}");
  };
  auto same = taken(R"("clusterIP":")" + ip + R"(")");
  EXPECT_EQ(same.status, 422);
  EXPECT_NE(same.body.find("provided IP is already allocated"), std::string::npos) << same.body;
  EXPECT_EQ(taken(R"("clusterIP":"192.168.1.1")").status, 422);
  EXPECT_EQ(taken(R"("clusterIP":"fd00::1")").status, 422);
  // Ports below the range are the machine's own, whether or not one asks for some to be given.
  const std::string spared = R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false)";
  auto guarded =
      make("services", R"({"metadata":{"name":"b"},"spec":{"ports":[{"port":80,"nodePort":22}],)" +
                           spared + "}}");
  EXPECT_EQ(guarded.status, 422) << guarded.body;
  EXPECT_EQ(at(taken(spared), "/spec/ports/0/nodePort"), "none");
  ask("DELETE", std::string(kBase) + "services/b");
  settle();
  EXPECT_EQ(taken(R"("clusterIP":"None")").status, 201);
  settle();
  ask("DELETE", std::string(kBase) + "services/a");
  ask("DELETE", std::string(kBase) + "services/b");
  settle();
  EXPECT_EQ(taken(R"("clusterIP":")" + ip + R"(")").status, 201) << "what is gone is free again";
}

TEST_F(BuiltInAdmission, ClaimsGetTheDefaultClass) {
  context_->admission.add(std::make_unique<ClaimAdmission>(context_->store));
  ask("POST", "/apis/storage.k8s.io/v1/storageclasses",
      R"({"metadata":{"name":"fast","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"x.y/z"})");
  settle();
  auto claim = [&](const std::string& name, const std::string& extra) {
    return make(
        "persistentvolumeclaims",
        R"({"metadata":{"name":")" + name +
            R"("},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}})" +
            extra + "}}");
  };
  EXPECT_EQ(at(claim("a", ""), "/spec/storageClassName"), "fast");
  EXPECT_EQ(at(claim("b", R"(,"storageClassName":"")"), "/spec/storageClassName"), "");
}

TEST_F(BuiltInAdmission, QuotasCountAndRefuse) {
  auto quotas = std::make_unique<QuotaAdmission>(*context_);
  context_->observers.push_back(quotas.get());
  context_->admission.add(std::move(quotas));
  pod("before", R"({"cpu":"100m"})");
  make("resourcequotas",
       R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"2","requests.cpu":"1"}}})");
  settle();
  auto used = [&](const char* name) {
    return at(ask("GET", std::string(kBase) + "resourcequotas/q"),
              std::string("/status/used/") + name);
  };
  EXPECT_EQ(used("pods"), "1");
  EXPECT_EQ(used("requests.cpu"), "100m");
  auto silent = pod("silent", "{}");
  EXPECT_EQ(at(silent, "/message"),
            "pods \"silent\" is forbidden: failed quota: q: must specify requests.cpu for: c");
  auto big = pod("big", R"({"cpu":"1"})");
  EXPECT_EQ(at(big, "/message"),
            "pods \"big\" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: "
            "requests.cpu=100m, limited: requests.cpu=1");
  EXPECT_EQ(pod("second", R"({"cpu":"200m"})").status, 201);
  EXPECT_EQ(used("requests.cpu"), "300m");
  EXPECT_EQ(pod("third", R"({"cpu":"200m"})").status, 403);
  ask("DELETE", std::string(kBase) + "pods/before");
  settle();
  EXPECT_EQ(used("pods"), "1");
  EXPECT_EQ(pod("third", R"({"cpu":"200m"})").status, 201);
  ask("PATCH", std::string(kBase) + "resourcequotas/q/status",
      R"({"status":{"hard":{"pods":"9"}}})", "application/merge-patch+json");
  settle();
  EXPECT_EQ(at(ask("GET", std::string(kBase) + "resourcequotas/q"), "/status/hard/pods"), "2")
      << "what somebody wrote over it is put right";
}

}  // namespace
}  // namespace mangrove::apiserver
