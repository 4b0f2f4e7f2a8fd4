#pragma once
// The demo's own service: HTTP, as many threads as CPUs and one queue for all of them, as event
// loops and language runtimes have it. A request computes, waits for a pretended backend while its
// thread serves others, computes again and is answered.
//
//   agent::Service service = webService(port, &compute);
//   service.run();                                        // in the foreground, forever
//   requestFor({.workMicros = 500, .waitMicros = 500})    // "GET /500/500 HTTP/1.1 …"

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/bench/service.h"
#include "demo/day.h"

namespace mangrove::demo {

// `compute` does so many microseconds of work; any thread.
agent::Service webService(uint16_t port, void (*compute)(uint32_t microseconds));

std::string requestFor(const Shot& shot);

struct Asked {
  uint32_t workMicros = 0, waitMicros = 0;
  bool operator==(const Asked&) const = default;
};
// What "GET /500/1200 HTTP/1.1" asks for; nullopt: something else.
std::optional<Asked> askedOf(std::string_view request);

}  // namespace mangrove::demo
