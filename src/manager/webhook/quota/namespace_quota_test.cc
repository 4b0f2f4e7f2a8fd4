#include "manager/webhook/quota/namespace_quota.h"

#include <gtest/gtest.h>

#include "base/testing/wait.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

api::Pod podOf(const std::string& requests, const std::string& limits = "") {
  return *api::decodeText<api::Pod>(
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{)" + requests +
      R"(},"limits":{)" + limits + "}}}]}}");
}

TEST(NamespaceQuota, ReclaimedAmountsCountUnderNativeNames) {
  const auto charge = namespaceCharge(
      *podOf(R"("kubernetes.io/batch-cpu":"1500","kubernetes.io/batch-memory":"2Gi")",
             R"("kubernetes.io/batch-cpu":"2000")")
           .spec);
  EXPECT_EQ(charge.amount("requests.cpu").text(), "1500m");
  EXPECT_EQ(charge.amount("cpu").text(), "1500m");
  EXPECT_EQ(charge.amount("limits.cpu").text(), "2");
  EXPECT_EQ(charge.amount("requests.memory").text(), "2Gi");
  EXPECT_EQ(charge.amount("requests.kubernetes.io/batch-cpu").text(), "1500");
  EXPECT_EQ(namespaceCharge(*podOf(R"("gocrane.io/cpu":"3","cpu":"1")").spec).cpu().v, 4000);
}

TEST(NamespaceQuota, SaysWhatIsTooMuch) {
  const auto quota = *api::decodeText<NamespaceQuota>(
      R"({"metadata":{"name":"team"},"spec":{"hard":{"requests.cpu":"4","pods":"3"}}})");
  const api::ResourceList used = {{"requests.cpu", "3"}};
  EXPECT_EQ(exceeded(quota, used, {{"requests.cpu", "1"}}), "");
  EXPECT_EQ(exceeded(quota, used, {{"requests.cpu", "1500m"}}),
            "exceeded quota: team, requested: requests.cpu=1500m, used: requests.cpu=3, limited: "
            "requests.cpu=4");
}

TEST(NamespaceQuota, CountsTheLivePodsOfTheNamespace) {
  net::Loop loop{1};
  client::testing::FakeApi api{loop};
  api.put(kind::kResourceQuota, "a", "team", R"({"spec":{"hard":{"requests.cpu":"4"}}})");
  api.put(kind::kResourceQuota, "free", "own",
          R"({"spec":{"hard":{"requests.cpu":"1"},"scopes":["NotBestEffort"]}})");
  const auto put = [&](const char* name, const char* cpu, const char* phase) {
    api.put(kind::kPod, "a", name,
            std::string(R"({"spec":{"containers":[{"name":"c","resources":{"requests":{)") +
                R"("kubernetes.io/batch-cpu":")" + cpu + R"("}}}]},"status":{"phase":")" + phase +
                "\"}}");
  };
  put("one", "2000", "Running");
  put("over", "9000", "Succeeded");
  auto client = *client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0});
  client::Worker worker;
  Mailbox owner;
  client::InformerSetup setup;
  setup.client = client.get();
  setup.owner = &owner;
  setup.home = &worker.mailbox();
  setup.follow.kind = client::kind::kResourceQuota;
  NamespaceQuotas quotas(setup);
  quotas.start();
  const auto until = [&](auto condition) { return runUntil(owner, condition); };
  ASSERT_TRUE(until([&] { return quotas.any(); }));
  const auto ask = [&](const char* ns, const char* cpu) {
    std::optional<Review> out;
    quotas.judge(podOf(std::string(R"("kubernetes.io/batch-cpu":")") + cpu + "\""), ns,
                 [&](Review review) { out = std::move(review); });
    EXPECT_TRUE(until([&] { return out.has_value(); }));
    return out ? out->message : "no answer";
  };
  EXPECT_EQ(ask("a", "2000"), "");
  EXPECT_EQ(ask("a", "2001"),
            "exceeded quota: team, requested: requests.cpu=2001m, used: requests.cpu=2, limited: "
            "requests.cpu=4");
  EXPECT_EQ(ask("free", "9000"), "") << "that quota does not count pods without own amounts";
  EXPECT_EQ(ask("elsewhere", "9000"), "");
}

}  // namespace
}  // namespace mangrove::manager
