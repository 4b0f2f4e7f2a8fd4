// Zone files: any bytes are a zone or refused; a zone answers for every moment.
#include <cstdint>
#include <string_view>

#include "base/text/time_zone.h"

using namespace mangrove;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto zone = TimeZone::parse({reinterpret_cast<const char*>(data), size});
  if (!zone) return 0;
  for (int64_t seconds : {int64_t{0}, int64_t{1} << 31, int64_t{-1} << 33, int64_t{1} << 40}) {
    const WallTime at{std::chrono::seconds(seconds)};
    (void)zone->offsetAt(at);
    (void)zone->momentOf(at);
  }
  return 0;
}
