// mangrove rehearse: what another slo-controller-config would have done to the last recorded day.
#include "sim/rehearse.h"

#include <fmt/core.h>

#include "base/os/files.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "frame/flags.h"
#include "frame/record/ring_file.h"
#include "sim/recorded.h"

namespace mangrove::cli {
namespace {

struct Wanted {
  std::string file, record, base, write;
  Duration last = std::chrono::hours(24);
  int64_t seeds = 5, threads = 2, busyNode = 65;
  Output output;
};

Result<sim::Policy> policyIn(const std::string& file, const Wanted& wanted) {
  auto text = readFile(file);
  if (!text) return pass(text.error());
  auto policy = sim::readPolicy(*text, file);
  if (policy) policy->busyNode = wanted.busyNode;
  return policy;
}

// The configuration of then: a file, or as the recording has it last.
Result<sim::Policy> policyOfThen(const Wanted& wanted, const sim::RecordedCluster& cluster) {
  if (!wanted.base.empty()) return policyIn(wanted.base, wanted);
  if (!cluster.config())
    return invalid(
        "the recording shows no slo-controller-config: name the one of then with --base");
  auto policy = sim::policyOf(*cluster.config(), "as it was");
  if (policy) policy->busyNode = wanted.busyNode;
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
  if (!wanted.write.empty())
    if (auto ok = writeFileAtomically(wanted.write, sim::writeTrace(*trace)); !ok)
      return ok.error().in("--write");
  auto now = policyOfThen(wanted, cluster);
  if (!now) return pass(now.error());
  auto then = policyIn(wanted.file, wanted);
  if (!then) return pass(then.error());
  sim::RehearseOptions options{std::move(*trace), std::move(*now), std::move(*then), {}, {}, {}};
  for (int64_t i = 1; i <= wanted.seeds; i++) options.seeds.push_back(static_cast<uint64_t>(i));
  options.each.threads = wanted.threads;
  return sim::rehearse(options);
}

void declare(frame::Flags& flags, Wanted& wanted) {
  flags.add("f", wanted.file, "the slo-controller-config to try, as YAML");
  flags.add("record", wanted.record,
            "the recording, as --record of the manager or of up was given");
  flags.add("last", wanted.last, "so much of its end");
  flags.add("base", wanted.base,
            "the slo-controller-config to compare with; the recorded one when not given");
  flags.add("busy-node", wanted.busyNode,
            "percent of CPU from which on the scheduler leaves a node alone");
  flags.add("seeds", wanted.seeds, "how often, each time with other noise");
  flags.add("threads", wanted.threads, "for the steps of nodes");
  flags.add("write", wanted.write, "write the recording as a trace of mangrove sim there as well");
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
  if (wanted.seeds < 1 || wanted.seeds > 1000)
    return complain(flags, Error(Code::kInvalid, "--seeds: want 1 to 1000"), kWrongUsage);
  auto done = run(wanted);
  if (!done) return complain(flags, done.error());
  wanted.output.show(sim::toJson(*done), sim::toTable(*done));
  return 0;
}

}  // namespace mangrove::cli
