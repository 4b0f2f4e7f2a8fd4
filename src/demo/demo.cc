#include "demo/demo.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/files.h"
#include "demo/day.h"
#include "demo/house.h"
#include "demo/meter.h"
#include "net/server/http_server.h"

namespace mangrove::demo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kRatePerCpu = 220;  // a fifth of the machine on average
constexpr double kMostRate = 2000;   // one generator's worth
constexpr int kBatchPods = 2;
constexpr Duration kServiceWithin = seconds(60);
constexpr int kInterrupted = 130;

// Not fmt::print: a terminal that went away must not throw.
void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

uint16_t freePort() {
  net::Loop loop;
  auto server = net::HttpServer::listen(loop, {}, [](std::shared_ptr<net::Exchange>) {});
  return server ? (*server)->port() : 0;
}

Turn turnOf(Condition condition) {
  constexpr Turn kTurns[] = {Turn::kNobody, Turn::kAwake, Turn::kCareless, Turn::kPlain,
                             Turn::kBatch};
  return kTurns[static_cast<size_t>(condition)];
}

class Demo {
 public:
  Demo(const DemoOptions& options, frame::Interrupt& interrupt, House& house)
      : options_(options), interrupt_(interrupt), house_(house) {
    cpus_ = std::max<int64_t>(::sysconf(_SC_NPROCESSORS_ONLN), 1);
    rate_ = options.rate > 0 ? options.rate
                             : std::min(kMostRate, kRatePerCpu * static_cast<double>(cpus_));
  }

  Result<> start() {
    port_ = freePort();
    if (auto ok = house_.startUp(); !ok) return ok;
    say(fmt::format("dashboard     {} (while this runs)\n", house_.dashboard()));
    auto meter = Meter::make(house_.cgroup());
    if (!meter) return pass(meter.error());
    meter_ = std::make_unique<Meter>(std::move(*meter));
    if (auto ok = startPods(); !ok) return ok;
    return awaitService();
  }

  Result<> measure() {
    const auto rounds = static_cast<size_t>(options_.rounds);
    const auto order =
        stats::interleaved(std::size(kConditions), rounds, static_cast<uint64_t>(options_.seed));
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t round = i / std::size(kConditions);
      auto block = run(round, kConditions[order[i]]);
      if (!block) return pass(block.error());
      blocks_.push_back(std::move(*block));
      progress(i + 1, order.size());
      reviveBatch();
    }
    say("\n");
    return {};
  }

  Findings findings() const {
    return conclude(
        blocks_,
        {.cpus = cpus_, .evictions = evictions_, .seed = static_cast<uint64_t>(options_.seed)});
  }
  const std::vector<Block>& blocks() const { return blocks_; }
  std::string about() const {
    return fmt::format(
        "{} service, {:.0f} requests a second on average, {} CPUs, {} hours of {:.1f} s "
        "per condition",
        options_.service, rate_, cpus_, options_.rounds,
        std::chrono::duration<double>(options_.length).count());
  }

 private:
  std::vector<std::string> part(const char* what) const {
    return {"--part", what, "--board", house_.boardPath()};
  }
  std::vector<std::string> servicePart(const char* what) const {
    auto out = part(what);
    for (const std::string& word :
         {std::string("--service"), options_.service, std::string("--port"), std::to_string(port_),
          std::string("--dir"), house_.dir()})
      out.push_back(word);
    return out;
  }

  int64_t workers() const {
    return std::min<int64_t>(2 * cpus_, static_cast<int64_t>(Board::kWorkers));
  }

  Result<> startBatch(int number) {
    auto batch = part("batch");
    const int64_t each = std::max<int64_t>(workers() / kBatchPods, 1);
    for (const std::string& word : {std::string("--workers"), std::to_string(each),
                                    std::string("--first"), std::to_string(number * each)})
      batch.push_back(word);
    return house_.startPod(fmt::format("batch-{}", number + 1), {"--qos", "BE"}, batch);
  }

  Result<> startPods() {
    auto service = servicePart("service");
    service.push_back("--workers");
    service.push_back(std::to_string(workers()));
    // Its limit is the whole machine: a quota of its own would be what limits it.
    const std::vector<std::string> whole{"--qos", "LS", "--cpu", std::to_string(cpus_)};
    if (auto ok = house_.startPod("service", whole, service); !ok) return ok;
    auto awake = part("awake");
    awake.push_back("--workers");
    awake.push_back(std::to_string(std::min<int64_t>(cpus_, Board::kWorkers)));
    if (auto ok = house_.startPod("awake", {"--qos", "BE"}, awake); !ok) return ok;
    for (int i = 0; i < kBatchPods; ++i)
      if (auto ok = startBatch(i); !ok) return ok;
    return house_.startPlainPod(workers());
  }

  // The service answers and every worker has come to the board.
  Result<> awaitService() {
    agent::Service service{};
    service.port = port_;
    for (Duration waited{}; waited < kServiceWithin; waited += milliseconds(100)) {
      if (interrupt_.during(milliseconds(100))) return fail(Code::kCancelled, "interrupted");
      for (const std::string& name : house_.endedPods())
        return fail(Code::kUnavailable, "the pod {} ended: {}", name,
                    trimmedLog(house_.dir() + "/" + name + ".log"));
      if (agent::isUp(service) && everybodyWorks()) return {};
    }
    return fail(Code::kTimeout, "the pods did not run within a minute: {}",
                trimmedLog(house_.dir() + "/batch-1.log"));
  }

  static std::string trimmedLog(const std::string& path) {
    const std::string text = readFile(path).value_or("");
    return text.size() > 500 ? text.substr(text.size() - 500) : text;
  }

  // Gives each kind of worker a short turn to show that it is there.
  bool everybodyWorks() {
    for (Turn turn : {Turn::kAwake, Turn::kCareless, Turn::kPlain, Turn::kBatch}) {
      if (house_.board().done(turn).units > 0) continue;
      house_.board().setTurn(turn);
      return false;
    }
    house_.board().setTurn(Turn::kNobody);
    return true;
  }

  Result<Block> run(size_t round, Condition condition) {
    Block out;
    out.round = round;
    out.condition = condition;
    out.rate = rateAt(hourOf(round, static_cast<size_t>(options_.rounds)), rate_);
    Board& board = house_.board();
    board.setTurn(turnOf(condition));
    if (interrupt_.during(options_.settle)) return fail(Code::kCancelled, "interrupted");
    const auto batchBefore = board.done(turnOf(condition));
    const Reading before = meter_->read(house_.processes());
    if (auto ok = sendLoad(out); !ok) return pass(ok.error());
    const Shares shares = sharesBetween(before, meter_->read(house_.processes()));
    account(out, shares, batchBefore, board.done(turnOf(condition)));
    board.setTurn(Turn::kNobody);
    return out;
  }

  Result<> sendLoad(Block& block) {
    auto load = servicePart("load");
    const auto seed = options_.seed * 1000 + static_cast<int64_t>(block.round);
    for (const std::string& word :
         {std::string("--rate"), fmt::format("{}", block.rate), std::string("--length"),
          fmt::format("{}ms", options_.length / milliseconds(1)), std::string("--seed"),
          std::to_string(seed)})
      load.push_back(word);
    auto pid = house_.startPart(load);
    if (!pid) return pass(pid.error());
    if (interrupt_.duringProcess(*pid, options_.length + kServiceWithin)) {
      const auto& result = house_.board().load;
      const size_t count = std::min<size_t>(result.count, agent::LoadResult::kMost);
      block.latencies.assign(result.latencyMs, result.latencyMs + count);
      std::sort(block.latencies.begin(), block.latencies.end());
      block.failed = result.failed;
      return {};
    }
    ::kill(*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    if (interrupt_.came()) return fail(Code::kCancelled, "interrupted");
    return fail(Code::kTimeout, "the service did not answer for {} s", kServiceWithin / seconds(1));
  }

  void account(Block& block, const Shares& shares, const Board::Done& before,
               const Board::Done& after) const {
    const double cores = (after.cpuSeconds - before.cpuSeconds) / shares.seconds;
    const bool awake = block.condition == Condition::kAwake;
    block.batchCores = awake ? 0 : cores;
    block.batchUnits = awake ? 0 : (after.units - before.units) / shares.seconds;
    block.busyCores = shares.busy - (awake ? cores : 0);
    block.serviceCores = shares.pods - cores;
    block.ownCores = shares.own;
    block.strangers = shares.strangers;
    block.steal = shares.steal;
    block.kept = keeps(options_.discard, block);
  }

  // A batch pod that is gone was evicted; batch work comes again, as a Job would.
  void reviveBatch() {
    for (const std::string& name : house_.endedPods()) {
      if (!name.starts_with("batch-")) continue;
      ++evictions_;
      (void)startBatch(name.back() - '1');
    }
  }

  void progress(size_t done, size_t all) const {
    const Block& last = blocks_.back();
    const std::vector<double> values(last.latencies.begin(), last.latencies.end());
    const double left = std::chrono::duration<double>(options_.length + options_.settle).count() *
                        static_cast<double>(all - done);
    const std::string line = fmt::format(
        "[{:>2}/{}] {:02.0f}:00 h, {:<27} p99 {:>6.2f} ms, batch {:.2f} cores, strangers {:.2f}{} "
        "- {:.0f} s left",
        done, all, hourOf(last.round, static_cast<size_t>(options_.rounds)), nameOf(last.condition),
        stats::quantile(values, 0.99), last.batchCores, last.strangers,
        last.kept ? "" : " (thrown away)", left);
    if (::isatty(STDOUT_FILENO) != 0)
      say("\r\033[K" + line);
    else
      say(line + "\n");
  }

  const DemoOptions& options_;
  frame::Interrupt& interrupt_;
  House& house_;
  std::unique_ptr<Meter> meter_;
  std::vector<Block> blocks_;
  int64_t cpus_ = 1, evictions_ = 0;
  double rate_ = 0;
  uint16_t port_ = 0;
};

Result<> writeReports(const DemoOptions& options, const Demo& demo, const Findings& found) {
  if (!options.report.empty()) {
    auto ok = writeFileAtomically(options.report,
                                  toHtml(found, demo.blocks(), options.discard, demo.about()));
    if (!ok) return ok.error().in("report");
    std::error_code error;
    say(fmt::format("\nreport        file://{}\n",
                    std::filesystem::absolute(options.report, error).string()));
  }
  if (options.json.empty()) return {};
  return writeFileAtomically(options.json, toJson(found, demo.blocks(), options.discard));
}

Result<> perform(const DemoOptions& options, frame::Interrupt& interrupt) {
  auto house = House::open(interrupt);
  if (!house) return pass(house.error());
  Demo demo(options, interrupt, **house);
  say(fmt::format(
      "{}\nfive conditions in random order within every hour of a compressed day; rule "
      "fixed beforehand: {}\n{}\nstarting      mangrove up, a service pod (LS), batch pods (BE)\n",
      demo.about(), options.discard.text(), kWays));
  if (auto ok = demo.start(); !ok) return ok;
  if (auto ok = demo.measure(); !ok) return ok;
  const Findings found = demo.findings();
  (*house)->stop();
  say("\n" + toTable(found, options.discard));
  return writeReports(options, demo, found);
}

}  // namespace

int runDemo(const DemoOptions& options) {
  frame::Interrupt interrupt;
  if (::geteuid() != 0) {
    say("mangrove demo: needs root, for cgroups and pods; try: sudo make demo\n");
    return 1;
  }
  auto done = perform(options, interrupt);
  if (done) return 0;
  if (interrupt.came()) {
    say("\ninterrupted; everything that was started has been taken away\n");
    return kInterrupted;
  }
  say(fmt::format("\nmangrove demo: {}\n", done.error().text()));
  return 1;
}

}  // namespace mangrove::demo
