#include "demo/parts.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/bench/batch_work.h"
#include "demo/board.h"
#include "demo/day.h"
#include "demo/load.h"
#include "demo/web_service.h"

namespace mangrove::demo {
namespace {

constexpr size_t kTable = size_t{256} * 1024 / sizeof(uint64_t);

double g_stepsPerMicro = 100;

// A walk through a table that fits a second-level cache: slower when neighbours take caches or half
// of a core, which is the point.
uint64_t walk(std::vector<uint64_t>& table, uint64_t steps) {
  uint64_t at = 1;
  for (uint64_t i = 0; i < steps; ++i) {
    at = at * 6364136223846793005ULL + 1442695040888963407ULL;
    table[(at >> 33) % kTable] += at;
  }
  return table[0];
}

// The same request is the same work in every condition, however long it takes there.
void compute(uint32_t microseconds) {
  thread_local std::vector<uint64_t> table(kTable);
  const auto steps = static_cast<uint64_t>(microseconds * g_stepsPerMicro);
  volatile uint64_t sink = walk(table, steps);
  (void)sink;
}

double cpuMicros() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// The best of several tries: interruptions only ever make it slower.
void calibrate() {
  constexpr uint64_t kSteps = 500'000;
  std::vector<uint64_t> table(kTable);
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 20; ++i) {
    const double begun = cpuMicros();
    volatile uint64_t sink = walk(table, kSteps);
    (void)sink;
    best = std::min(best, cpuMicros() - begun);
  }
  if (best > 0) g_stepsPerMicro = static_cast<double>(kSteps) / best;
}

// A millisecond of nothing, in the kernel's idle class: a CPU that does it does not sleep.
void stayAwake() {
  const double end = cpuMicros() + 1000;
  while (cpuMicros() < end)
    for (int i = 0; i < 200; ++i) asm volatile("" ::: "memory");
}

// One process per worker, gone with this one.
void forkWorkers(Board& board, Turn turn, const PartOptions& options, void (*unit)()) {
  for (int64_t i = 0; i < options.workers; ++i) {
    if (::fork() != 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (turn == Turn::kAwake) agent::becomeIdleClass();
    board.work(turn, static_cast<size_t>(options.first + i), unit);
  }
}

[[noreturn]] void sleepOn() {
  for (;;) ::pause();
}

Result<agent::Service> serviceOf(const PartOptions& options) {
  const auto port = static_cast<uint16_t>(options.port);
  if (options.service == "built-in") return webService(port, &compute);
  return agent::chooseService(options.service, port, options.dir);
}

Result<> serve(Board& board, const PartOptions& options) {
  auto service = serviceOf(options);
  if (!service) return pass(service.error());
  forkWorkers(board, Turn::kCareless, options, &agent::multiplyOnce);
  calibrate();
  service->run();
  return fail(Code::kUnavailable, "{} ended", service->name);
}

// Requests come from outside, where nobody waits for our CPUs: real-time, where that is permitted.
void comeFromOutside() {
  const sched_param least{.sched_priority = 1};
  (void)::sched_setscheduler(0, SCHED_RR, &least);
}

Result<> sendLoad(Board& board, const PartOptions& options) {
  auto service = serviceOf(options);
  if (!service) return pass(service.error());
  const auto shots = drawShots({.rate = options.rate,
                                .length = options.length,
                                .seed = static_cast<uint64_t>(options.seed)});
  board.load.count = 0;
  board.load.failed = 0;
  comeFromOutside();
  const bool asks = options.service == "built-in";
  fire(*service, shots, asks ? &requestFor : nullptr, board.load);
  return {};
}

}  // namespace

Result<> runPart(const PartOptions& options) {
  auto board = BoardFile::open(options.board);
  if (!board) return board.error().in("the demo's shared memory");
  if (options.what == "load") return sendLoad(**board, options);
  if (options.what == "service") return serve(**board, options);
  const bool awake = options.what == "awake";
  if (!awake && options.what != "batch")
    return invalid("part '{}': want service, batch, awake or load", options.what);
  forkWorkers(**board, awake ? Turn::kAwake : Turn::kBatch, options,
              awake ? &stayAwake : &agent::multiplyOnce);
  sleepOn();
}

}  // namespace mangrove::demo
