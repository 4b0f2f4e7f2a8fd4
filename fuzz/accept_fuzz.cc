// Accept headers: any text is a list of ranges, the most wanted first, and one form of answer or a
// 406.
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/output/accept.h"
#include "apiserver/output/encode.h"
#include "base/check.h"

using namespace mangrove;
using namespace mangrove::apiserver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 8192) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  double last = 0;
  bool first = true;
  for (const MediaRange& range : parseAccept(text)) {
    CHECK(!range.type.empty() && range.quality > 0, "{}", text);
    CHECK(first || range.quality <= last, "{} after {}", range.quality, last);
    last = range.quality;
    first = false;
  }
  const KindInfo& pods = *catalogue().find("", "v1", "Pod");
  const auto shape = shapeOf(text, RequestInfo{}, pods);
  CHECK(shape || shape.error().status == 406, "{}", text);
  return 0;
}
