#include "descheduler/plugins/fragmentation_aware.h"

#include <cmath>
#include <set>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "base/os/log.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

api::ResourceList requestedOn(const Look& look, const api::Node& node) {
  api::ResourceList sum;
  for (const api::Pod* pod : look.activeOn(node.meta.name.view())) sum.add(api::podRequests(*pod));
  return sum;
}

}  // namespace

Result<FragmentationArgs> readFragmentationArgs(const json::Value& value) {
  Args args(value, "FragmentationAwareArgs");
  args.only({"paused", "dryRun", "nodeSelector", "evictableNamespaces", "podSelectors", "nodeFit",
             "resources", "imbalanceThreshold", "minImprovementThreshold"});
  FragmentationArgs out;
  out.paused = args.boolean("paused", false);
  out.dryRun = args.boolean("dryRun", false);
  out.nodeFit = args.boolean("nodeFit", true);
  out.nodeSelector = readSelector(args, "nodeSelector");
  out.choice = readPodChoice(args);
  if (args.has("resources")) out.resources = args.texts("resources");
  const std::set<std::string> distinct(out.resources.begin(), out.resources.end());
  if (out.resources.empty() || distinct.size() != out.resources.size()) {
    args.complain("resources must be named, each once");
  }
  out.imbalance = args.number("imbalanceThreshold", out.imbalance);
  out.improvement = args.number("minImprovementThreshold", out.improvement);
  if (out.imbalance < 0 || out.improvement < 0) {
    args.complain("imbalanceThreshold and minImprovementThreshold must be 0 or more");
  }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

double imbalanceOf(const api::ResourceList& requested, const api::ResourceList& allocatable,
                   const std::vector<std::string>& resources) {
  std::vector<double> fractions;
  double sum = 0;
  for (const std::string& name : resources) {
    const double whole = allocatable.amount(name).approximate();
    if (whole <= 0) continue;
    fractions.push_back(requested.amount(name).approximate() / whole);
    sum += fractions.back();
  }
  if (fractions.size() < 2) return 0;
  const double mean = sum / static_cast<double>(fractions.size());
  double squares = 0;
  for (const double fraction : fractions) squares += (fraction - mean) * (fraction - mean);
  return std::sqrt(squares / static_cast<double>(fractions.size()));
}

FragmentationAware::Best FragmentationAware::bestOf(const api::Node& node,
                                                    const api::ResourceList& requested,
                                                    double before, const Nodes& others,
                                                    Round& round) const {
  Best best;
  const Pods pods = round.look.activeOn(node.meta.name.view());
  for (const api::Pod* pod : evictable(pods, args_.choice, round.evictor)) {
    if (args_.nodeFit && !round.fit.fitsAny(*pod, others)) continue;
    api::ResourceList left = requested;
    left.subtract(api::podRequests(*pod));
    const double after = imbalanceOf(left, node.status.allocatable, args_.resources);
    if (before - after > args_.improvement && before - after > best.gain) {
      best = {pod, after, before - after};
    }
  }
  return best;
}

Result<> FragmentationAware::run(Round& round) {
  if (args_.paused) return {};
  const Nodes nodes = matching(args_.nodeSelector, round.nodes);
  for (const api::Node* node : nodes) {
    const api::ResourceList requested = requestedOn(round.look, *node);
    const double before = imbalanceOf(requested, node->status.allocatable, args_.resources);
    if (before <= args_.imbalance) continue;
    Nodes others = nodes;
    std::erase(others, node);
    const Best best = bestOf(*node, requested, before, others, round);
    if (best.pod == nullptr || !round.evictor.permitsNow(*best.pod)) continue;
    const std::string reason =
        fmt::format("fragmentation reduction: stdBefore={:.4f} stdAfter={:.4f} gain={:.4f}", before,
                    best.after, best.gain);
    if (args_.dryRun) {
      log.info("dry run: would evict {}: {}", api::keyOf(best.pod->meta).text(), reason);
    } else {
      round.evictor.evict(*best.pod, kName, reason);
    }
  }
  return {};
}

}  // namespace mangrove::descheduler
