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
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace mangrove::agent {

struct Service {
  std::string name;
  uint16_t port = 0;
  std::function<void()> run = {};  // in the foreground; only what is safe after fork
  std::string request = {};
  // The same, asking for so many microseconds of work; null: all requests are alike.
  std::string (*requestFor)(uint32_t microseconds) = nullptr;
  // Bytes of the first whole answer in `text`; 0: not complete yet.
  size_t (*answer)(std::string_view text) = nullptr;
};

// What the built-in service does for one request.
using ServiceWork = void (*)(uint32_t microseconds);
// "auto" takes redis, else nginx, else the built-in one; whatever Debian has installed. `work`:
// null burns so much CPU time.
Result<Service> chooseService(const std::string& name, uint16_t port, const std::string& dir,
                              ServiceWork work = nullptr);
// Whether it accepts connections.
bool isUp(const Service& service);

// One request of a load that was drawn up beforehand.
struct Shot {
  Duration at{};          // after the start
  uint32_t workMicros{};  // what it asks for, where the service can be asked
};
struct LoadOptions {
  double rate = 1000;  // requests a second, over all connections
  Duration length = std::chrono::seconds(3);
  int connections = 8;
  std::vector<Shot> shots = {};  // instead of an even rate
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
