#include "apiserver/output/serve.h"

#include <gtest/gtest.h>

#include "apiserver/output/groups.h"
#include "base/check.h"
#include "store/testing.h"

namespace mangrove::apiserver {
namespace {

class AllowAll final : public Authorizer {
 public:
  Decision authorize(const Identity&, const Attributes&) override { return {true, "test"}; }
};

class Recorder final : public Responder {
 public:
  void answer(Answer answer) override { got = std::move(answer); }
  std::unique_ptr<AnswerStream> stream(Answer) override { return nullptr; }
  std::optional<Answer> got;
};

// A server with nothing but the paths of this folder.
class ServedPaths : public ::testing::Test {
 protected:
  ServedPaths() {
    serveDiscovery(server_, context_);
    serveOpenApi(server_, context_);
  }

  Answer ask(const char* method, const char* target, const char* accept = "*/*") {
    auto to = std::make_shared<Recorder>();
    Call call;
    call.info = *parseRequest(method, target);
    call.accept = accept;
    server_.handle(std::move(call), to);
    CHECK(to->got.has_value(), "{} {} was not answered at once", method, target);
    return *to->got;
  }

 private:
  store::TempDir dir_;
  store::Shop shop_{store::Options{.dir = dir_.path()}};
  VirtualClock clock_;
  Resources resources_;
  AdmissionChain admission_;
  AllowAll authorizer_;
  Registry metrics_;
  Rng rng_{1};
  Context context_{clock_,     shop_.owner, *shop_,   resources_,
                   admission_, authorizer_, metrics_, rng_};
  Server server_{context_};
};

struct PathCase {
  const char* method;
  const char* target;
  int status;
  const char* part;  // of the body
};

constexpr PathCase kPathCases[] = {
    {"GET", "/", 200, R"("/openapi/v3")"},
    {"GET", "/version", 200, R"("gitVersion":"v1.35.4+mangrove")"},
    {"GET", "/version/", 200, "gitVersion"},
    {"GET", "/api", 200, "APIVersions"},
    {"GET", "/api/", 200, "APIVersions"},
    {"GET", "/api/v1", 200, "APIResourceList"},
    {"GET", "/apis", 200, "APIGroupList"},
    {"GET", "/apis/apps", 200, R"("kind":"APIGroup")"},
    {"GET", "/apis/apps/v1?timeout=32s", 200, "deployments/scale"},
    {"GET", "/openapi/v2", 200, R"("swagger":"2.0")"},
    {"GET", "/openapi/v3", 200, "apis/apps/v1?hash="},
    {"GET", "/openapi/v3/apis/apps/v1", 200, R"("openapi":"3.0.0")"},
    {"GET", "/openapi/v3/apis/apps/v1?hash=old", 301, ""},
    {"GET", "/apis/nope.io/v1", 404, "NotFound"},
    {"GET", "/openapi", 404, "NotFound"},
    {"GET", "/nothing/here", 404, "/nothing/here"},
    {"POST", "/version", 405, "/version can only be read"},
    {"DELETE", "/apis/apps", 405, "MethodNotAllowed"},
    {"PUT", "/openapi/v2", 405, "MethodNotAllowed"},
};

TEST_F(ServedPaths, Answer) {
  for (const auto& c : kPathCases) {
    const auto got = ask(c.method, c.target);
    EXPECT_EQ(got.status, c.status) << c.method << " " << c.target;
    EXPECT_NE(got.body.find(c.part), std::string::npos)
        << c.target << " " << got.body.substr(0, 300);
  }
}

TEST_F(ServedPaths, DocumentsAreNamedByTheirContent) {
  constexpr auto kAggregated =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  for (const char* path : {"/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1"})
    EXPECT_EQ(ask("GET", path).etag, contentTag(ask("GET", path).body)) << path;
  EXPECT_FALSE(ask("GET", "/apis", kAggregated).etag.empty());
  EXPECT_NE(ask("GET", "/apis", kAggregated).etag, ask("GET", "/api", kAggregated).etag);
  EXPECT_EQ(ask("GET", "/apis").etag, "");

  const Answer moved = ask("GET", "/openapi/v3/apis/apps/v1?hash=old");
  const Answer found = ask("GET", moved.location.c_str());
  EXPECT_EQ(found.status, 200);
  EXPECT_TRUE(found.immutable);
  EXPECT_FALSE(ask("GET", "/openapi/v3/apis/apps/v1").immutable);
}

TEST(Caching, ATagIsKnownInEveryFormOfTheHeader) {
  Answer answer;
  answer.etag = "AB";
  for (const char* header : {R"("AB")", R"(W/"AB")", R"("x", "AB")", "*"})
    EXPECT_TRUE(hasAlready(header, answer)) << header;
  for (const char* header : {"", R"("A")", "AB", R"("AB)"})
    EXPECT_FALSE(hasAlready(header, answer)) << header;
  answer.status = 404;
  EXPECT_FALSE(hasAlready("*", answer));
  EXPECT_FALSE(hasAlready("*", Answer()));
}

TEST_F(ServedPaths, NegotiateTheirForm) {
  const auto got =
      ask("GET", "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(got.contentType,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(ask("GET", "/openapi/v2", "application/yaml").status, 406);
}

}  // namespace
}  // namespace mangrove::apiserver
