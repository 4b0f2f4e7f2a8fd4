#include "net/http/http.h"

#include <gtest/gtest.h>

namespace mangrove::net {
namespace {

TEST(Headers, FindIgnoresCaseAndKeepsOrder) {
  Headers headers{{"Accept", "a"}, {"X-One", "1"}, {"accept", "b"}};
  EXPECT_EQ(headers.find("ACCEPT"), "a");
  EXPECT_EQ(headers.count("accept"), 2u);
  EXPECT_EQ(headers.get("none", "other"), "other");
  EXPECT_FALSE(headers.has("none"));
  headers.add("x-one", "2");
  EXPECT_EQ(headers.fields().back().second, "2");
}

TEST(Headers, SetReplacesAllAndSurvivesItsOwnValue) {
  Headers headers{{"A", "long enough to live on the heap, certainly"}, {"a", "2"}};
  headers.set("A", *headers.find("A"));
  EXPECT_EQ(headers.count("a"), 1u);
  EXPECT_EQ(headers.get("a"), "long enough to live on the heap, certainly");
  headers.remove("A");
  EXPECT_EQ(headers.size(), 0u);
}

TEST(Headers, FindsTokensInLists) {
  Headers headers{{"Connection", "keep-alive, Upgrade"}, {"connection", "x"}};
  EXPECT_TRUE(headers.hasToken("Connection", "upgrade"));
  EXPECT_TRUE(headers.hasToken("Connection", "X"));
  EXPECT_FALSE(headers.hasToken("Connection", "keep"));
}

TEST(Headers, ChecksForInjection) {
  struct Row {
    const char* name;
    std::string value;
    bool fine;
  };
  const Row rows[] = {
      {"X-Ok", "a value, with \"punctuation\"; and\ttab", true},
      {"X-Utf8", "ä", true},
      {"X-Cr", "a\rb", false},
      {"X-Lf", "token\n", false},
      {"X-Nul", std::string("a\0b", 3), false},
      {"X-Del", "\x7f", false},
      {"", "x", false},
      {"X Y", "x", false},
      {"X:Y", "x", false},
      {"X\r\nEvil", "x", false},
  };
  for (const Row& row : rows) {
    Headers headers{{row.name, row.value}};
    EXPECT_EQ(headers.check().has_value(), row.fine) << row.name;
  }
}

TEST(HttpResponse, NamesItsType) {
  EXPECT_EQ(HttpResponse::json(201, "{}").headers.get("content-type"), "application/json");
  EXPECT_EQ(HttpResponse::text(404, "x").status, 404);
  EXPECT_EQ(reasonPhrase(404), "Not Found");
  EXPECT_EQ(reasonPhrase(599), "Status");
}

}  // namespace
}  // namespace mangrove::net
