#pragma once
// What a simulation is made of: machines, services with their use over time, batch jobs, outages. A
// text, one thing a line (docs/simulator.md):
//
//   mangrove-trace 1
//   length 2d
//   nodes n count=20 cpu=32 memory=128Gi
//   curve office every=1h 0.2 0.2 0.6 0.9
//   service web replicas=6 cpu=4 memory=8Gi curve=office noise=0.1
//   job etl at=1h tasks=20 cpu=2 memory=4Gi work=30m
//   outage n-3 at=1d for=1h
//
//   Result<Trace> trace = readTrace(text, "day.trace");   // mistakes name file, line and value
//   writeTrace(*trace)                                    // reads back as the same
//
// Values; pure functions, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::sim {

using Seconds = int64_t;  // since the beginning of the trace

struct NodeGroup {
  std::string name;  // its nodes are name-0, name-1, …
  int64_t count = 1;
  MilliCpu cpu;
  Bytes memory;
  MilliCpu systemCpu{500};  // what the machine itself uses
  Bytes systemMemory = kGiB * 2;
  std::optional<size_t> systemCurve = {};  // of Trace::curves: shares of systemCpu over time
  // What pods can have; zero: all but what the machine itself uses.
  MilliCpu allocatableCpu{0};
  Bytes allocatableMemory{0};
  bool operator==(const NodeGroup&) const = default;
};

// Shares of a request, one every so often, over and over again.
struct Curve {
  std::string name;
  Seconds every = 60;
  std::vector<float> points;

  double at(Seconds when) const {
    return points[static_cast<size_t>(when / every) % points.size()];
  }
  bool operator==(const Curve&) const = default;
};

struct Service {
  std::string name;
  int64_t replicas = 1;
  MilliCpu cpu;  // requests of a replica
  Bytes memory;
  size_t curve = 0;        // of Trace::curves
  double noise = 0;        // a replica differs by up to this share of its use, anew every step
  double memoryUse = 0.7;  // share of the request at a curve of 1
  Seconds at = 0;
  Seconds until = 0;                  // it is taken away then; 0: never
  std::vector<Seconds> deploys = {};  // all replicas are replaced, one after the other
  bool operator==(const Service&) const = default;
};

struct Job {
  std::string name;
  Seconds at = 0;
  int64_t tasks = 1;
  MilliCpu cpu;  // of a task, sold as batch-cpu
  Bytes memory;
  Seconds work = 60;       // how long a task takes with all of its CPU
  Seconds checkpoint = 0;  // work that is saved every so often; 0: an evicted task begins anew
  double memoryUse = 0.9;
  double cpuUse = 1;  // share of the request that it wants
  bool operator==(const Job&) const = default;
};

struct Outage {
  std::string node;
  Seconds at = 0, lasts = 600;
  bool operator==(const Outage&) const = default;
};

struct Trace {
  Seconds length = 0;
  Seconds step = 60;  // use does not change within it
  std::vector<NodeGroup> nodes;
  std::vector<Curve> curves;
  std::vector<Service> services;
  std::vector<Job> jobs;
  std::vector<Outage> outages;

  int64_t nodeCount() const;
  int64_t podCount() const;  // replicas and tasks; replacements do not count
  bool operator==(const Trace&) const = default;
};

double coresOf(const Job& job);  // that a task wants

Result<Trace> readTrace(std::string_view text, std::string_view name);
std::string writeTrace(const Trace& trace);

// "90s", "5m", "2h", "7d": a whole number and one unit.
Result<Seconds> parseSpan(std::string_view text);
std::string spanText(Seconds span);

}  // namespace mangrove::sim
