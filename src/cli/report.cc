// mangrove report: what colocation costs a service on a running system.
#include <cstdlib>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/os/files.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "client/http/http_api_client.h"
#include "client/http/kubeconfig.h"
#include "frame/flags.h"
#include "frame/interrupt.h"
#include "report/experiment.h"

namespace mangrove::cli {
namespace {

struct ReportFlags {
  mangrove::report::ExperimentOptions experiment;
  mangrove::report::CompareOptions compare;
  std::string kubeconfig, html, save, from;
  Output output;
  std::string unit = "s", logUnit = "ms";
  int64_t leastRequests = 100;
};

void addFlags(frame::Flags& flags, ReportFlags& r) {
  auto& e = r.experiment;
  flags.add("nodes", e.nodes, "nodes to switch on and off in random order");
  flags.add("label", e.label, "node label that switches; the default is the agent's kill switch");
  flags.add("on", e.on, "its value for 'on'; '' takes the label away");
  flags.add("off", e.off, "its value for 'off'");
  flags.add("command", e.command,
            "instead of the label: run by sh with $NODE and $STATE (on, off)");
  flags.add("colocated", e.colocated, "address of replicas with batch work beside them");
  flags.add("reserved", e.reserved, "address of replicas without");
  flags.add("pairs", e.pairs, "pairs of an on and an off window, on every node");
  flags.add("window", e.window, "length of one window");
  flags.add("settle", e.settle, "after a switch, before the window");
  flags.add("seed", e.seed, "of the order");
  flags.add("prometheus", e.source.prometheus, "metrics page; {node} is the node's address");
  flags.add("histogram", e.source.histogram, "its latency histogram, without _bucket");
  flags.add("labels", e.source.labels, "what the histogram's labels contain, e.g. route=\"/\"");
  flags.add("unit", r.unit, "of the histogram: s, ms or us");
  flags.add("probe", e.source.probe, "address to ask over and over; {node} as above");
  flags.add("probe-rate", e.source.probeRate, "requests a second");
  flags.add("log", e.source.log, "log of the service, one request a line");
  flags.add("log-key", e.source.format.key, "latency's name in JSON or key=value lines");
  flags.add("log-field", e.source.format.field, "else its word, from 1; negative: from the end");
  flags.add("log-unit", r.logUnit, "of the log: s, ms or us");
  flags.add("least-requests", r.leastRequests, "windows with fewer are left out");
  flags.add("confidence", r.compare.confidence, "of the intervals");
  flags.add("kubeconfig", r.kubeconfig, "the cluster; $KUBECONFIG or that of mangrove up");
  flags.add("from", r.from, "no experiment: windows that --save wrote");
  flags.add("save", r.save, "file for the windows");
  flags.add("html", r.html, "page to write");
  r.output.declare(flags);
}

Result<double> millisPer(const std::string& flag, const std::string& unit) {
  if (unit == "s") return 1000.0;
  if (unit == "ms") return 1.0;
  if (unit == "us") return 0.001;
  return invalid("--{} {}: want s, ms or us", flag, unit);
}

Result<> checkFlags(ReportFlags& r) {
  auto unit = millisPer("unit", r.unit), logUnit = millisPer("log-unit", r.logUnit);
  if (!unit) return pass(unit.error());
  if (!logUnit) return pass(logUnit.error());
  r.experiment.source.scale = *unit;
  r.experiment.source.format.toMillis = *logUnit;
  if (r.leastRequests < 1) return invalid("--least-requests {}: want 1 or more", r.leastRequests);
  r.compare.leastRequests = static_cast<uint64_t>(r.leastRequests);
  if (r.compare.confidence <= 0 || r.compare.confidence >= 1)
    return invalid("--confidence {}: want between 0 and 1, e.g. 0.95", r.compare.confidence);
  if (r.experiment.colocated.empty() != r.experiment.reserved.empty())
    return invalid("--colocated and --reserved go together");
  if (!r.experiment.colocated.empty()) {
    r.compare.design = mangrove::report::Design::kReplicas;
    // Which kind of source the two addresses are is said by --histogram.
    auto& source = r.experiment.source;
    (source.histogram.empty() ? source.probe : source.prometheus) = r.experiment.colocated;
  }
  return {};
}

Result<std::unique_ptr<client::ApiClient>> clusterOf(const ReportFlags& r, net::Loop& loop) {
  const ClusterAccess access{.kubeconfig = r.kubeconfig, .context = "", .aboutThisMachine = true};
  auto made = access.open(loop, {.userAgent = "mangrove-report"});
  if (!made) return pass(made.error());
  return std::unique_ptr<client::ApiClient>(std::move(*made));
}

Result<std::vector<mangrove::report::Window>> observe(const ReportFlags& r) {
  if (!r.from.empty()) {
    auto text = readFile(r.from);
    if (!text) return pass(text.error());
    return mangrove::report::fromCsv(*text);
  }
  frame::Interrupt interrupt;
  net::Loop loop;
  // Replicas and commands need no cluster; batch figures are had where there is one.
  auto api = clusterOf(r, loop);
  const bool needed = r.experiment.colocated.empty() && r.experiment.command.empty();
  if (!api && needed) return pass(api.error());
  mangrove::report::Experiment experiment(api ? api->get() : nullptr, loop, interrupt,
                                          r.experiment);
  experiment.onWindow([](const mangrove::report::Window& w) {
    fmt::print(stderr, "{} pair {} {:<3}: {} requests, p50 {:.2f} ms, p99 {:.2f} ms\n", w.place,
               w.pair + 1, w.arm == mangrove::report::Arm::kOn ? "on" : "off", w.requests, w.p50,
               w.p99);
  });
  auto done = experiment.run();
  // Interrupted: what there was so far is still worth its table.
  if (!done && (!interrupt.came() || experiment.windows().empty())) return pass(done.error());
  return experiment.windows();
}

Result<> perform(const ReportFlags& r) {
  auto windows = observe(r);
  if (!windows) return pass(windows.error());
  if (!r.save.empty())
    if (auto ok = writeFileAtomically(r.save, mangrove::report::toCsv(*windows)); !ok) return ok;
  const auto comparison = mangrove::report::compareWindows(*windows, r.compare);
  r.output.show(mangrove::report::toJson(comparison, *windows),
                mangrove::report::toTable(comparison));
  if (r.html.empty()) return {};
  return writeFileAtomically(
      r.html,
      mangrove::report::toHtml(comparison, *windows, "Method and assumptions: docs/impact.md."));
}

}  // namespace

int report(const std::vector<std::string>& args) {
  ReportFlags r;
  frame::Flags flags("mangrove report",
                     "what colocation costs a service on a running system, with its uncertainty");
  addFlags(flags, r);
  if (const auto end = readArguments(flags, args)) return *end;
  if (auto fine = checkFlags(r); !fine) return complain(flags, fine.error(), kWrongUsage);
  auto done = perform(r);
  return done ? 0 : complain(flags, done.error());
}

}  // namespace mangrove::cli
