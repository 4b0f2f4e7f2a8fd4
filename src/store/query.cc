#include "store/query.h"

#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::store {

// "<revision>:<path>", in the alphabet of URLs so that clients can send it as it is.

std::string Continue::text() const {
  return base64UrlEncode(fmt::format("{}:{}", revision.v, after));
}

Result<Continue> Continue::parse(std::string_view text) {
  const auto refuse = [&] {
    return invalid("continue token '{}': want a token from an earlier page of this list", text);
  };
  auto plain = base64UrlDecode(text);
  if (!plain) return refuse();
  const Halves halves = cut(*plain, ':');
  const auto revision = parseInt<uint64_t>(halves.before);
  if (!halves.found || !revision || halves.after.empty()) return refuse();
  return Continue{{*revision}, std::string(halves.after)};
}

}  // namespace mangrove::store
