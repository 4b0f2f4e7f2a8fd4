#include "descheduler/migration/args.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "api/select/selector.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"

namespace mangrove::descheduler {
namespace {

constexpr std::array<std::string_view, 14> kGates = {"MaxUnavailablePerWorkload",
                                                     "MaxMigratingPerWorkload",
                                                     "MaxMigratingPerNode",
                                                     "MaxMigratingPerNamespace",
                                                     "MaxMigratingGlobally",
                                                     "ExpectedReplicas",
                                                     "PVC",
                                                     "BarePods",
                                                     "LocalStorage",
                                                     "SystemCritical",
                                                     "PriorityThreshold",
                                                     "LabelSelector",
                                                     "Namespaces",
                                                     "NodeFit"};

std::optional<api::IntOrString> readIntOrPercent(Args& args, std::string_view key) {
  const json::Value* value = args.find(key);
  if (value == nullptr) return std::nullopt;
  auto out = api::decodeText<api::IntOrString>(json::write(*value));
  const auto judged = out ? maxOfWorkload(1, *out) : Result<int64_t>(pass(out.error()));
  if (!judged) args.complain(fmt::format("{}: {}", key, judged.error().text()));
  return out ? std::optional(*out) : std::nullopt;
}

std::optional<int64_t> readLimit(Args& args, std::string_view key) {
  if (!args.has(key)) return std::nullopt;
  return args.integer(key, 0);
}

void readGates(Args& args, MigrationArgs& out) {
  for (std::string& gate : args.texts("skipEvictionGates")) {
    if (std::find(kGates.begin(), kGates.end(), gate) == kGates.end()) {
      const std::vector<std::string_view> known(kGates.begin(), kGates.end());
      args.complain(
          fmt::format("skipEvictionGates: unknown gate '{}'{}", gate, didYouMean(gate, known)));
    }
    out.skipGates.insert(std::move(gate));
  }
}

void readLimits(Args& args, MigrationArgs& out) {
  MigrationLimits& limits = out.limits;
  limits.globally = readLimit(args, "maxMigratingGlobally");
  limits.perNode = args.integer("maxMigratingPerNode", 2);
  limits.perNamespace = readLimit(args, "maxMigratingPerNamespace");
  limits.perWorkload = readIntOrPercent(args, "maxMigratingPerWorkload");
  limits.unavailable = readIntOrPercent(args, "maxUnavailablePerWorkload");
  limits.skipReplicasCheck =
      args.boolean("skipCheckExpectedReplicas", false) || !out.checks("ExpectedReplicas");
  if (!out.checks("MaxMigratingGlobally")) limits.globally.reset();
  if (!out.checks("MaxMigratingPerNode")) limits.perNode.reset();
  if (!out.checks("MaxMigratingPerNamespace")) limits.perNamespace.reset();
  limits.skipWorkloadMigrating = !out.checks("MaxMigratingPerWorkload");
  limits.skipWorkloadUnavailable = !out.checks("MaxUnavailablePerWorkload");
}

ObjectLimit readObjectLimit(Args& limiters, std::string_view key, ObjectLimit out) {
  Args part = limiters.object(key);
  part.only({"duration", "maxMigrating", "burst"});
  out.duration = part.duration("duration").value_or(out.duration);
  out.most = readIntOrPercent(part, "maxMigrating");
  out.burst = std::max<int64_t>(1, part.integer("burst", 1));
  if (out.duration < Duration::zero()) part.complain("duration is negative, want 0 or more");
  limiters.take(part);
  return out;
}

void readObjectLimits(Args& args, MigrationArgs& out) {
  Args part = args.object("objectLimiters");
  part.only({"workload", "namespace"});
  out.perWorkload = readObjectLimit(part, "workload", out.perWorkload);
  out.perNamespace = readObjectLimit(part, "namespace", out.perNamespace);
  if (out.perNamespace.most && out.perNamespace.most->isText) {
    part.complain("namespace.maxMigrating is a percentage, want a number");
  }
  args.take(part);
}

void readPriority(Args& args, MigrationArgs& out) {
  Args part = args.object("priorityThreshold");
  part.only({"value", "name"});
  if (part.has("value")) out.priorityThreshold = part.integer("value", 0);
  out.priorityThresholdName = part.text("name");
  if (out.priorityThreshold && !out.priorityThresholdName.empty()) {
    part.complain("value and name are both set, want one of them");
  }
  args.take(part);
}

void oneOf(Args& args, std::string_view key, const std::string& value,
           std::initializer_list<std::string_view> known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  args.complain(fmt::format("{} is '{}', want {}", key, value, join(known, " or ")));
}

void readHow(Args& args, MigrationArgs& out) {
  out.mode = args.text("defaultJobMode", out.mode);
  oneOf(args, "defaultJobMode", out.mode, {"ReservationFirst", "EvictDirectly"});
  out.ttl = args.duration("defaultJobTTL").value_or(out.ttl);
  if (out.ttl < Duration::zero()) args.complain("defaultJobTTL is negative, want 0 or more");
  if (args.has("schedulerNames")) out.schedulerNames = args.texts("schedulerNames");
  out.evictionPolicy = args.text("evictionPolicy", out.evictionPolicy);
  oneOf(args, "evictionPolicy", out.evictionPolicy, {"Eviction", "Delete", "SoftEviction"});
  if (const json::Value* options = args.find("defaultDeleteOptions")) {
    out.deleteOptions = json::write(*options);
  }
  out.evictBurst = args.integer("evictBurst", 1);
  if (out.evictBurst <= 0) args.complain("evictBurst is not positive, want at least 1");
}

void readProof(Args& args, MigrationArgs& out) {
  out.provenMoves = args.boolean("provenMoves", false);
  out.evictUnplaceable = args.boolean("evictUnplaceable", false);
  out.coolDown = args.duration("coolDown").value_or(out.coolDown);
  if (out.coolDown < Duration::zero()) args.complain("coolDown is negative, want 0 or more");
  if (args.has("coolDown") && !out.provenMoves)
    args.complain("coolDown without provenMoves has no effect, want both");
  out.maxUnplaceablePerWorkload = args.integer("maxUnplaceablePerWorkload", 1);
  if (out.evictUnplaceable && !out.provenMoves)
    args.complain("evictUnplaceable without provenMoves has no effect, want both");
  if (out.maxUnplaceablePerWorkload < 1)
    args.complain(fmt::format("maxUnplaceablePerWorkload is {}, want at least 1",
                              out.maxUnplaceablePerWorkload));
}

// A number, or a number in quotes.
void readQps(Args& args, MigrationArgs& out) {
  const json::Value* value = args.find("evictQPS");
  if (value == nullptr) return;
  const json::Value parsed =
      value->is_string() ? json::parse(value->get_string()).value_or(json::Value()) : *value;
  out.evictQps = parsed.is_number() ? parsed.to_number<double>() : 0;
  if (out.evictQps <= 0) {
    args.complain(fmt::format("evictQPS is {}, want a number above 0", json::write(*value)));
  }
}

}  // namespace

void readWhom(Args& args, MigrationArgs& out) {
  out.evictFailedBarePods = args.boolean("evictFailedBarePods", false);
  out.evictAllBarePods = args.boolean("evictAllBarePods", false);
  out.evictLocalStoragePods = args.boolean("evictLocalStoragePods", false);
  out.evictSystemCriticalPods = args.boolean("evictSystemCriticalPods", false);
  out.ignorePvcPods = args.boolean("ignorePvcPods", false);
  readPriority(args, out);
  out.labelSelector = readSelector(args, "labelSelector");
  out.namespaces = readNamespaces(args, "namespaces");
  out.nodeFit = args.boolean("nodeFit", false);
  if (const std::string text = args.text("nodeSelector"); !text.empty()) {
    auto selector = api::Selector::parse(text);
    if (!selector) args.complain(fmt::format("nodeSelector: {}", selector.error().text()));
    if (selector) out.nodeSelector = std::move(*selector);
  }
}

Result<MigrationArgs> readMigrationArgs(const json::Value& value) {
  Args args(value, "MigrationControllerArgs");
  args.only({"dryRun",
             "maxConcurrentReconciles",
             "evictFailedBarePods",
             "evictAllBarePods",
             "evictLocalStoragePods",
             "evictSystemCriticalPods",
             "ignorePvcPods",
             "priorityThreshold",
             "labelSelector",
             "namespaces",
             "nodeFit",
             "nodeSelector",
             "skipEvictionGates",
             "maxMigratingGlobally",
             "maxMigratingPerNode",
             "maxMigratingPerNamespace",
             "maxMigratingPerWorkload",
             "maxUnavailablePerWorkload",
             "skipCheckExpectedReplicas",
             "objectLimiters",
             "defaultJobMode",
             "defaultJobTTL",
             "schedulerNames",
             "evictQPS",
             "evictBurst",
             "evictionPolicy",
             "defaultDeleteOptions",
             "arbitrationArgs",
             "provenMoves",
             "evictUnplaceable",
             "coolDown",
             "maxUnplaceablePerWorkload"});
  MigrationArgs out;
  out.dryRun = args.boolean("dryRun", false);
  out.maxConcurrentReconciles = args.integer("maxConcurrentReconciles", 1);
  if (out.maxConcurrentReconciles < 1) args.complain("maxConcurrentReconciles: want at least 1");
  readProof(args, out);
  readGates(args, out);
  readWhom(args, out);
  readLimits(args, out);
  readObjectLimits(args, out);
  readHow(args, out);
  readQps(args, out);
  Args arbitration = args.object("arbitrationArgs");
  arbitration.only({"enabled", "interval"});
  out.arbitrationInterval = arbitration.duration("interval").value_or(out.arbitrationInterval);
  args.take(arbitration);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::descheduler
