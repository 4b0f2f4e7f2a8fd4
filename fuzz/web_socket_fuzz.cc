// WebSocket frames from anybody: the reader must end, in bounded memory, and never read beyond.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/upgrade/web_socket_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mangrove::net::FrameReader reader(1 << 16);
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t half = size / 2;
  reader.add(input.substr(0, half));
  while (reader.next()) {
  }
  reader.add(input.substr(half));
  while (reader.next()) {
  }
  return 0;
}
