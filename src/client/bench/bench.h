#pragma once
// `mangrove bench client`: how long it takes to list and decode many pods, what they cost in
// memory, and how many watch events a second go through an informer. The server is a child process
// of its own (so that its memory and its allocator are not ours) that sends generated pods of
// realistic size.
//
//   ClientBenchResult result = *runClientBench({.pods = 50000});
//   fmt::print("{}", toTable(result));    // or toJson(result)
//
// Call it early in main(), before threads exist: it forks. Blocks; one thread.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mangrove::client {

struct ClientBenchOptions {
  int64_t pods = 50000;
  int64_t events = 100000;      // watch events after the list
  std::string kubeconfig = "";  // measure the pods of a real server instead; no watch part then
  std::string context = "";
};

struct ClientBenchResult {
  std::string server;  // "generated" or an address
  int64_t pods = 0;
  int64_t jsonBytes = 0;       // received
  double listSeconds = 0;      // from start() to synced, everything decoded and raw kept
  double listCpuSeconds = 0;   // the same in processor time of all our threads
  double floorSeconds = 0;     // processor time of the JSON parser alone over the same objects
  double decodeSeconds = 0;    // of parser and decoder
  int64_t rssBytes = 0;        // growth of the peak resident memory until synced
  int64_t rawBytes = 0;        // of it, the compressed raw objects
  double eventsPerSecond = 0;  // 0: not measured
  double eventCpuMicros = 0;
  int64_t events = 0;

  // How much more than parsing the whole way costs.
  double ratio() const { return floorSeconds > 0 ? listCpuSeconds / floorSeconds : 0; }
};

Result<ClientBenchResult> runClientBench(const ClientBenchOptions& options);
std::string toTable(const ClientBenchResult& result);
std::string toJson(const ClientBenchResult& result);

}  // namespace mangrove::client
