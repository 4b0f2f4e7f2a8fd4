#include "api/object/status.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::api {
namespace {

struct Row {
  int http;
  const char* body;
  Code code;
  const char* text;
};

TEST(Status, BecomesAnErrorByReasonThenByCode) {
  const Row table[] = {
      {409, R"({"kind":"Status","reason":"AlreadyExists","message":"pods \"a\" already exists"})",
       Code::kExists, R"(pods "a" already exists)"},
      {409, R"({"kind":"Status","reason":"Conflict","message":"changed"})", Code::kConflict,
       "changed"},
      {409, R"({"kind":"Status","message":"odd"})", Code::kConflict, "odd"},
      {410, R"({"kind":"Status","reason":"Expired","message":"too old"})", Code::kGone, "too old"},
      {410, R"({"kind":"Status","reason":"Gone","message":"gone"})", Code::kGone, "gone"},
      {429,
       R"({"kind":"Status","reason":"TooManyRequests","message":"slow","details":{"retryAfterSeconds":3}})",
       Code::kTooMany, "slow"},
      {404, R"({"kind":"Status","reason":"NotFound","message":"no"})", Code::kNotFound, "no"},
      {403, R"({"kind":"Status","reason":"Forbidden","message":"no"})", Code::kDenied, "no"},
      {401, "", Code::kUnauthorized, "the server answered 401"},
      {422, R"({"reason":"Invalid","message":"bad"})", Code::kInvalid, "bad"},
      {400, R"({"reason":"BadRequest","message":"bad"})", Code::kInvalid, "bad"},
      {500, R"({"reason":"InternalError","message":"oops"})", Code::kUnavailable, "oops"},
      {504, R"({"reason":"Timeout","message":"slow"})", Code::kTimeout, "slow"},
      {503, "upstream\nunreachable", Code::kUnavailable,
       "the server answered 503: upstream unreachable"},
      {413, "", Code::kTooLarge, "the server answered 413"},
      {415, "", Code::kUnsupported, "the server answered 415"},
      {418, "{}", Code::kInvalid, "the server answered 418: {}"},
      {502, "<html>", Code::kUnavailable, "the server answered 502: <html>"},
      {422, R"({"reason":"Invented"})", Code::kInvalid, "Invented"},
  };
  for (const Row& row : table) {
    const Error error = errorOf(row.http, row.body);
    EXPECT_EQ(error.code(), row.code) << row.body;
    EXPECT_EQ(error.text(), row.text);
    EXPECT_EQ(error.detail(), row.http);
  }
}

TEST(Status, ReadsDetailsAndWritesThemBack) {
  const char* text =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"TooManyRequests","details":{"name":"p","group":"g","kind":"pods","uid":"u","causes":[{"reason":"DisruptionBudget","message":"c","field":"f"}],"retryAfterSeconds":10},"code":429})";
  auto status = decodeText<Status>(text);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_TRUE(status->hasCause("DisruptionBudget"));
  EXPECT_FALSE(status->hasCause("Other"));
  EXPECT_EQ(status->retryAfterSeconds, 10);
  EXPECT_EQ(json::write(status->toJson()), text);
}

TEST(Status, ErrorsBecomeAnswers) {
  const std::pair<Code, std::pair<const char*, int>> table[] = {
      {Code::kNotFound, {"NotFound", 404}},      {Code::kExists, {"AlreadyExists", 409}},
      {Code::kConflict, {"Conflict", 409}},      {Code::kInvalid, {"BadRequest", 400}},
      {Code::kGone, {"Expired", 410}},           {Code::kTooMany, {"TooManyRequests", 429}},
      {Code::kInternal, {"InternalError", 500}}, {Code::kDenied, {"Forbidden", 403}}};
  for (const auto& [code, answer] : table) {
    const Status status = statusOf(Error(code, "why"));
    EXPECT_EQ(status.reason, answer.first);
    EXPECT_EQ(status.code, answer.second);
    EXPECT_EQ(status.message, "why");
  }
}

}  // namespace
}  // namespace mangrove::api
