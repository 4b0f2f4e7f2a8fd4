#include "descheduler/bench/pass_bench.h"

#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

#include "base/os/code_pages.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "client/queue/worker.h"
#include "descheduler/descheduler.h"

namespace mangrove::descheduler {
namespace {

constexpr Duration kPatience = std::chrono::seconds(120);

std::string configText(const PassBenchOptions& options) {
  return fmt::format(
      R"({{"apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s","dryRun":true,)"
      R"("profiles":[{{"name":"bench","plugins":{{"balance":{{"enabled":[{{"name":"LowNodeLoad"}}]}}}},"pluginConfig":[)"
      R"({{"name":"LowNodeLoad","args":{{"lowThresholds":{{"cpu":45,"memory":55}},"highThresholds":{{"cpu":65,"memory":80}},)"
      R"("minimalPlans":{},"anomalyCondition":{{"consecutiveAbnormalities":1}}}}}},)"
      R"({{"name":"MigrationController","args":{{"provenMoves":{}}}}}]}}]}})",
      options.minimal, options.proven);
}

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int64_t residentBytes() {
  const auto text = readFile("/proc/self/statm");
  if (!text) return 0;
  const auto parts = split(*text, ' ');
  return parts.size() < 2 ? 0 : parseInt<int64_t>(parts[1]).value_or(0) * sysconf(_SC_PAGESIZE);
}

}  // namespace

Result<PassBenchResult> runPassBench(const PassBenchOptions& options) {
  auto config = readConfig(configText(options), "bench");
  if (!config) return pass(config.error());
  StillCluster cluster(options.cluster, realClock().wall());
  client::Worker worker;
  Mailbox owner;
  Registry metrics;
  auto made = Descheduler::make({.client = &cluster,
                                 .owner = &owner,
                                 .home = &worker.mailbox(),
                                 .clock = &realClock(),
                                 .metrics = &metrics},
                                std::move(*config));
  if (!made) return pass(made.error());
  PassBenchResult out;
  const MonoTime begun = realClock().mono();
  (*made)->start();
  while (!(*made)->waitingFor().empty()) {
    if (realClock().mono() - begun > kPatience)
      return fail(Code::kTimeout, "{}", (*made)->waitingFor());
    owner.runOne(std::chrono::milliseconds(20));
  }
  const auto seconds = [](MonoTime from) {
    return std::chrono::duration<double>(realClock().mono() - from).count();
  };
  out.fillSeconds = seconds(begun);
  releaseUnusedMemory();  // as whoever leads does when the lists are in
  for (int64_t i = 0; i < options.passes; ++i) {
    const MonoTime from = realClock().mono();
    const double cpu = cpuSeconds();
    (void)(*made)->cycle();
    out.passSeconds.push_back(seconds(from));
    out.passCpuSeconds.push_back(cpuSeconds() - cpu);
  }
  out.moves = (*made)->journal().moves().size();
  out.needed = (*made)->journal().needed();
  out.rssBytes = residentBytes();
  return out;
}

}  // namespace mangrove::descheduler
