// tokens.csv: any text is a table of tokens or a refusal that names a line and never the token.
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/auth/static_tokens.h"
#include "base/check.h"
#include "base/text/strings.h"

using namespace mangrove;
using namespace mangrove::apiserver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 65536) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto tokens = StaticTokens::parse(text);
  if (!tokens) {
    CHECK(tokens.error().text().find("line") != std::string::npos, "{}", tokens.error().text());
    return 0;
  }
  CHECK(tokens->size() <= split(text, '\n').size(), "{} tokens", tokens->size());
  CHECK(tokens->find("") == nullptr, "the empty token is somebody's");
  return 0;
}
