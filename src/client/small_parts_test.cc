// The small pure parts of the client: slices, statuses, retries, limits, raw texts, requests.
#include <gtest/gtest.h>

#include "client/api_client.h"
#include "client/http/http_request.h"
#include "client/http/status_error.h"
#include "client/informer/json_slices.h"
#include "client/informer/raw_codec.h"
#include "client/informer/resource_version.h"
#include "client/queue/fair_limiter.h"
#include "client/queue/retry_policy.h"
#include "json/value.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;

TEST(JsonSlices, findsTheObjectsOfAList) {
  std::string body = R"( {"kind":"PodList", "metadata" : {"resourceVersion":"7","continue":"n\"x"},
    "items": [ {"a":"}]{\\\""}, {"b":[1,{"c":"\\"}]} ,{}], "other":[1,2,{"x":null}] } )";
  auto list = sliceList(body);
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(list->resourceVersion, "7");
  EXPECT_EQ(list->continueToken, "n\"x");
  ASSERT_EQ(list->items.size(), 3u);
  EXPECT_EQ(list->items[0], R"({"a":"}]{\\\""})");
  EXPECT_EQ(list->items[1], R"({"b":[1,{"c":"\\"}]})");
  EXPECT_EQ(list->items[2], "{}");
}

TEST(JsonSlices, emptyListsAndNullItemsAreLists) {
  for (const char* body :
       {R"({"items":[]})", R"({"items":null})", R"({"metadata":{},"items":[ ]})"}) {
    auto list = sliceList(body);
    ASSERT_TRUE(list) << body;
    EXPECT_TRUE(list->items.empty());
  }
}

TEST(JsonSlices, everyCutOffListIsRefused) {
  std::string body = R"({"metadata":{"resourceVersion":"7"},"items":[{"a":"x\\"},{"b":1}]})";
  for (size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(sliceList(body.substr(0, size))) << size;
  EXPECT_FALSE(sliceList(body + "}"));
  EXPECT_FALSE(sliceList(R"({"kind":"Status"})"));
  EXPECT_FALSE(sliceList("[]"));
}

TEST(JsonSlices, readsEventsAndRefusesHalfOnes) {
  struct Case {
    const char* type;
    EventType wanted;
  };
  for (auto [type, wanted] :
       {Case{"ADDED", EventType::kAdded}, Case{"MODIFIED", EventType::kModified},
        Case{"DELETED", EventType::kDeleted}, Case{"BOOKMARK", EventType::kBookmark},
        Case{"ERROR", EventType::kError}}) {
    std::string line = fmt::format(R"({{"type":"{}","object":{{"x":"}}"}}}})", type);
    auto event = sliceEvent(line);
    ASSERT_TRUE(event) << line;
    EXPECT_EQ(event->type, wanted);
    EXPECT_EQ(event->object, R"({"x":"}"})");
    for (size_t size = 0; size < line.size(); ++size)
      EXPECT_FALSE(sliceEvent(line.substr(0, size)));
    EXPECT_FALSE(sliceEvent(line + line));
  }
  EXPECT_FALSE(sliceEvent(R"({"type":"RENAMED","object":{}})"));
  EXPECT_FALSE(sliceEvent(R"({"type":"ADDED","object":5})"));
  EXPECT_FALSE(sliceEvent(R"({"object":{}})"));
}

TEST(ResourceVersion, onlyNumbersHaveAnOrder) {
  EXPECT_TRUE(surelyOlder("9", "10"));
  EXPECT_FALSE(surelyOlder("10", "9"));
  EXPECT_FALSE(surelyOlder("9", "9"));
  EXPECT_FALSE(surelyOlder("a", "b"));
  EXPECT_FALSE(surelyOlder("1", "b"));
  EXPECT_FALSE(surelyOlder("", "1"));
}

TEST(StatusError, tellsCodesApartByReason) {
  struct Case {
    int http;
    const char* reason;
    Code wanted;
  };
  const Case cases[] = {{409, "Conflict", Code::kConflict},
                        {409, "AlreadyExists", Code::kExists},
                        {410, "Expired", Code::kGone},
                        {410, "Gone", Code::kGone},
                        {404, "NotFound", Code::kNotFound},
                        {403, "Forbidden", Code::kDenied},
                        {401, "Unauthorized", Code::kUnauthorized},
                        {422, "Invalid", Code::kInvalid},
                        {429, "TooManyRequests", Code::kTooMany},
                        {500, "InternalError", Code::kUnavailable},
                        {503, "ServiceUnavailable", Code::kUnavailable},
                        {504, "Timeout", Code::kTimeout}};
  for (const auto& one : cases) {
    std::string body = fmt::format(
        R"({{"kind":"Status","status":"Failure","reason":"{}","code":{},"message":"why"}})",
        one.reason, one.http);
    Error error = statusError(one.http, body, "get pods a", "srv");
    EXPECT_EQ(error.code(), one.wanted) << one.reason;
    EXPECT_EQ(error.detail(), one.http);
    EXPECT_NE(error.text().find("get pods a at srv: "), std::string::npos);
    EXPECT_NE(error.text().find("why"), std::string::npos);
  }
  Error proxy = statusError(502, "<html>bad gateway</html>", "list pods", "srv");
  EXPECT_EQ(proxy.code(), Code::kUnavailable);
  EXPECT_NE(proxy.text().find("bad gateway"), std::string::npos);
}

TEST(StatusError, retryAfterIsSecondsOrNothing) {
  EXPECT_EQ(parseRetryAfter("5"), 5s);
  EXPECT_EQ(parseRetryAfter(" 0 "), 0s);
  EXPECT_EQ(parseRetryAfter("9999999"), 24h);
  for (const char* bad : {"", "-1", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "1.5"})
    EXPECT_EQ(parseRetryAfter(bad), std::nullopt) << bad;
}

struct RetryCase {
  const char* why;
  Attempt attempt;
  bool again;
};

TEST(RetryPolicy, neverBlindlyRepeatsAWrite) {
  auto make = [](bool mayRepeat, int status, bool neverSent = false) {
    Attempt out;
    out.mayRepeat = mayRepeat;
    out.httpStatus = status;
    out.neverSent = neverSent;
    out.left = 30s;
    return out;
  };
  const RetryCase cases[] = {
      {"read, broken", make(true, 0), true},
      {"read, 500", make(true, 500), true},
      {"read, 503", make(true, 503), true},
      {"read, 404", make(true, 404), false},
      {"read, 409", make(true, 409), false},
      {"read, 501", make(true, 501), false},
      {"write, broken after sending", make(false, 0), false},
      {"write, never sent", make(false, 0, true), true},
      {"write, 429", make(false, 429), true},
      {"write, 500", make(false, 500), false},
      {"write, 503", make(false, 503), false},
      {"write, 504", make(false, 504), false},
      {"write, 409", make(false, 409), false},
  };
  Rng rng(1);
  for (const auto& one : cases)
    EXPECT_EQ(retryWait(one.attempt, rng).has_value(), one.again) << one.why;
  Attempt budget = make(true, 429);
  budget.finalAnswer = true;
  EXPECT_FALSE(retryWait(budget, rng));
}

TEST(RetryPolicy, waitsGrowStayInTimeAndHonourTheServer) {
  Rng rng(1);
  Attempt attempt;
  attempt.mayRepeat = true;
  attempt.httpStatus = 503;
  attempt.maxTries = 100;
  attempt.left = 1h;
  Duration expected = 100ms;
  for (attempt.tries = 1; attempt.tries < 12; ++attempt.tries) {
    auto wait = retryWait(attempt, rng);
    EXPECT_GE(*wait, expected / 2) << attempt.tries;
    EXPECT_LE(*wait, expected * 3 / 2) << attempt.tries;
    expected = std::min<Duration>(10s, expected * 2);
  }
  attempt.retryAfter = 5s;
  EXPECT_GE(*retryWait(attempt, rng), 5s);
  EXPECT_LE(*retryWait(attempt, rng), 5500ms);
  attempt.left = 4s;
  EXPECT_FALSE(retryWait(attempt, rng)) << "the deadline comes first";
  attempt.left = 1h;
  attempt.tries = attempt.maxTries;
  EXPECT_FALSE(retryWait(attempt, rng));
}

TEST(Backoff, doublesUpToItsCapWithJitter) {
  Rng rng(1);
  Backoff backoff(100ms, 1s, 0.5);
  Duration expected = 100ms;
  for (int i = 0; i < 8; ++i) {
    Duration wait = backoff.next(rng);
    EXPECT_GE(wait, expected);
    EXPECT_LE(wait, expected * 3 / 2);
    expected = std::min<Duration>(1s, expected * 2);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(rng), 150ms);
}

TEST(FairLimiter, flowsTakeTurns) {
  VirtualClock clock;
  FairLimiter limiter(clock, 10, 1);
  std::string order;
  MonoTime never = MonoTime::max();
  for (const char* flow : {"a", "a", "a", "a", "b", "c", "b"})
    limiter.admit(flow, never, [&, flow](bool inTime) { order += inTime ? flow : "!"; });
  EXPECT_EQ(order, "a");
  clock.advance(99ms);
  EXPECT_EQ(order, "a");
  clock.advance(1ms);
  EXPECT_EQ(order, "aa");
  clock.advance(500ms);
  EXPECT_EQ(order, "aabcaba");
  EXPECT_EQ(limiter.waiting(), 0u);
}

TEST(FairLimiter, deadlinesAreKept) {
  VirtualClock clock;
  FairLimiter limiter(clock, 1, 1);
  std::string order;
  auto admit = [&](const char* name, Duration patience) {
    limiter.admit("x", clock.mono() + patience,
                  [&, name](bool inTime) { order += std::string(name) + (inTime ? "+" : "-"); });
  };
  admit("a", 1h);
  admit("b", 500ms);
  admit("c", 1h);
  EXPECT_EQ(order, "a+");
  clock.advance(500ms);
  EXPECT_EQ(order, "a+b-");
  clock.advance(500ms);
  EXPECT_EQ(order, "a+b-c+") << "the token b did not use goes to c";
}

TEST(FairLimiter, whoWaitsWhenItDiesIsTold) {
  VirtualClock clock;
  int refused = 0;
  {
    FairLimiter limiter(clock, 0.001, 1);
    for (int i = 0; i < 3; ++i)
      limiter.admit("x", MonoTime::max(), [&](bool inTime) { refused += !inTime; });
  }
  EXPECT_EQ(refused, 2);
  clock.advance(1h);
}

std::string sampleObject(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"web-{}","namespace":"default","labels":{{"app":"web","tier":"front"}},"uid":"{:032x}"}},"spec":{{"containers":[{{"name":"main","image":"registry.example.com/web:1.2.3"}}],"nodeName":"node-{}"}}}})",
      i, i * 7919, i % 100);
}

TEST(RawCodec, givesBackWhatWentInAndSavesSpace) {
  RawPacker packer(RawKeep::kCompressed);
  std::vector<RawBlob> blobs;
  size_t before = 0, after = 0;
  for (int i = 0; i < 1000; ++i) {
    blobs.push_back(packer.pack(sampleObject(i)));
    before += sampleObject(i).size();
    after += blobs.back().bytes().size();
  }
  EXPECT_LT(after * 3, before);
  RawUnpacker unpacker;
  unpacker.use(packer.dictionary());
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(*unpacker.unpack(blobs[static_cast<size_t>(i)]), sampleObject(i));
}

TEST(RawCodec, strangeTextsSurviveToo) {
  RawPacker packer(RawKeep::kCompressed);
  for (int i = 0; i < 20; ++i) (void)packer.pack(sampleObject(i));
  RawUnpacker unpacker;
  unpacker.use(packer.dictionary());
  Rng rng(5);
  for (size_t size : {0, 1, 127, 128, 5000, 2000000}) {
    std::string noise(size, '\0');
    for (char& c : noise) c = static_cast<char>(rng.next());
    EXPECT_EQ(*unpacker.unpack(packer.pack(noise)), noise) << size;
  }
}

TEST(RawCodec, otherWaysOfKeeping) {
  RawUnpacker unpacker;
  EXPECT_EQ(*unpacker.unpack(RawPacker(RawKeep::kPlain).pack("text")), "text");
  EXPECT_EQ(unpacker.unpack(RawPacker(RawKeep::kNone).pack("text")).error().code(),
            Code::kNotFound);
}

TEST(Requests, areDescribedAsPeopleSayThem) {
  Request request;
  request.ref = {kind::kPod, "d", "a", "status"};
  request.verb = Verb::kPatch;
  EXPECT_EQ(describe(request), "patch pods d/a/status");
  request.ref = {kind::kNode, "", ""};
  request.verb = Verb::kList;
  EXPECT_EQ(describe(request), "list nodes");
  request.ref = {kind::kPod, "d", ""};
  EXPECT_EQ(describe(request), "list pods d");
  request.path = "/version";
  request.verb = Verb::kGet;
  EXPECT_EQ(describe(request), "get /version");
}

TEST(Requests, onlyHarmlessOnesMayBeRepeated) {
  auto may = [](Verb verb, const std::string& body, PatchType type = PatchType::kMerge) {
    Request request;
    request.verb = verb;
    request.body = body;
    request.patchType = type;
    return mayRepeat(request);
  };
  EXPECT_TRUE(may(Verb::kGet, ""));
  EXPECT_TRUE(may(Verb::kList, ""));
  EXPECT_FALSE(may(Verb::kCreate, "{}"));
  EXPECT_TRUE(may(Verb::kPatch, "{}", PatchType::kMerge));
  EXPECT_TRUE(may(Verb::kPatch, "{}", PatchType::kStrategic));
  EXPECT_TRUE(may(Verb::kPatch, "{}", PatchType::kApply));
  EXPECT_FALSE(may(Verb::kPatch, "[]", PatchType::kJson));
  EXPECT_FALSE(may(Verb::kUpdate, "{}"));
  EXPECT_TRUE(may(Verb::kUpdate, R"({"metadata":{"resourceVersion":"5"}})"));
  EXPECT_FALSE(may(Verb::kDelete, "{}"));
  EXPECT_TRUE(may(Verb::kDelete, R"({"preconditions":{"uid":"u"}})"));
  EXPECT_FALSE(may(Verb::kDeleteCollection, "{}"));
  Request forced;
  forced.verb = Verb::kCreate;
  forced.repeat = Repeat::kSafe;
  EXPECT_TRUE(mayRepeat(forced));
}

TEST(Requests, aDeletionOfOneIncarnationMayBeRepeated) {
  DeleteOptions options;
  options.uid = api::Uid("6bcd9cf4-2f2a-4a55-8b6d-0b8c7c2b2d60");
  EXPECT_TRUE(mayRepeat(deleteRequest({kind::kPod, "d", "a"}, options)));
  EXPECT_FALSE(mayRepeat(deleteRequest({kind::kPod, "d", "a"})));
}

TEST(Requests, watchParameters) {
  WatchRequest request;
  request.kind = kind::kPod;
  request.ns = "d";
  request.query.resourceVersion = "7";
  request.query.fieldSelector = "spec.nodeName=n1";
  request.timeout = 300s;
  EXPECT_EQ(
      toHttp(request).target,
      "/api/v1/namespaces/d/pods?fieldSelector=spec.nodeName%3Dn1&resourceVersion=7&watch=true&"
      "allowWatchBookmarks=true&timeoutSeconds=300");
}

TEST(Requests, warningHeaders) {
  EXPECT_EQ(warningText(R"(299 - "policy/v1beta1 is deprecated")"), "policy/v1beta1 is deprecated");
  EXPECT_EQ(warningText(R"(299 - "a \"b\" \\ c" "date")"), R"(a "b" \ c)");
  EXPECT_EQ(warningText("299 - none"), "");
  EXPECT_EQ(warningText("299 - \"open"), "");
}

TEST(Requests, aBindingWrittenAsTextIsTheBodyOfABinding) {
  api::ObjectMeta pod;
  pod.name = api::Text("web-1");
  pod.ns = Interned("team");
  for (const char* uid : {"", "0b5f5a1c-6a5e-4b8e-9d49-3f2a6f0f8a11", "no uuid"}) {
    pod.uid = api::Uid(uid);
    const Request request = bindRequest(pod, R"(n"1\)");
    const auto body = json::parse(request.body);
    ASSERT_TRUE(body) << request.body;
    EXPECT_EQ(json::writeSorted(*body), json::writeSorted(api::bindingBody(pod, R"(n"1\)")));
  }
}

}  // namespace
}  // namespace mangrove::client
