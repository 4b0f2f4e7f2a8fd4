// A kubelet's answer, from the socket to pods: HTTP as bytes in any cut, then the list of pods and
// its settings in the body.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/report/kubelet.h"
#include "base/check.h"
#include "net/http/wire.h"

using namespace mangrove;

namespace {

std::string bodyOf(std::string_view bytes, size_t step) {
  net::ResponseReader reader({.header = 64 * 1024, .target = 0, .body = 1 << 20}, false);
  std::string in, body;
  for (size_t at = 0; at < bytes.size() && !reader.error() && !reader.done(); at += step) {
    in += bytes.substr(at, step);
    in.erase(0, reader.take(in));
    if (reader.headDone()) body += reader.takeBody();
  }
  return reader.done() ? body : std::string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = bodyOf(bytes, size + 1);
  CHECK(whole == bodyOf(bytes, 1 + size / 5), "a body depends on how the bytes are cut");
  (void)agent::parsePodList(whole);
  (void)agent::parsePodList(bytes);
  return 0;
}
