// mangrove sim: policies side by side on a simulated cluster, with the product's own decisions.
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/sim_options.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "sim/compare.h"
#include "sim/shapes.h"

namespace mangrove::cli {
namespace {

struct Wanted {
  std::vector<std::string> configs, policies, traces;
  std::string shape, report, print;
  int64_t nodes = 20, days = 2, pods = 0;
  SimOptions sim;
  bool heldOut = false, exact = false;
  Output output;
};

Result<std::vector<sim::Policy>> policiesOf(const Wanted& wanted) {
  std::vector<std::string> names = wanted.policies;
  if (names.empty() && wanted.configs.empty()) names = {"reference", "ours", "oracle"};
  std::vector<sim::Policy> out;
  for (const std::string& name : names) {
    auto policy = sim::builtInPolicy(name);
    if (!policy) return policy.error().in("--policy");
    out.push_back(std::move(*policy));
  }
  for (const std::string& file : wanted.configs) {
    auto policy = wanted.sim.policyIn(file);
    if (!policy) return pass(policy.error());
    out.push_back(std::move(*policy));
  }
  return out;
}

Result<std::vector<uint64_t>> seedsOf(const Wanted& wanted) {
  const auto count = static_cast<size_t>(wanted.sim.seeds);
  std::vector<uint64_t> out;
  if (wanted.heldOut && count > sim::kHeldOutSeeds.size())
    return invalid("--seeds {}: {} are held out", count, sim::kHeldOutSeeds.size());
  for (size_t i = 0; i < count; i++) out.push_back(wanted.heldOut ? sim::kHeldOutSeeds[i] : i + 1);
  return out;
}

Result<const sim::Shape*> shapeOf(const Wanted& wanted) {
  if (const sim::Shape* shape = sim::findShape(wanted.shape)) return shape;
  std::vector<std::string_view> names;
  for (const sim::Shape& shape : sim::shapes()) names.push_back(shape.name);
  return invalid("--shape '{}'{}: want {}", wanted.shape, didYouMean(wanted.shape, names),
                 join(names, ", "));
}

// Where traces come from: a file, which every seed gives other noise, or a shape.
Result<> findTraces(const Wanted& wanted, sim::CompareOptions& options) {
  if (wanted.traces.size() + !wanted.shape.empty() != 1)
    return invalid("want one trace, or --shape {}", sim::shapes().front().name);
  if (!wanted.traces.empty()) {
    auto text = readFile(wanted.traces[0]);
    if (!text) return pass(text.error());
    auto trace = sim::readTrace(*text, wanted.traces[0]);
    if (!trace) return pass(trace.error());
    options.about = wanted.traces[0];
    options.traceOf = [trace = *trace](uint64_t) { return trace; };
    return {};
  }
  auto shape = shapeOf(wanted);
  if (!shape) return pass(shape.error());
  if (wanted.nodes < 1 || wanted.days < 1)
    return invalid("--nodes {} --days {}: want at least one of each", wanted.nodes, wanted.days);
  sim::GenerateOptions size{wanted.nodes, wanted.days, wanted.pods, 1};
  options.about = "shape " + wanted.shape;
  options.traceOf = [shape = *shape, size](uint64_t seed) mutable {
    size.seed = seed;
    return sim::generate(*shape, size);
  };
  return {};
}

// One line that is written over at a terminal; now and then a line elsewhere.
class Progress {
 public:
  void operator()(double share) {
    const MonoTime now = realClock().mono();
    if (now - told_ < (isTerminal_ ? std::chrono::seconds(1) : std::chrono::seconds(15))) return;
    told_ = now;
    const double gone = std::chrono::duration<double>(now - begun_).count();
    const double left = share > 0 ? gone * (1 - share) / share : 0;
    fmt::print(stderr, "{}{:.0f} % done, about {:.0f} s left{}", isTerminal_ ? "\r" : "",
               100 * share, left, isTerminal_ ? "   " : "\n");
    std::fflush(stderr);
    any_ = true;
  }
  void end() {
    if (any_ && isTerminal_) fmt::print(stderr, "\n");
  }

 private:
  bool isTerminal_ = ::isatty(STDERR_FILENO) == 1, any_ = false;
  MonoTime begun_ = realClock().mono(), told_ = begun_;
};

int showPolicy(const frame::Flags& flags, const std::string& name) {
  auto text = sim::builtInPolicyText(name);
  if (!text) return complain(flags, text.error(), kWrongUsage);
  fmt::print("{}", *text);
  return 0;
}

int runAll(const frame::Flags& flags, const Wanted& wanted, sim::CompareOptions& options) {
  Progress progress;
  options.progress = [&](double share) { progress(share); };
  auto done = sim::compare(options);
  progress.end();
  if (!done) return complain(flags, done.error());
  if (!wanted.report.empty()) {
    if (auto ok = writeFileAtomically(wanted.report, sim::toHtml(*done)); !ok)
      return complain(flags, ok.error());
  }
  wanted.output.show(sim::toJson(*done), sim::toTable(*done));
  return 0;
}

void declare(frame::Flags& flags, Wanted& wanted) {
  flags.add("config", wanted.configs,
            "a slo-controller-config to try, as YAML; may be given again to compare");
  flags.add("policy", wanted.policies,
            "a built-in policy to try: reference, max-usage-request, request-memory, ours, oracle, "
            "careless");
  flags.add("print-policy", wanted.print, "print the ConfigMap of a built-in policy, and end");
  flags.add("shape", wanted.shape, "make traces of this shape: commerce, cells or tenants");
  flags.add("nodes", wanted.nodes, "of a shape: machines");
  flags.add("days", wanted.days, "of a shape: length, from a Monday on");
  flags.add("pods", wanted.pods,
            "of a shape: replicas and tasks together, with the same work; 0: as the shape has it");
  flags.add("held-out", wanted.heldOut, "take the seeds that no policy was tuned by");
  flags.add("exact", wanted.exact, "decide every second, also where nothing can change");
  flags.add("report", wanted.report, "write a page with plots there, such as report.html");
  flags.positionals("TRACE", wanted.traces, "a trace (docs/simulator.md)");
  wanted.sim.declare(flags);
  wanted.output.declare(flags);
}

}  // namespace

int simulator(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove sim",
                     "lives through days of a cluster under several policies, by the product's own "
                     "decisions");
  declare(flags, wanted);
  if (const auto end = readArguments(flags, args)) return *end;
  if (!wanted.print.empty()) return showPolicy(flags, wanted.print);
  if (auto ok = wanted.sim.check(); !ok) return complain(flags, ok.error(), kWrongUsage);
  sim::CompareOptions options;
  if (auto ok = findTraces(wanted, options); !ok) return complain(flags, ok.error(), kWrongUsage);
  auto seeds = seedsOf(wanted);
  if (!seeds) return complain(flags, seeds.error(), kWrongUsage);
  options.seeds = *seeds;
  if (!wanted.sim.write.empty()) {
    auto ok =
        writeFileAtomically(wanted.sim.write, sim::writeTrace(options.traceOf(seeds->front())));
    return ok ? 0 : complain(flags, ok.error());
  }
  auto policies = policiesOf(wanted);
  if (!policies) return complain(flags, policies.error(), kWrongUsage);
  options.policies = std::move(*policies);
  options.each.threads = wanted.sim.threads;
  options.each.stepping = wanted.exact ? sim::Stepping::kExact : sim::Stepping::kAdaptive;
  return runAll(flags, wanted, options);
}

}  // namespace mangrove::cli
