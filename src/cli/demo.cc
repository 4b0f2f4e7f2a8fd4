// mangrove demo: what colocation brings and costs on this machine, and the processes it is made of.
#include "demo/demo.h"

#include <fmt/core.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "demo/parts.h"
#include "frame/flags.h"

namespace mangrove::cli {

int demo(const std::vector<std::string>& args) {
  mangrove::demo::DemoOptions options;
  frame::Flags flags(
      "mangrove demo",
      "a service beside batch work on this machine, measured (about 4 minutes, root)");
  flags.add("rounds", options.rounds, "hours of the compressed day; at least 8 for intervals");
  flags.add("seconds", options.length, "measured part of one block, e.g. 3200ms");
  flags.add("settle", options.settle, "between the change of condition and the measured part");
  flags.add("rate", options.rate, "mean requests a second; 0: by the number of CPUs");
  flags.add("service", options.service, "built-in, nginx or redis");
  flags.add("strangers", options.discard.strangers.mostStrangers,
            "cores others may use; blocks with more are thrown away");
  flags.add("steal", options.discard.mostSteal, "the same for what a hypervisor takes");
  flags.add("seed", options.seed, "of the order and of the requests");
  flags.add("report", options.report, "page to write; '' for none");
  flags.add("json", options.json, "file for all figures; none by default");
  if (const auto end = readArguments(flags, args)) return *end;
  if (options.rounds < 1)
    return complain(
        flags, Error(Code::kInvalid, fmt::format("--rounds {}: want 1 or more", options.rounds)),
        kWrongUsage);
  return mangrove::demo::runDemo(options);
}

int demoPart(const std::vector<std::string>& args) {
  mangrove::demo::PartOptions options;
  frame::Flags flags("mangrove demo-part", "a process of mangrove demo");
  flags.add("part", options.what, "service, batch, awake or load");
  flags.add("board", options.board, "the demo's shared memory");
  flags.add("workers", options.workers, "batch processes");
  flags.add("first", options.first, "number of the first of them");
  flags.add("service", options.service, "built-in, nginx or redis");
  flags.add("port", options.port, "of the service");
  flags.add("dir", options.dir, "for its files");
  flags.add("rate", options.rate, "requests a second");
  flags.add("length", options.length, "of the load");
  flags.add("seed", options.seed, "of the load");
  if (const auto end = readArguments(flags, args)) return *end;
  auto done = mangrove::demo::runPart(options);
  return done ? 0 : complain(flags, done.error());
}

}  // namespace mangrove::cli
