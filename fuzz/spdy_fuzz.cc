// SPDY frames from anybody, header blocks included: the reader must end, in bounded memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/upgrade/spdy_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mangrove::net::SpdyReader reader;
  reader.add({reinterpret_cast<const char*>(data), size});
  while (reader.next()) {
  }
  return 0;
}
