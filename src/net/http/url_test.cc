#include "net/http/url.h"

#include <gtest/gtest.h>

namespace mangrove::net {
namespace {

TEST(Url, ReadsAndWritesBack) {
  struct Row {
    const char* text;
    const char* host;
    uint16_t port;
    const char* path;
    const char* authority;
    const char* hostHeader;
    const char* back;
  };
  const Row rows[] = {
      {"http://a", "a", 80, "", "a:80", "a", "http://a"},
      {"https://a", "a", 443, "", "a:443", "a", "https://a"},
      {"HTTPS://Host.example/", "Host.example", 443, "", "Host.example:443", "Host.example",
       "https://Host.example"},
      {"https://10.0.0.1:6443", "10.0.0.1", 6443, "", "10.0.0.1:6443", "10.0.0.1:6443",
       "https://10.0.0.1:6443"},
      {"https://r/k8s/clusters/c-1/", "r", 443, "/k8s/clusters/c-1", "r:443", "r",
       "https://r/k8s/clusters/c-1"},
      {"http://[::1]:8080/x", "::1", 8080, "/x", "[::1]:8080", "[::1]:8080", "http://[::1]:8080/x"},
      {"http://[fd00::1]", "fd00::1", 80, "", "[fd00::1]:80", "[fd00::1]", "http://[fd00::1]"},
      {"http://a:80", "a", 80, "", "a:80", "a", "http://a"},
  };
  for (const Row& row : rows) {
    auto url = Url::parse(row.text);
    ASSERT_TRUE(url) << url.error().text();
    EXPECT_EQ(url->host, row.host) << row.text;
    EXPECT_EQ(url->port, row.port) << row.text;
    EXPECT_EQ(url->path, row.path) << row.text;
    EXPECT_EQ(url->authority(), row.authority) << row.text;
    EXPECT_EQ(url->hostHeader(), row.hostHeader) << row.text;
    EXPECT_EQ(url->text(), row.back) << row.text;
  }
}

TEST(Url, ReadsUnixSockets) {
  for (const char* text : {"unix:///run/a.sock", "unix:/run/a.sock"}) {
    auto url = Url::parse(text);
    ASSERT_TRUE(url) << url.error().text();
    EXPECT_EQ(url->scheme, Url::Scheme::kUnix);
    EXPECT_EQ(url->socket, "/run/a.sock");
    EXPECT_EQ(url->authority(), "/run/a.sock");
    EXPECT_EQ(url->hostHeader(), "localhost");
    EXPECT_EQ(url->text(), "unix:///run/a.sock");
  }
}

TEST(Url, RefusesWithASentence) {
  struct Row {
    const char* text;
    const char* part;
  };
  const Row rows[] = {
      {"", "want http://"},           {"localhost", "want http://"},
      {"ftp://a", "scheme 'ftp'"},    {"http:a", "want '//'"},
      {"http://", "names no host"},   {"http://:80", "names no host"},
      {"http://a:0", "port '0'"},     {"http://a:65536", "port '65536'"},
      {"http://a:", "port ''"},       {"http://a:8x", "port '8x'"},
      {"http://u:p@a", "user name"},  {"http://a b", "no host name"},
      {"http://[::1", "without ']'"}, {"http://[::1]x", "want ':port'"},
      {"http://a/?q=1", "no query"},  {"http://a?q=1", "no query"},
      {"unix:run/x", "absolute"},     {"http://a\r\nX: y", "no host name"},
  };
  for (const Row& row : rows) {
    auto url = Url::parse(row.text);
    ASSERT_FALSE(url) << row.text;
    EXPECT_EQ(url.error().code(), Code::kInvalid);
    EXPECT_NE(url.error().text().find(row.part), std::string::npos) << url.error().text();
  }
}

TEST(Query, EncodesWhatItMustAndReadsItBack) {
  Query query;
  query.add("labelSelector", "app in (a,b),x!=ä").add("watch", "true").add("empty", "");
  EXPECT_EQ(query.text(), "labelSelector=app%20in%20%28a%2Cb%29%2Cx%21%3D%C3%A4&watch=true&empty=");
  EXPECT_EQ(query.appendTo("/api/v1/pods"), "/api/v1/pods?" + query.text());
  EXPECT_EQ(Query{}.appendTo("/api/v1/pods"), "/api/v1/pods");
  auto back = Query::parse(query.text());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->pairs(), query.pairs());
}

TEST(Query, ReadsWhatOthersSend) {
  auto query = Query::parse("a=1&&b=x+y%2B&a=2&flag&=odd");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->find("a"), "1");
  EXPECT_EQ(query->find("b"), "x y+");
  EXPECT_EQ(query->find("flag"), "");
  EXPECT_EQ(query->find(""), "odd");
  EXPECT_FALSE(query->has("c"));
  EXPECT_EQ(query->pairs().size(), 5u);
  EXPECT_TRUE(Query::parse("")->pairs().empty());
  auto bad = Query::parse("ok=1&name=%zz");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().text().find("name"), std::string::npos) << bad.error().text();
}

TEST(Target, SplitsAtTheFirstQuestionMark) {
  Target target = Target::split("/a%20b?x=1?2");
  EXPECT_EQ(target.path, "/a%20b");
  EXPECT_EQ(target.query, "x=1?2");
  EXPECT_EQ(Target::split("/a").query, "");
}

}  // namespace
}  // namespace mangrove::net
