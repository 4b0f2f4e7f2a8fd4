// Certificates, registration, the wire form of reviews, and the list of routes against the
// manifests.
#include "manager/webhook/registration.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "json/yaml.h"
#include "manager/webhook/certificates.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/review_text.h"
#include "manager/webhook/routes.h"
#include "manager/webhook/test_support.h"

namespace mangrove::manager {
namespace {

using testing::at;

const WallTime kNow = WallTime{} + std::chrono::hours(24 * 365 * 56);

TEST(Certificates, AreFreshForTheirNamesAndTwoThirdsOfTheirLife) {
  const ServerNames names = namesOfService("svc", "ns");
  auto certs = renew(std::nullopt, names, kNow);
  ASSERT_TRUE(certs) << certs.error().text();
  EXPECT_TRUE(checkFresh(*certs, names, kNow));
  EXPECT_TRUE(checkFresh(*certs, names, kNow + std::chrono::hours(24 * 240)));
  EXPECT_FALSE(checkFresh(*certs, names, kNow + std::chrono::hours(24 * 250)));
  EXPECT_FALSE(checkFresh(*certs, namesOfService("other", "ns"), kNow));
  EXPECT_FALSE(checkFresh(*certs, namesOfHost("10.0.0.1"), kNow));
  EXPECT_EQ(certificatesIn(filesOf(*certs)), certs.value());
}

TEST(Certificates, AreRenewedUnderTheSameAuthority) {
  const ServerNames names = namesOfHost("127.0.0.1");
  auto first = renew(std::nullopt, names, kNow);
  auto second = renew(*first, names, kNow + std::chrono::hours(24 * 300));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->caCert, first->caCert);
  EXPECT_NE(second->cert, first->cert);
}

TEST(Certificates, AnOldAuthorityStaysTrustedBesideTheNewOne) {
  const ServerNames names = namesOfHost("webhook.example.org");
  auto first = renew(std::nullopt, names, kNow);
  auto later = renew(*first, names, kNow + std::chrono::hours(24 * 365 * 8));
  ASSERT_TRUE(later);
  EXPECT_NE(later->caKey, first->caKey);
  EXPECT_NE(later->caCert.find(first->caCert), std::string::npos);
  EXPECT_FALSE(later->caCert.starts_with(first->caCert));
  WebhookCertificates broken = *first;
  broken.caKey = "garbage";
  EXPECT_TRUE(renew(broken, names, kNow)) << "a key that does not fit is replaced";
}

json::Value configuration(std::string_view webhooks) {
  return *json::parse(R"({"metadata":{"name":"c","resourceVersion":"5"},"webhooks":)" +
                      std::string(webhooks) + "}");
}

constexpr std::string_view kTwo =
    R"([{"name":"a","clientConfig":{"service":{"namespace":"x","name":"y","path":"/mutate-pod","port":443}}},)"
    R"({"name":"b","clientConfig":{"service":{"namespace":"x","name":"y","path":"/mutate-reservation"}}}])";

TEST(Registration, InjectsAuthorityAndServiceAndDropsWhatIsOff) {
  RegistrationFacts facts;
  facts.caBundle = "PEM";
  facts.serviceNamespace = "ns";
  facts.serviceName = "svc";
  facts.paths = {"/mutate-pod"};
  auto patch = registrationPatch(configuration(kTwo), facts);
  ASSERT_TRUE(patch);
  EXPECT_EQ(at(*patch, "webhooks"),
            R"([{"clientConfig":{"caBundle":"UEVN","service":{"name":"svc","namespace":"ns",)"
            R"("path":"/mutate-pod","port":443}},"name":"a"}])");
  EXPECT_EQ(at(*patch, "metadata|resourceVersion"), "5");

  json::Value applied = configuration(kTwo);
  applied.get_object()["webhooks"] = patch->at("webhooks");
  setText(objectIn(metadataOf(applied.get_object()), "annotations"), kTemplateAnnotation,
          at(*patch, "metadata|annotations|template"));
  EXPECT_TRUE(registrationPatch(applied, facts)->is_null()) << "nothing left to do";
  facts.paths.insert("/mutate-reservation");
  EXPECT_EQ(registrationPatch(applied, facts)->at("webhooks").get_array().size(), 2U)
      << "a gate that is on again finds its entry";
}

TEST(Registration, NamesAHostWhereThereIsNoService) {
  RegistrationFacts facts;
  facts.caBundle = "PEM";
  facts.host = "::1";
  facts.port = 9876;
  facts.paths = {"/mutate-pod"};
  auto patch = registrationPatch(configuration(kTwo), facts);
  EXPECT_EQ(at(*patch, "webhooks|0|clientConfig"),
            R"({"caBundle":"UEVN","url":"https://[::1]:9876/mutate-pod"})");
}

std::set<std::string> pathsIn(const char* file) {
  std::ifstream in(std::string(MANGROVE_SOURCE_DIR "/config/webhook/") + file);
  std::stringstream text;
  text << in.rdbuf();
  auto value = json::parseYamlDocument(text.str(), file);
  EXPECT_TRUE(value) << value.error().text();
  std::set<std::string> out;
  for (const json::Value& webhook : value->at("webhooks").get_array())
    for (const json::Value& rule : webhook.at("rules").get_array())
      for (const json::Value& operation : rule.at("operations").get_array())
        out.insert(pathOf(webhook.get_object()) + " " + at(rule, "apiGroups|0") + " " +
                   at(rule, "resources|0") + " " + std::string(operation.get_string()) + " " +
                   at(webhook, "failurePolicy"));
  return out;
}

std::set<std::string> pathsOf(bool mutating) {
  std::set<std::string> out;
  for (const Route& route : allRoutes()) {
    if (route.mutating != mutating) continue;
    const std::string resource =
        std::string(route.resource) +
        (route.subresource.empty() ? "" : "/" + std::string(route.subresource));
    const std::string head =
        std::string(route.path) + " " + std::string(route.group) + " " + resource + " ";
    const std::string policy = route.mustAnswer ? " Fail" : " Ignore";
    if (route.create) out.insert(head + "CREATE" + policy);
    if (route.update) out.insert(head + "UPDATE" + policy);
    if (route.remove) out.insert(head + "DELETE" + policy);
  }
  return out;
}

TEST(Manifests, ListExactlyTheRoutes) {
  EXPECT_EQ(pathsIn("mutating.yaml"), pathsOf(true));
  EXPECT_EQ(pathsIn("validating.yaml"), pathsOf(false));
}

TEST(Review, ReadsWhatAnApiServerSends) {
  ReviewQuestion question;
  ASSERT_TRUE(question.read(
      R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"7",)"
      R"("kind":{"kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},)"
      R"("subResource":"status","operation":"UPDATE","namespace":"n","name":"p","dryRun":true,)"
      R"("userInfo":{"username":"u"},"object":{"a":1},"oldObject":{"a":2}}})"));
  const AdmissionRequest& request = question.request();
  EXPECT_EQ(request.subresource, "status");
  EXPECT_EQ(request.operation, Operation::kUpdate);
  EXPECT_TRUE(request.dryRun);
  EXPECT_EQ(request.oldObject["a"].integer(), 2);
  Review review;
  review.patch = *json::parse(R"([{"op":"remove","path":"/a"}])");
  review.warnings = {"careful"};
  EXPECT_EQ(writeReview(question.apiVersion(), request.uid, review),
            R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":)"
            R"({"uid":"7","allowed":true,"patchType":"JSONPatch",)"
            R"("patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL2EifV0=","warnings":["careful"]}})");
  EXPECT_EQ(
      writeReview("admission.k8s.io/v1", "7", Review::refuse(400, "why", "no \"x\"")),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":)"
      R"({"uid":"7","allowed":false,"status":{"code":400,"message":"no \"x\"","reason":"why"}}})");
}

TEST(Review, SaysWhatIsWrongWithAMalformedOne) {
  const auto trouble = [](std::string_view body) {
    ReviewQuestion question;
    auto read = question.read(body);
    return read ? "" : read.error().text();
  };
  EXPECT_EQ(trouble("[]"), "AdmissionReview: the body is a JSON array; want an AdmissionReview");
  EXPECT_EQ(trouble(R"({"apiVersion":"v1","kind":"AdmissionReview"})"),
            "AdmissionReview: apiVersion is 'v1'; want admission.k8s.io/v1 or "
            "admission.k8s.io/v1beta1");
  EXPECT_EQ(trouble(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":)"
                    R"({"uid":"1","operation":"CREATE"}})"),
            "AdmissionReview: request.object of CREATE is absent; want an object");
}

}  // namespace
}  // namespace mangrove::manager
