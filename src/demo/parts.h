#pragma once
// The processes of the demo, each a hidden subcommand of the same binary: the service (with the
// batch work that somebody carelessly started in its pod), batch work, loops that keep CPUs awake,
// and the load. They share a Board.
//
//   return runPart({.what = "batch", .board = "/tmp/d/board", .workers = 4});
//
// Each runs in a process of its own and forks before it has threads.

#include <cstdint>
#include <string>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::demo {

struct PartOptions {
  std::string what;  // service, batch, awake or load
  std::string board;
  int64_t workers = 1;
  int64_t first = 0;  // number of the first worker on the board
  std::string service = "built-in";
  int64_t port = 0;
  std::string dir;
  double rate = 400;
  Duration length = std::chrono::seconds(3);
  int64_t seed = 1;
};
// Returns when the load has been sent; the other parts work until they are ended.
Result<> runPart(const PartOptions& options);

}  // namespace mangrove::demo
