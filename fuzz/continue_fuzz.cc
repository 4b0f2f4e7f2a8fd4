// Continue tokens of lists: what is read is written as a token that is read as the same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/query.h"

using namespace mangrove;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto token = store::Continue::parse(text);
  if (!token) return 0;
  auto again = store::Continue::parse(token->text());
  CHECK(again, "{}", again.error().text());
  CHECK(again->revision == token->revision && again->after == token->after, "{}", token->text());
  return 0;
}
