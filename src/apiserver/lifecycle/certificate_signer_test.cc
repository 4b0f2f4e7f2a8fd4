#include "apiserver/lifecycle/certificate_signer.h"

#include "apiserver/lifecycle/test_support.h"
#include "base/text/encoding.h"

namespace mangrove::apiserver {
namespace {

using namespace std::chrono_literals;
const WallTime kNow{std::chrono::seconds(1'800'000'000)};

TEST(CertificateSigner, GivesWhatItsSignersGive) {
  struct Row {
    const char* what;
    SigningWish wish;
    net::CertificateInfo asked;
    const char* refusal;  // "": granted
  };
  const net::CertificateInfo ann{"ann", {"dev"}, {}, {}, {}, {}};
  const net::CertificateInfo node{"system:node:n", {"system:nodes"}, {}, {}, {}, {}};
  const net::CertificateInfo serving{"system:node:n", {"system:nodes"}, {"n"}, {}, {}, {}};
  const std::string client = "kubernetes.io/kube-apiserver-client";
  const std::string kubelet = "kubernetes.io/kube-apiserver-client-kubelet";
  const std::string server = "kubernetes.io/kubelet-serving";
  const std::vector<Row> rows = {
      {"a user", {client, {"client auth"}, {}}, ann, ""},
      {"a user who asks for more", {client, {"client auth", "server auth"}, {}}, ann, "not given"},
      {"a user without a use", {client, {"digital signature"}, {}}, ann, "must include"},
      {"an administrator",
       {client, {"client auth"}, {}},
       {"x", {"system:masters"}, {}, {}, {}, {}},
       "system:masters"},
      {"a node", {kubelet, {"client auth", "key encipherment"}, {}}, node, ""},
      {"no node", {kubelet, {"client auth"}, {}}, ann, "not system:nodes"},
      {"a client with names", {kubelet, {"client auth"}, {}}, serving, "not given to clients"},
      {"a node that serves", {server, {"server auth"}, {}}, serving, ""},
      {"without a name", {server, {"server auth"}, {}}, node, "want a DNS name"},
      {"as it was", {"kubernetes.io/legacy-unknown", {"any"}, {}}, ann, ""},
  };
  for (const Row& row : rows) {
    const auto got = granted(row.wish, row.asked, kNow);
    EXPECT_EQ(got.has_value(), std::string_view(row.refusal).empty()) << row.what;
    if (got) continue;
    EXPECT_NE(got.error().text().find(row.refusal), std::string::npos)
        << row.what << ": " << got.error().text();
  }
}

TEST(CertificateSigner, LivesAsLongAsAskedWithinAYear) {
  const net::CertificateInfo ann{"ann", {}, {}, {}, {}, {}};
  const auto life = [&](std::optional<int64_t> seconds) {
    const auto got =
        granted({"kubernetes.io/kube-apiserver-client", {"client auth"}, seconds}, ann, kNow);
    return got->notAfter - kNow;
  };
  EXPECT_EQ(life(std::nullopt), 8760h);
  EXPECT_EQ(life(3600), 1h);
  EXPECT_EQ(life(10), 10min);
  EXPECT_EQ(life(int64_t{1} << 40), 8760h);
}

// openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=dev/CN=ann
constexpr const char* kRequest = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHVMH4CAQAwHDEMMAoGA1UECgwDZGV2MQwwCgYDVQQDDANhbm4wWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAAS0jGHwhjBeCcHIZxJSiAti0wf8jtaTAq2WEs+87yKm
MhFATaS0X7YBOPT7IMh5xhHr/oVnDyiNRiUwysv+n9mLoAAwCgYIKoZIzj0EAwID
RwAwRAIgF/T2J/4vH5AsN0aYSJ5AnvZTBpO6LDcflYNasRSy3TgCIEXPtzogEStx
kTKdKJ/XNVekrt3SwvdTXiF+8kc4Ts3h
-----END CERTIFICATE REQUEST-----
)";
constexpr const char* kPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

class CertificateSignerTest : public LifecycleTest {
 protected:
  void SetUp() override {
    LifecycleTest::SetUp();
    ca_ = *net::makeCa("ca", clock_.wall() - 1h, clock_.wall() + 1000h);
    signer_.emplace(*context_, [this] { return Result<net::KeyPair>(ca_); });
    context_->observers.push_back(&*signer_);
  }
  std::string askFor(const std::string& usages) {
    const auto made = ask(
        "POST", kPath,
        R"({"metadata":{"name":"ann"},"spec":{"signerName":"kubernetes.io/kube-apiserver-client","usages":)" +
            usages + R"(,"request":")" + base64Encode(kRequest) + "\"}}");
    EXPECT_EQ(made.status, 201) << made.body;
    ask("PATCH", std::string(kPath) + "/ann/approval",
        R"({"status":{"conditions":[{"type":"Approved","status":"True","reason":"r","message":"m"}]}})",
        "application/merge-patch+json");
    settle();
    return ask("GET", std::string(kPath) + "/ann").body;
  }
  net::KeyPair ca_;
  std::optional<CertificateSigner> signer_;
};

TEST_F(CertificateSignerTest, SignsWhatWasApproved) {
  const auto object = json::parse(askFor(R"(["client auth"])"));
  ASSERT_TRUE(object);
  const auto* status = object->as_object().if_contains("status");
  ASSERT_TRUE(status && status->as_object().contains("certificate")) << json::write(*object);
  const auto pem = base64Decode(status->at("certificate").as_string());
  const auto info = net::readCertificate(*pem);
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->commonName, "ann");
  EXPECT_EQ(info->organizations, std::vector<std::string>{"dev"});
  EXPECT_TRUE(info->clientOnly);
  EXPECT_TRUE(*net::isSignedBy(*pem, ca_.certPem));
}

TEST_F(CertificateSignerTest, SaysWhyNot) {
  const std::string body = askFor(R"(["server auth"])");
  EXPECT_NE(body.find("SignerValidationFailure"), std::string::npos) << body;
  EXPECT_EQ(body.find("\"certificate\":\""), std::string::npos) << body;
}

}  // namespace
}  // namespace mangrove::apiserver
