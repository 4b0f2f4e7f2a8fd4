// Admission as a whole against a small API server: certificates, registration, answers over TLS.
#include "manager/webhook/service.h"

#include <gtest/gtest.h>

#include "base/os/temp_folder.h"
#include "base/testing/wait.h"
#include "base/text/encoding.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "manager/gates.h"
#include "manager/webhook/test_support.h"
#include "net/client/http_client.h"

namespace mangrove::manager {
namespace {

using testing::at;
namespace kind = client::kind;

constexpr std::string_view kHook =
    R"({"webhooks":[{"name":"m","clientConfig":{"service":{"namespace":"n","name":"s","path":"/mutate-pod"}}},)"
    R"({"name":"q","clientConfig":{"service":{"namespace":"n","name":"s","path":"/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota"}}},)"
    R"({"name":"off","clientConfig":{"service":{"namespace":"n","name":"s","path":"/mutate-reservation"}}}]})";

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() : gates_(managerGates()) {
    api_.put(kind::kMutatingWebhook, "", "koordinator-mutating-webhook-configuration", kHook);
    api_.put(kind::kNamespace, "", "default", R"({"metadata":{"labels":{"team":"data"}}})");
    api_.put(kind::kPriorityClass, "", "koord-batch", R"({"value":5000})");
    api_.put(kind::kClusterColocationProfile, "", "batch",
             R"({"spec":{"namespaceSelector":{"matchLabels":{"team":"data"}},"qosClass":"BE",)"
             R"("priorityClassName":"koord-batch"}})");
    client_ = *client::HttpApiClient::make(loop_, realClock(), api_.config(), {.perSecond = 0});
    events_ =
        std::make_unique<client::EventRecorder>(*client_, worker_.mailbox(), realClock(),
                                                client::EventRecorderOptions{.component = "test"});
  }

  std::unique_ptr<AdmissionService> service(std::string host) {
    AdmissionSetup setup;
    setup.client = client_.get();
    setup.owner = &owner_;
    setup.home = &worker_.mailbox();
    setup.io = &loop_;
    setup.clock = &realClock();
    setup.metrics = &metrics_;
    setup.gates = &gates_;
    setup.events = events_.get();
    EXPECT_TRUE(readAdmissionEnvironment(setup.options, [&](std::string_view name) {
      if (name == "WEBHOOK_HOST") return host;
      if (name == "WEBHOOK_CERT_DIR") return directory_;
      return std::string(name == "WEBHOOK_PORT" ? "0" : "");
    }));
    setup.options.bind = "127.0.0.1";
    return std::make_unique<AdmissionService>(std::move(setup));
  }

  template <class Condition>
  bool runUntil(Condition condition) {
    return mangrove::runUntil(owner_, std::move(condition));
  }

  json::Value hookNow() {
    const auto all = api_.truth(kind::kMutatingWebhook);
    return all.empty() ? json::Value() : *json::parse(all.begin()->second);
  }

  net::HttpResponse post(net::HttpClient& http, std::string path, std::string body) {
    net::HttpRequest request;
    request.method = "POST";
    request.target = std::move(path);
    request.headers.set("Content-Type", "application/json");
    request.body = std::move(body);
    std::optional<Result<net::HttpResponse>> answer;
    http.send(std::move(request), {}, [&](Result<net::HttpResponse> heard) {
      owner_.post([&, heard = std::move(heard)]() mutable { answer = std::move(heard); });
    });
    EXPECT_TRUE(runUntil([&] { return answer.has_value(); }));
    EXPECT_TRUE(*answer) << answer->error().text();
    return **answer;
  }

  std::unique_ptr<net::HttpClient> clientOf(const AdmissionService& service) {
    net::ClientOptions options;
    options.base = *net::Url::parse("https://127.0.0.1:" + std::to_string(service.port()));
    options.tls.caPem = *base64Decode(at(hookNow(), "webhooks|0|clientConfig|caBundle"));
    return std::move(*net::HttpClient::create(loop_, options));
  }

  const TempFolder folder_{"webhook"};
  const std::string directory_ = folder_.path();
  net::Loop loop_{1};
  client::testing::FakeApi api_{loop_};
  FeatureGates gates_;
  Registry metrics_;
  Mailbox owner_;
  std::unique_ptr<client::HttpApiClient> client_;
  client::Worker worker_;
  std::unique_ptr<client::EventRecorder> events_;
};

std::string review(std::string_view operation, std::string_view resource, std::string_view object,
                   std::string_view old = "null") {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1",)"
         R"("namespace":"default","resource":)" +
         std::string(resource) + R"(,"operation":")" + std::string(operation) + R"(","object":)" +
         std::string(object) + R"(,"oldObject":)" + std::string(old) + "}}";
}

constexpr std::string_view kPods = R"({"group":"","version":"v1","resource":"pods"})";
constexpr std::string_view kQuotas =
    R"({"group":"scheduling.sigs.k8s.io","version":"v1alpha1","resource":"elasticquotas"})";

TEST_F(AdmissionTest, RegistersItselfAndAnswers) {
  auto admission = service("127.0.0.1");
  const auto ready = admission->readiness();
  EXPECT_FALSE(ready());
  admission->start();
  ASSERT_TRUE(runUntil(
      [&] { return ready() && at(hookNow(), "webhooks|0|clientConfig|url") != "(absent)"; }));
  const json::Value hook = hookNow();
  EXPECT_EQ(at(hook, "webhooks|0|clientConfig|url"),
            "https://127.0.0.1:" + std::to_string(admission->port()) + "/mutate-pod");
  EXPECT_EQ(hook.at("webhooks").get_array().size(), 2U) << "reservations are switched off";

  auto http = clientOf(*admission);
  const auto pod = post(*http, "/mutate-pod",
                        review("CREATE", kPods,
                               R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
                               R"("resources":{"requests":{"cpu":"1"}}}]}})"));
  EXPECT_EQ(pod.status, 200);
  auto answer = *json::parse(pod.body);
  const std::string patch = *base64Decode(at(answer, "response|patch"));
  EXPECT_NE(patch.find("kubernetes.io~1batch-cpu"), patch.npos) << patch;

  const std::string quota =
      R"({"metadata":{"namespace":"q","name":"a"},"spec":{"max":{"cpu":"1"}}})";
  const std::string path = "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota";
  EXPECT_NE(post(*http, path, review("CREATE", kQuotas, quota)).body.find("\"allowed\":true"),
            std::string::npos);
  EXPECT_NE(post(*http, path, review("CREATE", kQuotas, quota)).body.find("exists already"),
            std::string::npos)
      << "an admitted quota counts before the caches have it";
  EXPECT_EQ(post(*http, "/mutate-reservation", review("CREATE", kPods, "{}")).status, 404);
  EXPECT_EQ(post(*http, "/mutate-pod", "nonsense").status, 400);
  EXPECT_NE(metrics_.exposition().find("koord_manager_webhook_webhook_duration_milliseconds_count"),
            std::string::npos);
  EXPECT_NE(
      metrics_.exposition().find(
          R"(mangrove_manager_webhook_failures_total{path="/mutate-pod",reason="malformed"} 1)"),
      std::string::npos);
  http.reset();
  admission->stop(std::chrono::seconds(1));
}

TEST_F(AdmissionTest, ReplicasShareOneSecret) {
  auto first = service(""), second = service("");
  first->start();
  second->start();
  const auto a = first->readiness(), b = second->readiness();
  ASSERT_TRUE(runUntil([&] { return a() && b(); }));
  const auto secrets = api_.truth(kind::kSecret);
  ASSERT_EQ(secrets.size(), 1U);
  EXPECT_EQ(secrets.begin()->first, "koordinator-system/koordinator-webhook-certs");
  ASSERT_TRUE(runUntil([&] {
    return at(hookNow(), "webhooks|0|clientConfig|service|name") == "koordinator-webhook-service";
  }));
  const json::Value secret = *json::parse(secrets.begin()->second);
  EXPECT_EQ(at(secret, "data|ca-cert.pem"), at(hookNow(), "webhooks|0|clientConfig|caBundle"));
  first->stop(Duration::zero());
  second->stop(Duration::zero());
}

TEST_F(AdmissionTest, AHandlerThatFailsIsCountedAndLeavesAnEvent) {
  api_.put(kind::kClusterColocationProfile, "", "broken",
           R"({"spec":{"priorityClassName":"nobody"}})");
  auto admission = service("127.0.0.1");
  admission->start();
  ASSERT_TRUE(runUntil([&] { return at(hookNow(), "webhooks|0|clientConfig|url") != "(absent)"; }));
  const auto ready = admission->readiness();
  ASSERT_TRUE(runUntil([&] { return ready().has_value(); }));
  auto http = clientOf(*admission);
  const auto answer =
      post(*http, "/mutate-pod", review("CREATE", kPods, R"({"metadata":{"name":"p"},"spec":{}})"));
  EXPECT_NE(answer.body.find("PriorityClass 'nobody' does not exist"), std::string::npos);
  EXPECT_NE(answer.body.find("\"code\":500"), std::string::npos);
  EXPECT_NE(
      metrics_.exposition().find(
          R"(mangrove_manager_webhook_failures_total{path="/mutate-pod",reason="mutation"} 1)"),
      std::string::npos);
  EXPECT_TRUE(runUntil([&] {
    for (const auto& [key, event] : api_.truth(kind::kEvent))
      if (event.find("AdmissionHandlerFailed") != std::string::npos) return true;
    return false;
  }));
  http.reset();
  admission->stop(Duration::zero());
}

TEST(CertificateKeeper, RenewsInTime) {
  const TempFolder folder("keeper");
  VirtualClock clock(WallTime{} + std::chrono::hours(24 * 365 * 56));
  Mailbox owner;
  std::vector<WebhookCertificates> seen;
  KeeperSetup setup;
  setup.owner = &owner;
  setup.clock = &clock;
  setup.directory = folder.path();
  setup.names = namesOfHost("127.0.0.1");
  CertificateKeeper keeper(setup, [&](const WebhookCertificates& certs) { seen.push_back(certs); });
  const auto pass = [&](std::chrono::hours by) {
    clock.advance(by);
    owner.drain();
  };
  keeper.start();
  ASSERT_EQ(seen.size(), 1U);
  pass(std::chrono::hours(24 * 200));
  EXPECT_EQ(seen.size(), 1U);
  pass(std::chrono::hours(24 * 60));
  ASSERT_EQ(seen.size(), 2U) << "less than a third of a year is left";
  EXPECT_EQ(seen[0].caCert, seen[1].caCert);
  pass(std::chrono::hours(24 * 365 * 7));
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_NE(seen[1].caKey, seen[2].caKey);
  EXPECT_EQ(keeper.trouble(), "");
  CertificateKeeper replica(setup,
                            [&](const WebhookCertificates& certs) { seen.push_back(certs); });
  replica.start();
  EXPECT_EQ(seen.back(), seen[2]) << "what is there is taken";
}

TEST_F(AdmissionTest, FollowsProfilesAsTheyChange) {
  auto admission = service("127.0.0.1");
  admission->start();
  const auto ready = admission->readiness();
  ASSERT_TRUE(runUntil([&] { return ready().has_value(); }));
  EXPECT_EQ(admission->picture()->profiles->size(), 1U);
  api_.put(kind::kClusterColocationProfile, "", "other", R"({"spec":{"qosClass":"LS"}})");
  EXPECT_TRUE(runUntil([&] { return admission->picture()->profiles->size() == 2; }));
  api_.remove(kind::kClusterColocationProfile, "", "batch");
  EXPECT_TRUE(runUntil([&] { return admission->picture()->profiles->size() == 1; }));
  admission->stop(Duration::zero());
}

}  // namespace
}  // namespace mangrove::manager
