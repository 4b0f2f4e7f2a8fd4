// Tokens from strangers: nothing opens without the right signature, and what is signed with our key
// gives back its claims. Input: a token; or, after '=', the claims of one to be made and bent.
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/auth/jwt.h"
#include "base/check.h"

using namespace mangrove;
using namespace mangrove::apiserver;

namespace {

const SigningKey& key() {
  static const SigningKey made = *SigningKey::fromPem(*SigningKey::makePem());
  return made;
}

void checkOwn(const json::Object& claims) {
  auto token = makeJwt(key(), claims);
  CHECK(token, "{}", token.error().text());
  auto opened = openJwt(key(), *token);
  if (!opened) return;  // longer than any token may be
  CHECK(json::equal(*opened, json::Value(claims)), "{}", json::write(*opened));
  (*token)[token->size() / 2] ^= 1;
  CHECK(!openJwt(key(), *token), "a bent token opened: {}", *token);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 65536) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The key is new in every run: no input can hold its signature.
  CHECK(!openJwt(key(), text), "{}", text);
  if (!text.starts_with('=')) return 0;
  auto claims = json::parse(text.substr(1));
  if (claims && claims->is_object()) checkOwn(claims->get_object());
  return 0;
}
