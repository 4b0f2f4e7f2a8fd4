#include <algorithm>
#include <optional>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/text/strings.h"
#include "net/http/body_reader.h"
#include "net/http/wire.h"

namespace mangrove::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

// Bytes beside the target in the longest sane request line: method, blanks, version, CR.
constexpr size_t kLineSlack = 64;
// How much is reserved on the word of a Content-Length alone.
constexpr uint64_t kMaxReserve = 1 << 20;

// Collects what Beast finds in a head. It never sees a body (body_reader.h).
template <bool isRequest>
class Collector final : public http::basic_parser<isRequest> {
 public:
  std::string method;
  std::string target;
  int status = 0;
  int version = 11;
  Headers headers;

 private:
  void on_request_impl(http::verb, Text name, Text path, int number, error_code& error) override {
    error = {};
    method.assign(name.data(), name.size());
    target.assign(path.data(), path.size());
    version = number;
  }
  void on_response_impl(int code, Text, int number, error_code& error) override {
    error = {};
    status = code;
    version = number;
  }
  void on_field_impl(http::field, Text name, Text value, error_code& error) override {
    error = {};
    headers.add({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_header_impl(error_code& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code& error) override {
    error = {};
  }
  size_t on_body_impl(Text, error_code& error) override { return none(error); }
  void on_chunk_header_impl(uint64_t, Text, error_code& error) override { none(error); }
  size_t on_chunk_body_impl(uint64_t, Text, error_code& error) override { return none(error); }
  void on_finish_impl(error_code& error) override { error = {}; }

  static size_t none(error_code& error) {
    error = http::error::unexpected_body;
    return 0;
  }
};

// Finds the end of the head and refuses bytes on which parsers are known to disagree.
class HeadScanner {
 public:
  // The size of the head once it is complete. Remembers how far it has looked.
  std::optional<size_t> scan(std::string_view input, std::optional<WireError>& error) {
    for (; at_ < input.size(); ++at_) {
      const char* problem = judge(input);
      if (problem) {
        error = WireError{400, problem};
        return std::nullopt;
      }
      if (input[at_] == '\n') {
        if (firstLine_ == 0) firstLine_ = at_;
        if (input.substr(0, at_ + 1).ends_with("\r\n\r\n")) return ++at_;
      }
    }
    return std::nullopt;
  }
  size_t scanned() const { return at_; }
  // Its size so far, if it is not complete.
  size_t firstLine() const { return firstLine_ ? firstLine_ : at_; }

 private:
  const char* judge(std::string_view input) const {
    char c = input[at_];
    char before = at_ > 0 ? input[at_ - 1] : '\0';
    if (c == '\n') return before == '\r' ? nullptr : "a line ends without CR";
    if (before == '\r') return "a CR without LF";
    if (before == '\n' && (c == ' ' || c == '\t')) return "a folded header line";
    if (at_ == 0 && c == 0x16) return "the client speaks TLS, this port does not";
    bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r';
    return control ? "a control character in the head" : nullptr;
  }

  size_t at_ = 0;
  size_t firstLine_ = 0;
};

bool allDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Framing rules of both directions; Beast lets some of these pass or takes them for "no body".
std::optional<WireError> checkFraming(const Headers& headers, int version) {
  size_t lengths = headers.count("Content-Length");
  if (lengths > 1) return WireError{400, "more than one Content-Length"};
  if (lengths == 1 && !allDigits(headers.get("Content-Length")))
    return WireError{400, "Content-Length is no number"};
  size_t codings = headers.count("Transfer-Encoding");
  if (codings == 0) return std::nullopt;
  if (lengths > 0) return WireError{400, "both Content-Length and Transfer-Encoding"};
  if (version < 11) return WireError{400, "Transfer-Encoding in HTTP/1.0"};
  if (codings > 1 || !equalIgnoringCase(headers.get("Transfer-Encoding"), "chunked"))
    return WireError{501, "a Transfer-Encoding other than chunked"};
  return std::nullopt;
}

bool isHostValue(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-._:[]%").find(c) != std::string_view::npos;
  });
}

// Everything of a reader but what a finished head has to look like.
template <bool isRequest>
class Engine {
 public:
  explicit Engine(const WireLimits& limits) : limits_(limits) {
    parser_.header_limit(static_cast<uint32_t>(limits.header) + 1);
    parser_.body_limit(boost::none);
  }

  template <class CheckHead>
  size_t take(std::string_view input, CheckHead&& checkHead) {
    if (error() || done()) return 0;
    size_t used = 0;
    if (!headFine_) {
      used = takeHead(input);
      if (headError_ || !parser_.is_header_done()) return used;
      if ((headError_ = checkHead(parser_))) return used;
      headFine_ = true;
      startBody();
    }
    return used + bodyReader_.take(input.substr(used), body_);
  }

  void end() {
    if (headFine_) return bodyReader_.end();
    if (!headError_) headError_ = WireError{400, "the message ends in its head"};
  }

  Collector<isRequest>& parser() { return parser_; }
  const Collector<isRequest>& parser() const { return parser_; }
  const std::optional<WireError>& error() const {
    return headError_ ? headError_ : bodyReader_.error();
  }
  bool headDone() const { return headFine_; }
  bool done() const { return headFine_ && !error() && bodyReader_.done(); }
  std::string takeBody() { return std::exchange(body_, {}); }
  size_t bodySize() const { return body_.size(); }

 private:
  size_t takeHead(std::string_view input) {
    size_t skipped = 0;
    // Old clients send an empty line after a body.
    while (isRequest && scanner_.scanned() == 0 && input.substr(skipped).starts_with("\r\n"))
      skipped += 2;
    input.remove_prefix(skipped);
    if (isRequest && scanner_.scanned() == 0 && input == "\r") return skipped;
    auto size = scanner_.scan(input, headError_);
    if (!headError_) checkSize(size.value_or(input.size()));
    if (!size || headError_) return skipped;
    parseHead(input.substr(0, *size));
    return skipped + *size;
  }

  void parseHead(std::string_view head) {
    error_code error;
    size_t used = parser_.put({head.data(), head.size()}, error);
    if (error && error != http::error::need_more)
      headError_ = WireError{400, error.message()};
    else if (used != head.size() || !parser_.is_header_done())
      headError_ = WireError{400, "a malformed head"};
  }

  void checkSize(size_t size) {
    if (isRequest && scanner_.firstLine() > limits_.target + kLineSlack)
      headError_ = WireError{414, "the target is too long"};
    else if (size > limits_.header)
      headError_ = WireError{431, fmt::format("the head has more than {} bytes", limits_.header)};
  }

  void startBody() {
    using Framing = BodyReader::Framing;
    Framing framing = Framing::kUntilEnd;
    uint64_t length = 0;
    if (parser_.is_done()) {
      framing = Framing::kNone;
    } else if (parser_.chunked()) {
      framing = Framing::kChunked;
    } else if (parser_.content_length()) {
      framing = Framing::kLength;
      length = *parser_.content_length();
      body_.reserve(static_cast<size_t>(std::min(length, kMaxReserve)));
    }
    bodyReader_ = BodyReader(framing, length, limits_);
  }

  WireLimits limits_;
  Collector<isRequest> parser_;
  HeadScanner scanner_;
  BodyReader bodyReader_;
  std::string body_;
  bool headFine_ = false;
  std::optional<WireError> headError_;
};

std::optional<WireError> checkHost(const Headers& headers, int version) {
  size_t hosts = headers.count("Host");
  if (hosts > 1) return WireError{400, "more than one Host"};
  if (hosts == 0 && version >= 11) return WireError{400, "no Host"};
  if (!isHostValue(headers.get("Host"))) return WireError{400, "a Host that is no host"};
  return std::nullopt;
}

// Accepts "http://host/path" as RFC 9112 demands, and leaves "/path".
std::optional<WireError> normalizeTarget(const std::string& method, std::string& target) {
  if (target.starts_with('/')) return std::nullopt;
  if (target == "*" && method == "OPTIONS") return std::nullopt;
  if (method == "CONNECT") return WireError{405, "this server is no proxy"};
  size_t scheme = target.find("://");
  if (scheme == target.npos || target.find_first_of("/?") != scheme + 1)
    return WireError{400, "the target is no path"};
  size_t path = target.find_first_of("/?", scheme + 3);
  target = path == target.npos ? "/" : target.substr(path);
  if (target.starts_with('?')) target.insert(0, "/");
  return std::nullopt;
}

bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

struct RequestReader::Impl {
  explicit Impl(const WireLimits& wanted) : engine(wanted), limits(wanted) {}

  std::optional<WireError> checkHead(Collector<true>& found) {
    if (found.target.size() > limits.target) return WireError{414, "the target is too long"};
    if (!isAscii(found.target)) return WireError{400, "a target that is not percent-encoded"};
    if (auto error = normalizeTarget(found.method, found.target)) return error;
    if (auto error = checkHost(found.headers, found.version)) return error;
    if (auto error = checkFraming(found.headers, found.version)) return error;
    if (auto expect = found.headers.find("Expect");
        expect && !equalIgnoringCase(*expect, "100-continue"))
      return WireError{417, "an expectation other than 100-continue"};
    request.method = std::move(found.method);
    request.target = std::move(found.target);
    request.headers = std::move(found.headers);
    return std::nullopt;
  }

  Engine<true> engine;
  WireLimits limits;
  HttpRequest request;
};

RequestReader::RequestReader(const WireLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;

size_t RequestReader::take(std::string_view input) {
  return impl_->engine.take(input, [this](auto& found) { return impl_->checkHead(found); });
}
bool RequestReader::headDone() const {
  return impl_->engine.headDone();
}
bool RequestReader::done() const {
  return impl_->engine.done();
}
const std::optional<WireError>& RequestReader::error() const {
  return impl_->engine.error();
}
bool RequestReader::keepAlive() const {
  return impl_->engine.parser().keep_alive();
}
std::string RequestReader::takeBody() {
  return impl_->engine.takeBody();
}
HttpRequest& RequestReader::request() {
  return impl_->request;
}
bool RequestReader::isHttp11() const {
  return impl_->engine.parser().version >= 11;
}
bool RequestReader::expectsContinue() const {
  return impl_->request.headers.has("Expect");
}

size_t RequestReader::bodySize() const {
  return impl_->engine.bodySize();
}

struct ResponseReader::Impl {
  explicit Impl(const WireLimits& limits) : engine(limits) {}

  std::optional<WireError> checkHead(Collector<false>& found) {
    if (auto error = checkFraming(found.headers, found.version)) return error;
    response.status = found.status;
    response.headers = std::move(found.headers);
    return std::nullopt;
  }

  Engine<false> engine;
  HttpResponse response;
};

ResponseReader::ResponseReader(const WireLimits& limits, bool noBody)
    : impl_(std::make_unique<Impl>(limits)) {
  if (noBody) impl_->engine.parser().skip(true);
}
ResponseReader::~ResponseReader() = default;
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;

size_t ResponseReader::take(std::string_view input) {
  return impl_->engine.take(input, [this](auto& found) { return impl_->checkHead(found); });
}
bool ResponseReader::headDone() const {
  return impl_->engine.headDone();
}
bool ResponseReader::done() const {
  return impl_->engine.done();
}
const std::optional<WireError>& ResponseReader::error() const {
  return impl_->engine.error();
}
bool ResponseReader::keepAlive() const {
  return impl_->engine.parser().keep_alive();
}
std::string ResponseReader::takeBody() {
  return impl_->engine.takeBody();
}
void ResponseReader::end() {
  impl_->engine.end();
}
HttpResponse& ResponseReader::response() {
  return impl_->response;
}

}  // namespace mangrove::net
