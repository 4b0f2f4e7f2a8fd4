#pragma once
// A small real service and the load that is put on it: for measuring what neighbours do to latency.
//
//   Service service = chooseService("auto", port);        // redis, nginx, or the built-in one
//   pods.start(uid, [&] { service.run(); });              // in the child, does not return
//   runLoad(service, {.rate = 1000, .length = 3s}, out);  // in another child
//
// The load is open: requests leave by the clock whether or not earlier ones were answered, and
// latency counts from when a request should have left.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

struct Service {
  std::string name;
  uint16_t port = 0;
  std::function<void()> run = {};  // in the foreground; only what is safe after fork
  std::string request = {};
  // Bytes of the first whole answer in `text`; 0: not complete yet.
  size_t (*answer)(std::string_view text) = nullptr;
};

// "auto" takes redis, else nginx, else the built-in one; whatever Debian has installed.
Result<Service> chooseService(const std::string& name, uint16_t port, const std::string& dir);
// Whether it accepts connections.
bool isUp(const Service& service);

struct LoadOptions {
  double rate = 1000;  // requests a second, over all connections
  Duration length = std::chrono::seconds(3);
  int connections = 8;
};
// In shared memory.
struct LoadResult {
  static constexpr size_t kMost = 200'000;
  std::atomic<uint64_t> count;
  std::atomic<uint64_t> failed;
  float latencyMs[kMost];
};
void runLoad(const Service& service, const LoadOptions& options, LoadResult& out);

}  // namespace mangrove::agent
