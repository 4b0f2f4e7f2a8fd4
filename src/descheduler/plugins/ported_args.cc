#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "descheduler/plugins/anti_affinity.h"
#include "descheduler/plugins/topology_spread.h"

namespace mangrove::descheduler {
namespace {

PodScope readScope(Args& args) {
  PodScope out;
  out.namespaces = readNamespaces(args, "namespaces");
  out.labelSelector = readSelector(args, "labelSelector");
  return out;
}

std::set<std::string, std::less<>> readSet(Args& args, std::string_view key) {
  std::set<std::string, std::less<>> out;
  for (std::string& text : args.texts(key)) out.insert(std::move(text));
  return out;
}

template <class T>
Result<T> done(const Args& args, T out) {
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace

Result<PodLifeTimeArgs> readPodLifeTimeArgs(const json::Value& value) {
  Args args(value, "PodLifeTimeArgs");
  args.only({"namespaces", "labelSelector", "maxPodLifeTimeSeconds", "states",
             "includingInitContainers"});
  PodLifeTimeArgs out;
  out.scope = readScope(args);
  if (args.has("maxPodLifeTimeSeconds")) out.maxSeconds = args.integer("maxPodLifeTimeSeconds", 0);
  out.states = readSet(args, "states");
  out.includingInitContainers = args.boolean("includingInitContainers", false);
  if (!out.maxSeconds && out.states.empty()) {
    args.complain("neither maxPodLifeTimeSeconds nor states is set, want at least one");
  }
  return done(args, std::move(out));
}

Result<FailedPodsArgs> readFailedPodsArgs(const json::Value& value) {
  Args args(value, "RemoveFailedPodsArgs");
  args.only({"namespaces", "labelSelector", "minPodLifetimeSeconds", "reasons", "exitCodes",
             "excludeOwnerKinds", "includingInitContainers"});
  FailedPodsArgs out;
  out.scope = readScope(args);
  out.minSeconds = args.integer("minPodLifetimeSeconds", out.minSeconds);
  out.reasons = readSet(args, "reasons");
  out.excludeOwnerKinds = readSet(args, "excludeOwnerKinds");
  out.includingInitContainers = args.boolean("includingInitContainers", false);
  for (const json::Value& code : args.list("exitCodes")) {
    if (code.is_int64()) {
      out.exitCodes.insert(code.get_int64());
    } else {
      args.complain(fmt::format("exitCodes: found {}, want integers", json::write(code)));
    }
  }
  return done(args, std::move(out));
}

Result<RestartsArgs> readRestartsArgs(const json::Value& value) {
  Args args(value, "RemovePodsHavingTooManyRestartsArgs");
  args.only(
      {"namespaces", "labelSelector", "podRestartThreshold", "includingInitContainers", "states"});
  RestartsArgs out;
  out.scope = readScope(args);
  out.threshold = args.integer("podRestartThreshold", 0);
  if (out.threshold < 1) args.complain("podRestartThreshold must be at least 1");
  out.includingInitContainers = args.boolean("includingInitContainers", false);
  out.states = readSet(args, "states");
  for (const std::string& state : out.states) {
    if (state != "Running" && state != "CrashLoopBackOff") {
      args.complain(fmt::format("states has '{}', want Running or CrashLoopBackOff", state));
    }
  }
  return done(args, std::move(out));
}

Result<NodeAffinityArgs> readNodeAffinityArgs(const json::Value& value) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  Args args(value, "RemovePodsViolatingNodeAffinityArgs");
  args.only({"namespaces", "labelSelector", "nodeAffinityType"});
  NodeAffinityArgs out;
  out.scope = readScope(args);
  for (const std::string& type : args.texts("nodeAffinityType")) {
    out.required = out.required || type == kRequired;
    out.preferred = out.preferred || type == kPreferred;
    if (type != kRequired && type != kPreferred) {
      args.complain(
          fmt::format("nodeAffinityType has '{}', want {} or {}", type, kRequired, kPreferred));
    }
  }
  if (!out.required && !out.preferred) args.complain("nodeAffinityType names no type");
  return done(args, std::move(out));
}

Result<NodeTaintsArgs> readNodeTaintsArgs(const json::Value& value) {
  Args args(value, "RemovePodsViolatingNodeTaintsArgs");
  args.only({"namespaces", "labelSelector", "includePreferNoSchedule", "excludedTaints",
             "includedTaints"});
  NodeTaintsArgs out;
  out.scope = readScope(args);
  out.includePreferNoSchedule = args.boolean("includePreferNoSchedule", false);
  out.excluded = args.texts("excludedTaints");
  out.included = args.texts("includedTaints");
  if (!out.excluded.empty() && !out.included.empty()) {
    args.complain("excludedTaints and includedTaints are both set, want one of them");
  }
  return done(args, std::move(out));
}

Result<AntiAffinityArgs> readAntiAffinityArgs(const json::Value& value) {
  Args args(value, "RemovePodsViolatingInterPodAntiAffinityArgs");
  args.only({"namespaces", "labelSelector"});
  AntiAffinityArgs out{readScope(args)};
  return done(args, std::move(out));
}

Result<TopologySpreadArgs> readTopologySpreadArgs(const json::Value& value) {
  Args args(value, "RemovePodsViolatingTopologySpreadConstraintArgs");
  args.only({"namespaces", "labelSelector", "constraints", "topologyBalanceNodeFit"});
  TopologySpreadArgs out;
  out.scope = readScope(args);
  out.nodeFit = args.boolean("topologyBalanceNodeFit", true);
  const auto said = readSet(args, "constraints");
  out.hard = said.empty() || said.contains("DoNotSchedule");
  out.soft = said.contains("ScheduleAnyway");
  for (const std::string& one : said) {
    if (one == "DoNotSchedule" || one == "ScheduleAnyway") continue;
    args.complain(fmt::format("constraints has '{}', want DoNotSchedule or ScheduleAnyway", one));
  }
  return done(args, std::move(out));
}

Result<DuplicatesArgs> readDuplicatesArgs(const json::Value& value) {
  Args args(value, "RemoveDuplicatesArgs");
  args.only({"namespaces", "excludeOwnerKinds"});
  DuplicatesArgs out;
  out.scope = readScope(args);
  out.excludeOwnerKinds = readSet(args, "excludeOwnerKinds");
  return done(args, std::move(out));
}

}  // namespace mangrove::descheduler
