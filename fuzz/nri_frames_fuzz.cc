// NRI's frames from a runtime: however the socket cuts them, the same calls come out, and a call
// that is written again is read as the same.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "agent/nri/frames.h"
#include "base/check.h"

using namespace mangrove;
using namespace mangrove::agent;

namespace {

std::string shown(const Call& call) {
  return fmt::format("{} {} {} {} {} {} {} {}", call.connection, call.stream,
                     static_cast<int>(call.kind), call.service, call.method, call.payload,
                     call.status, call.message);
}

// The calls of each connection (between connections there is no order), and whether the end was an
// error.
using Calls = std::map<uint32_t, std::string>;
std::pair<Calls, bool> read(std::string_view bytes, size_t step) {
  FrameReader reader;
  Calls out;
  for (size_t at = 0; at < bytes.size(); at += step) {
    auto calls = reader.feed(bytes.substr(at, step));
    if (!calls) return {out, true};
    for (const Call& call : *calls) out[call.connection] += shown(call) + "\n";
  }
  return {out, false};
}

void checkWrittenAgain(std::string_view bytes) {
  FrameReader reader;
  auto calls = reader.feed(bytes);
  if (!calls) return;
  for (const Call& call : *calls) {
    if (call.kind != Call::Kind::kRequest) continue;
    FrameReader again;
    auto same = again.feed(
        carry(call.connection, ttrpcRequest(call.stream, call.service, call.method, call.payload)));
    if (!same) continue;  // larger than what may be sent
    CHECK(same->size() == 1 && shown(same->front()) == shown(call), "{}", shown(call));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, std::max<size_t>(1, size));
  const auto pieces = read(bytes, 1 + size / 7);
  // What was whole before an error is told only when it came before the piece with the error.
  CHECK(whole.second == pieces.second, "an error depends on how the bytes are cut");
  CHECK(whole.second || whole.first == pieces.first, "calls depend on how the bytes are cut");
  checkWrittenAgain(bytes);
  return 0;
}
