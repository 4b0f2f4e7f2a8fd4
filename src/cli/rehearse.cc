// mangrove rehearse: what another slo-controller-config would have done to the last recorded day.
#include "sim/rehearse.h"

#include <fmt/core.h>

#include "base/os/files.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/sim_options.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "frame/record/ring_file.h"
#include "sim/recorded.h"

namespace mangrove::cli {
namespace {

struct Wanted {
  std::string file, record, base;
  Duration last = std::chrono::hours(24);
  SimOptions sim{.seeds = 5, .write = {}};
  Output output;
};

// The configuration of then: a file, or as the recording has it last.
Result<sim::Policy> policyOfThen(const Wanted& wanted, const sim::RecordedCluster& cluster) {
  if (!wanted.base.empty()) return wanted.sim.policyIn(wanted.base);
  if (!cluster.config())
    return invalid(
        "the recording shows no slo-controller-config: name the one of then with --base");
  auto policy = sim::policyOf(*cluster.config(), "as it was");
  if (policy) policy->busyNode = wanted.sim.busyNode;
  return policy;
}

Result<sim::Rehearsal> run(const Wanted& wanted) {
  const std::string mate = wanted.record + ".koord-manager";  // as up records it
  const bool isUp = !frame::record::ringParts(mate).empty();
  sim::RecordedCluster cluster;
  if (auto ok = sim::readRecording(isUp ? mate : wanted.record, cluster); !ok)
    return ok.error().in("--record");
  auto trace = cluster.trace(wanted.last);
  if (!trace) return trace.error().in("--record {}", wanted.record);
  if (!wanted.sim.write.empty())
    if (auto ok = writeFileAtomically(wanted.sim.write, sim::writeTrace(*trace)); !ok)
      return ok.error().in("--write");
  auto now = policyOfThen(wanted, cluster);
  if (!now) return pass(now.error());
  auto then = wanted.sim.policyIn(wanted.file);
  if (!then) return pass(then.error());
  sim::RehearseOptions options{std::move(*trace), std::move(*now), std::move(*then), {}, {}, {}};
  for (int64_t i = 1; i <= wanted.sim.seeds; i++) options.seeds.push_back(static_cast<uint64_t>(i));
  options.each.threads = wanted.sim.threads;
  return sim::rehearse(options);
}

void declare(frame::Flags& flags, Wanted& wanted) {
  flags.add("f", wanted.file, "the slo-controller-config to try, as YAML");
  flags.add("record", wanted.record,
            "the recording, as --record of the manager or of up was given");
  flags.add("last", wanted.last, "so much of its end");
  flags.add("base", wanted.base,
            "the slo-controller-config to compare with; the recorded one when not given");
  wanted.sim.declare(flags);
  wanted.output.declare(flags);
}

}  // namespace

int rehearse(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove rehearse",
                     "lives through the last recorded day with another slo-controller-config and "
                     "says what would have been different");
  declare(flags, wanted);
  if (const auto end = readArguments(flags, args)) return *end;
  if (wanted.file.empty() || wanted.record.empty())
    return complain(flags, Error(Code::kInvalid, "want -f FILE and --record FILE"), kWrongUsage);
  if (auto ok = wanted.sim.check(); !ok) return complain(flags, ok.error(), kWrongUsage);
  auto done = run(wanted);
  if (!done) return complain(flags, done.error());
  wanted.output.show(sim::toJson(*done), sim::toTable(*done));
  return 0;
}

}  // namespace mangrove::cli
