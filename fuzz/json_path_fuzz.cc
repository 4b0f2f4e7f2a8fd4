// Paths of printer columns: any text parses or is refused, and a path that parses can be asked of
// any object. Input: the path on the first line, the object behind it.
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/output/json_path.h"
#include "base/check.h"
#include "base/text/strings.h"

using namespace mangrove;
using namespace mangrove::apiserver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 8192) return 0;
  const Halves parts = cut(std::string_view(reinterpret_cast<const char*>(data), size), '\n');
  auto path = JsonPath::parse(parts.before);
  if (!path) {
    CHECK(!path.error().text().empty(), "a refusal without a sentence");
    return 0;
  }
  json::Doc doc;
  auto object = doc.parse(parts.after);
  if (!object) return 0;
  const auto all = path->all(*object);
  CHECK(path->first(*object).exists() == !all.empty(), "first and all differ for {}", parts.before);
  return 0;
}
