#include "manager/webhook/bench/bench_pods.h"

#include <fmt/format.h>

namespace mangrove::manager {
namespace {

constexpr int64_t kTeams = 100;

std::shared_ptr<const Profile> profileOf(int64_t number) {
  api::ColocationProfile object;
  object.meta.name = fmt::format("profile-{:05}", number);
  const std::string app = fmt::format("app-{}", number);
  const std::string team = fmt::format("team-{}", number % kTeams);
  object.spec.selector.emplace().matchLabels.set("app", app);
  if (number % 10 != 0) object.spec.namespaceSelector.emplace().matchLabels.set("team", team);
  object.spec.qosClass = "BE";
  object.spec.priorityClassName = "koord-batch";
  object.spec.schedulerName = "koord-scheduler";
  object.spec.labels["bench.mangrove.io/profile"] = object.meta.name.str();
  return std::make_shared<const Profile>(compileProfile(object));
}

std::string containerText(int index) {
  std::string env;
  for (int i = 0; i < 12; ++i)
    env += fmt::format(R"({}{{"name":"VARIABLE_{}","value":"a value of ordinary length {}"}})",
                       i == 0 ? "" : ",", i, i);
  return fmt::format(
      R"({{"name":"c{}","image":"registry.example.com/team/app:v1.{}","args":["--serve","--port=80"],)"
      R"("env":[{}],"resources":{{"requests":{{"cpu":"1500m","memory":"2Gi"}},)"
      R"("limits":{{"cpu":"2","memory":"4Gi"}}}},"volumeMounts":[{{"name":"token","mountPath":"/t"}}]}})",
      index, index, env);
}

std::string reviewOf(int64_t number, std::string_view app, std::string_view team,
                     std::string_view annotations) {
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-{}",)"
      R"("kind":{{"group":"","version":"v1","kind":"Pod"}},)"
      R"("resource":{{"group":"","version":"v1","resource":"pods"}},"namespace":"{}",)"
      R"("operation":"CREATE","userInfo":{{"username":"system:admin"}},"dryRun":false,)"
      R"("object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"generateName":"web-",)"
      R"("namespace":"{}","labels":{{"app":"{}","pod-template-hash":"7d9c","tier":"front"}},)"
      R"("annotations":{{{}}}}},"spec":{{"containers":[{},{}],"restartPolicy":"Always",)"
      R"("serviceAccountName":"default","volumes":[{{"name":"token","emptyDir":{{}}}}]}}}}}}}})",
      number, team, team, app, annotations, containerText(0), containerText(1));
}

}  // namespace

Surroundings benchSurroundings(int64_t profiles) {
  Surroundings out;
  ProfileIndex::Profiles all;
  for (int64_t i = 0; i < profiles; ++i) all.push_back(profileOf(i));
  out.profiles = std::make_shared<const ProfileIndex>(std::move(all));
  auto namespaces = std::make_shared<NamespaceLabels>();
  for (int64_t i = 0; i < kTeams; ++i) {
    const std::string team = fmt::format("team-{}", i);
    (*namespaces)[team].set("team", team);
  }
  out.namespaces = std::move(namespaces);
  auto classes = std::make_shared<PriorityClasses>();
  (*classes)["koord-batch"] = {5000, api::PreemptionPolicy::kPreemptLowerPriority};
  out.priorityClasses = std::move(classes);
  out.quotas = std::make_shared<const QuotaTree>();
  return out;
}

bool matchesProfile(int64_t number) {
  return number % 2 == 0;
}

std::string benchReview(int64_t number, int64_t profiles) {
  const int64_t profile = profiles == 0 ? 0 : (number * 7919) % profiles;
  const std::string app = matchesProfile(number) ? fmt::format("app-{}", profile)
                                                 : fmt::format("plain-{}", number % 50);
  return reviewOf(number, app, fmt::format("team-{}", profile % kTeams),
                  R"("example.com/owner":"somebody")");
}

std::string hugeReview() {
  const std::string big(size_t{3} << 20, 'x');
  return reviewOf(0, "app-0", "team-0", fmt::format(R"("example.com/blob":"{}")", big));
}

std::vector<BrokenReview> brokenReviews() {
  const std::string json = "application/json";
  const std::string pods = "/mutate-pod";
  const auto review = [](std::string_view request) {
    return fmt::format(
        R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}})", request);
  };
  return {
      {"empty body", pods, json, "", 400},
      {"no JSON", pods, json, "{\"kind\": \"AdmissionReview\",\n  oops}", 400},
      {"an array", pods, json, "[1,2]", 400},
      {"another version", pods, json, R"({"apiVersion":"v2","kind":"AdmissionReview"})", 400},
      {"no request", pods, json, R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
       400},
      {"no uid", pods, json, review(R"({"operation":"CREATE"})"), 400},
      {"unknown operation", pods, json, review(R"({"uid":"1","operation":"MAKE"})"), 400},
      {"no object", pods, json, review(R"({"uid":"1","operation":"CREATE"})"), 400},
      {"object of another type", pods, json,
       review(R"({"uid":"1","operation":"CREATE","object":"pod"})"), 400},
      {"pod with broken labels", pods, json,
       review(R"({"uid":"1","operation":"CREATE","object":{"metadata":{"labels":[1]}}})"), 200},
      {"text, not JSON", pods, "text/plain", "hello", 415},
      {"unknown path", "/mutate-everything", json, "{}", 404},
      {"9 MiB", pods, json, std::string(size_t{9} << 20, ' '), 413},
  };
}

}  // namespace mangrove::manager
