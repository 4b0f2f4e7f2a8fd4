#include "net/http/wire.h"

#include <gtest/gtest.h>

namespace mangrove::net {
namespace {

const WireLimits kLimits{1000, 200, 100};

// Feeds in pieces of `step` bytes, as a network might.
template <class Reader>
void feed(Reader& reader, std::string_view text, size_t step) {
  std::string in;
  while (!text.empty() && !reader.error() && !reader.done()) {
    in += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
    in.erase(0, reader.take(in));
  }
}

std::string withHost(std::string_view rest) {
  return fmt::format("GET / HTTP/1.1\r\nHost: a\r\n{}", rest);
}

TEST(RequestReader, ReadsWhateverTheCuts) {
  const std::string text =
      "POST /a?b=1 HTTP/1.1\r\nHost: x:1\r\nTransfer-Encoding: chunked\r\nX-Y:  z \r\n\r\n"
      "5;ext=1\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nTrailer: t\r\n\r\n";
  for (size_t step = 1; step <= text.size(); ++step) {
    RequestReader reader(kLimits);
    feed(reader, text, step);
    ASSERT_FALSE(reader.error()) << step << " " << reader.error()->sentence;
    ASSERT_TRUE(reader.done()) << step;
    EXPECT_EQ(reader.request().method, "POST");
    EXPECT_EQ(reader.request().target, "/a?b=1");
    EXPECT_EQ(reader.request().headers.get("x-y"), "z");
    EXPECT_FALSE(reader.request().headers.has("Trailer"));
    EXPECT_EQ(reader.takeBody(), "hello world");
    EXPECT_TRUE(reader.keepAlive());
  }
}

// A quote that opens in a chunk's extension must not hide the line's end, wherever the bytes are
// cut.
TEST(RequestReader, ChunkExtensionsEndWithTheirLine) {
  const std::string text =
      withHost("Transfer-Encoding: chunked\r\n\r\n5 ;ext=\"\r\nhello\r\n0;\"\r\n\r\n");
  for (size_t step = 1; step <= text.size(); ++step) {
    RequestReader reader(kLimits);
    feed(reader, text + "\"\r\n\r\n", step);
    ASSERT_TRUE(reader.done()) << step;
    EXPECT_EQ(reader.takeBody(), "hello") << step;
  }
}

TEST(RequestReader, LeavesTheNextRequestAlone) {
  const std::string first = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.take(first + "GET /next"), first.size());
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.takeBody(), "abc");
}

TEST(RequestReader, AcceptsOtherFormsOfTargets) {
  struct Row {
    const char* line;
    const char* target;
  };
  const Row rows[] = {
      {"GET http://a/x?y HTTP/1.1", "/x?y"},   {"GET http://a HTTP/1.1", "/"},
      {"GET https://a?q HTTP/1.1", "/?q"},     {"OPTIONS * HTTP/1.1", "*"},
      {"\r\n\r\nGET /late HTTP/1.1", "/late"},
  };
  for (const Row& row : rows) {
    RequestReader reader(kLimits);
    feed(reader, fmt::format("{}\r\nHost: a\r\n\r\n", row.line), 7);
    ASSERT_TRUE(reader.done()) << row.line;
    EXPECT_EQ(reader.request().target, row.target);
  }
}

TEST(RequestReader, RefusesWhatParsersDisagreeAbout) {
  struct Row {
    const char* what;
    std::string text;
    int status;
  };
  const Row rows[] = {
      {"no method", "/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare CR", "GET / HTTP/1.1\rHost: a\r\n\r\n", 400},
      {"NUL", std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), 400},
      {"TLS", std::string("\x16\x03\x01\x02", 4), 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", 400},
      {"version", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 400},
      {"lower case version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"two blanks", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"relative target", "GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"raw UTF-8 in target", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"proxy", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", withHost("Host: b\r\n\r\n"), 400},
      {"odd Host", "GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n", 400},
      {"folded line", withHost("X: a\r\n b\r\n\r\n"), 400},
      {"folded by tab", withHost("X: a\r\n\tb\r\n\r\n"), 400},
      {"blank before colon", withHost("Content-Length : 3\r\n\r\nabc"), 400},
      {"no colon", withHost("Nonsense\r\n\r\n"), 400},
      {"empty name", withHost(": x\r\n\r\n"), 400},
      {"length and chunked", withHost("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
       400},
      {"chunked and length", withHost("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"),
       400},
      {"two lengths", withHost("Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), 400},
      {"same length twice", withHost("Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), 400},
      {"list of lengths", withHost("Content-Length: 3, 3\r\n\r\nabc"), 400},
      {"negative length", withHost("Content-Length: -1\r\n\r\n"), 400},
      {"signed length", withHost("Content-Length: +1\r\n\r\na"), 400},
      {"hex length", withHost("Content-Length: 0x1\r\n\r\na"), 400},
      {"empty length", withHost("Content-Length:\r\n\r\n"), 400},
      {"huge length", withHost("Content-Length: 99999999999999999999999\r\n\r\n"), 400},
      {"gzip coding", withHost("Transfer-Encoding: gzip\r\n\r\n"), 501},
      {"chunked not last", withHost("Transfer-Encoding: chunked, gzip\r\n\r\n"), 501},
      {"chunked last", withHost("Transfer-Encoding: gzip, chunked\r\n\r\n"), 501},
      {"identity", withHost("Transfer-Encoding: identity\r\n\r\n"), 501},
      {"coding twice", withHost("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
       400},
      {"tricky coding", withHost("Transfer-Encoding: xchunked\r\n\r\n"), 501},
      {"coding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"bad chunk", withHost("Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), 400},
      {"negative chunk", withHost("Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"), 400},
      {"huge chunk", withHost("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), 400},
      {"chunk without end", withHost("Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"), 400},
      {"bad expectation", withHost("Expect: miracles\r\n\r\n"), 417},
      {"long head", withHost("X: " + std::string(1000, 'x') + "\r\n\r\n"), 431},
      {"endless head", withHost("X: " + std::string(2000, 'x')), 431},
      {"many headers",
       [] {
         std::string text = withHost("");
         for (int i = 0; i < 500; ++i) text += "A: b\r\n";
         return text + "\r\n";
       }(),
       431},
      {"long target", "GET /" + std::string(201, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"endless target", "GET /" + std::string(900, 'x'), 414},
      {"large body", withHost("Content-Length: 101\r\n\r\n"), 413},
      {"large chunk", withHost("Transfer-Encoding: chunked\r\n\r\n65\r\n"), 413},
      {"large chunks",
       withHost("Transfer-Encoding: chunked\r\n\r\n64\r\n" + std::string(100, 'x') + "\r\n1\r\n"),
       413},
      {"endless trailers",
       withHost("Transfer-Encoding: chunked\r\n\r\n0\r\n" + std::string(3000, 'x')), 431},
  };
  for (const Row& row : rows) {
    for (size_t step : {size_t{1}, size_t{17}, row.text.size()}) {
      RequestReader reader(kLimits);
      feed(reader, row.text, step);
      ASSERT_TRUE(reader.error()) << row.what << " in steps of " << step;
      EXPECT_EQ(reader.error()->status, row.status)
          << row.what << " in steps of " << step << ": " << reader.error()->sentence;
      EXPECT_FALSE(reader.done());
    }
  }
}

TEST(ResponseReader, KnowsWhereAnswersEnd) {
  struct Row {
    const char* what;
    const char* text;
    bool noBody;
    bool atEnd;  // only the end of the connection ends it
    const char* body;
    bool keepAlive;
  };
  const Row rows[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", false, false, "ab", true},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
       false, false, "ab", true},
      {"until close", "HTTP/1.1 200 OK\r\n\r\nab", false, true, "ab", false},
      {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true, false, "", true},
      {"no content", "HTTP/1.1 204 No Content\r\n\r\n", false, false, "", true},
      {"not modified", "HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n", false, false, "", true},
      {"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false, false,
       "", false},
      {"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", false, false, "a", false},
  };
  for (const Row& row : rows) {
    ResponseReader reader(kLimits, row.noBody);
    feed(reader, row.text, 3);
    ASSERT_FALSE(reader.error()) << row.what << reader.error()->sentence;
    EXPECT_EQ(reader.done(), !row.atEnd) << row.what;
    reader.end();
    EXPECT_TRUE(reader.done()) << row.what;
    EXPECT_EQ(reader.takeBody(), row.body) << row.what;
    EXPECT_EQ(reader.keepAlive(), row.keepAlive) << row.what;
  }
}

TEST(ResponseReader, ReportsCutAnswers) {
  for (const char* text : {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"}) {
    ResponseReader reader(kLimits, false);
    feed(reader, text, 5);
    ASSERT_FALSE(reader.error()) << text;
    reader.end();
    EXPECT_TRUE(reader.error()) << text;
  }
}

TEST(Writer, MakesRequestsThatItsReaderAccepts) {
  HttpRequest request{"POST", "/x?y=1", {{"Accept", "a"}, {"content-length", "99"}}, "body", {}};
  Url base = *Url::parse("http://h:81/prefix");
  ASSERT_TRUE(checkSendable(request));
  std::string head = requestHead(request, base, "agent");
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.take(head + "body"), head.size() + 4);
  ASSERT_TRUE(reader.done());
  EXPECT_EQ(reader.request().target, "/prefix/x?y=1");
  EXPECT_EQ(reader.request().headers.get("host"), "h:81");
  EXPECT_EQ(reader.request().headers.get("user-agent"), "agent");
  EXPECT_EQ(reader.request().headers.get("content-length"), "4");
}

TEST(Writer, RefusesUnsendableRequests) {
  const HttpRequest rows[] = {
      {"GE T", "/", {}, "", {}},
      {"", "/", {}, "", {}},
      {"GET", "x", {}, "", {}},
      {"GET", "/a b", {}, "", {}},
      {"GET", "/a\r\nX: y", {}, "", {}},
      {"GET", "/\xc3\xa4", {}, "", {}},
      {"GET", "/", {{"A", "b\nc"}}, "", {}},
      {"GET", "/", {{"A:", "b"}}, "", {}},
  };
  for (const auto& row : rows) EXPECT_FALSE(checkSendable(row)) << row.method << row.target;
}

TEST(Writer, KeepsFramingInItsOwnHands) {
  HttpResponse response;
  response.headers = {
      {"Content-Length", "1"}, {"Transfer-Encoding", "gzip"}, {"X", "a\r\nEvil: 1"}};
  std::string head = responseHead(response, {ResponseFraming::Body::kLength, 7, false}, "now");
  EXPECT_EQ(head,
            "HTTP/1.1 200 OK\r\nDate: now\r\nX: a  Evil: 1\r\nContent-Length: 7\r\n"
            "Connection: close\r\n\r\n");
}

TEST(Writer, WritesChunksAndDates) {
  EXPECT_EQ(chunk("0123456789abcdef"), "10\r\n0123456789abcdef\r\n");
  EXPECT_EQ(chunk(""), "");
  EXPECT_EQ(httpDate(WallTime(std::chrono::seconds(784111777))), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace mangrove::net
