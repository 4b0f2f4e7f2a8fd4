// Bytes from a peer, once as a request and once as an answer, through the readers that server and
// client use. Properties: the cuts of the network do not matter; limits hold; what was understood
// can be written and is understood the same; a request never ends inside what another strict parser
// would call its body.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text/encoding.h"
#include "net/http/url.h"
#include "net/http/wire.h"

namespace {

using namespace mangrove;
using namespace mangrove::net;

const WireLimits kLimits{4096, 512, 2048};

template <class Reader>
struct Outcome {
  Reader reader;
  size_t used = 0;
  std::string body;
};

// Offers the input in growing pieces, as it would arrive; `step` 0 is all at once.
template <class Reader>
void feed(Outcome<Reader>& outcome, std::string_view input, size_t step) {
  std::string pending;
  size_t offered = 0;
  while (offered < input.size() && !outcome.reader.done() && !outcome.reader.error()) {
    size_t size = step ? std::min(step, input.size() - offered) : input.size();
    pending += input.substr(offered, size);
    offered += size;
    size_t taken = outcome.reader.take(pending);
    CHECK(taken <= pending.size());
    pending.erase(0, taken);
    outcome.used += taken;
    outcome.body += outcome.reader.takeBody();
    CHECK(outcome.body.size() <= *kLimits.body);
    // What is kept back is bounded, however much is sent.
    bool bounded = pending.size() <= kLimits.header + size;
    CHECK(outcome.reader.done() || outcome.reader.error() || bounded, "{} kept", pending.size());
  }
}

void checkRequest(Outcome<RequestReader>& outcome) {
  HttpRequest& request = outcome.reader.request();
  CHECK(!request.method.empty());
  CHECK(request.target.starts_with('/') || request.target == "*", "{}", request.target);
  CHECK(request.target.size() <= kLimits.target + 1);
  CHECK(!(request.headers.has("Content-Length") && request.headers.has("Transfer-Encoding")));
  CHECK(request.headers.check());
  if (request.target == "*") return;
  // Written by our client and read again it is the same request.
  request.body = outcome.body;
  CHECK(checkSendable(request));
  std::string wire = requestHead(request, Url{}, "fuzz") + request.body;
  RequestReader again(WireLimits{kLimits.header * 2, kLimits.target + 1, kLimits.body});
  CHECK(again.take(wire) == wire.size());
  bool changed = request.headers.has("Transfer-Encoding");
  if (!request.headers.has("Host")) return;
  CHECK(again.done(), "{}", again.error() ? again.error()->sentence : "not done");
  CHECK(again.request().target == request.target);
  CHECK(changed || again.takeBody() == outcome.body);
}

void checkResponse(Outcome<ResponseReader>& outcome) {
  HttpResponse& response = outcome.reader.response();
  CHECK(response.status >= 0 && response.status <= 999);
  if (response.status < 200 || response.status == 204 || response.status == 304) return;
  ResponseFraming framing{ResponseFraming::Body::kChunked, 0, true};
  std::string wire =
      responseHead(response, framing, "now") + chunk(outcome.body) + std::string(kLastChunk);
  ResponseReader again(WireLimits{kLimits.header * 2, 0, kLimits.body}, false);
  CHECK(again.take(wire) == wire.size());
  CHECK(again.done(), "{}", again.error() ? again.error()->sentence : "not done");
  CHECK(again.response().status == response.status);
  CHECK(again.takeBody() == outcome.body);
}

template <class Reader>
void compare(const Outcome<Reader>& a, const Outcome<Reader>& b) {
  CHECK(a.reader.done() == b.reader.done());
  CHECK(a.reader.error().has_value() == b.reader.error().has_value());
  if (!a.reader.done()) return;
  CHECK(a.used == b.used, "{} and {}", a.used, b.used);
  CHECK(a.body == b.body);
  CHECK(a.reader.keepAlive() == b.reader.keepAlive());
}

void fuzzRequest(std::string_view input, size_t step) {
  Outcome<RequestReader> whole{RequestReader(kLimits), 0, {}};
  Outcome<RequestReader> cut{RequestReader(kLimits), 0, {}};
  feed(whole, input, 0);
  feed(cut, input, step);
  compare(whole, cut);
  if (whole.reader.done()) checkRequest(whole);
}

void fuzzResponse(std::string_view input, size_t step, bool noBody) {
  Outcome<ResponseReader> whole{ResponseReader(kLimits, noBody), 0, {}};
  Outcome<ResponseReader> cut{ResponseReader(kLimits, noBody), 0, {}};
  feed(whole, input, 0);
  feed(cut, input, step);
  compare(whole, cut);
  whole.reader.end();
  CHECK(whole.reader.done() != whole.reader.error().has_value());
  if (whole.reader.done() && !noBody) checkResponse(whole);
}

void fuzzAddress(std::string_view input) {
  if (auto url = Url::parse(input)) {
    auto again = Url::parse(url->text());
    CHECK(again, "{}", url->text());
    CHECK(again->text() == url->text());
  }
  if (auto query = Query::parse(input)) {
    auto again = Query::parse(query->text());
    CHECK(again && again->pairs() == query->pairs());
  }
}

}  // namespace

// The first byte chooses the cuts and whether the answer is one to HEAD.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  size_t step = 1 + (data[0] & 0x3f);
  fuzzRequest(input, step);
  fuzzResponse(input, step, data[0] & 0x80);
  fuzzAddress(input);
  return 0;
}
