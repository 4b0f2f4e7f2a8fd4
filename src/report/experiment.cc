#include "report/experiment.h"

#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "api/koordinator/node_metric.h"
#include "api/object/node.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "json/value.h"

namespace mangrove::report {
namespace {

const Logger logger("report");

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

// The child inherits blocked signals; a command wants its own.
int runCommand(const std::string& command, const std::string& node, std::string_view state) {
  const pid_t pid = ::fork();
  if (pid < 0) return -1;
  if (pid == 0) {
    frame::restoreSignals();
    ::setenv("NODE", node.c_str(), 1);
    ::setenv("STATE", std::string(state).c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string addressOf(const api::Node& node) {
  for (const auto& address : node.status.addresses)
    if (address.type.view() == "InternalIP") return std::string(address.address.view());
  return std::string(node.meta.name.view());
}

}  // namespace

Experiment::~Experiment() {
  sources_.clear();
  for (const auto& [node, before] : labelsBefore_) {
    if (!options_.command.empty()) {
      (void)runCommand(options_.command, node, "on");
    } else if (auto ok = setLabel(node, before); !ok) {
      logger.warn("node {} keeps label {}: {}", node, options_.label, ok.error().text());
    }
  }
}

Result<> Experiment::run() {
  return options_.colocated.empty() ? runSwitched() : runReplicas();
}

void Experiment::note(Window window) {
  windows_.push_back(std::move(window));
  if (told_) told_(windows_.back());
}

Result<std::unique_ptr<LatencySource>> Experiment::sourceFor(const std::string& node) {
  SourceOptions source = options_.source;
  std::string address = node;
  if (api_ != nullptr)
    if (auto text = api_->get({client::kind::kNode, "", node}))
      if (auto decoded = api::decodeText<api::Node>(*text)) address = addressOf(*decoded);
  for (std::string* text : {&source.prometheus, &source.probe, &source.log})
    *text = replaced(*text, "{node}", address);
  return makeSource(loop_, source);
}

Result<> Experiment::prepareNodes() {
  if (options_.nodes.empty()) return invalid("no nodes; name them with --nodes");
  if (options_.command.empty() && api_ == nullptr)
    return invalid("a label needs a cluster; name it with --kubeconfig, or give --command");
  for (const std::string& node : options_.nodes) {
    auto source = sourceFor(node);
    if (!source) return source.error().in("node {}", node);
    sources_.push_back(std::move(*source));
    if (!options_.command.empty()) continue;
    auto text = api_->get({client::kind::kNode, "", node});
    if (!text) return text.error().in("node {}", node);
    auto decoded = api::decodeText<api::Node>(*text);
    if (!decoded) return decoded.error().in("node {}", node);
  }
  return {};
}

Result<> Experiment::setLabel(const std::string& node, const std::optional<std::string>& value) {
  json::Object labels;
  labels[options_.label] = value ? json::Value(*value) : json::Value(nullptr);
  const json::Object body{{"metadata", json::Object{{"labels", std::move(labels)}}}};
  auto sent =
      api_->patch({client::kind::kNode, "", node}, client::PatchType::kMerge, json::write(body));
  return sent ? Result<>() : pass(sent.error());
}

Result<> Experiment::switchNode(const std::string& node, Arm arm) {
  if (!labelsBefore_.contains(node)) {
    std::optional<std::string> before;
    if (options_.command.empty()) {
      auto text = api_->get({client::kind::kNode, "", node});
      if (!text) return text.error().in("node {}", node);
      auto decoded = api::decodeText<api::Node>(*text);
      if (decoded)
        if (auto label = decoded->meta.labels.get(options_.label)) before = std::string(*label);
    }
    labelsBefore_[node] = before;
  }
  const bool on = arm == Arm::kOn;
  if (!options_.command.empty()) {
    const int code = runCommand(options_.command, node, on ? "on" : "off");
    return code == 0 ? Result<>()
                     : fail(Code::kUnavailable, "--command for node {} ended with {}", node, code);
  }
  const std::string& value = on ? options_.on : options_.off;
  auto ok = setLabel(node, value.empty() ? std::nullopt : std::optional(value));
  return ok ? ok : ok.error().in("switch node {}", node);
}

// What the agent reported last: best-effort pods of the node, in cores.
std::optional<double> Experiment::batchCores(const std::string& node) {
  if (api_ == nullptr) return std::nullopt;
  auto text = api_->get({client::kind::kNodeMetric, "", node});
  if (!text) return std::nullopt;
  auto metric = api::decodeText<api::NodeMetric>(*text);
  if (!metric) return std::nullopt;
  double cores = 0;
  for (const auto& pod : metric->status.podsMetric)
    if (pod.qos.view() == "BE") cores += static_cast<double>(pod.podUsage.resources.cpu().v) / 1000;
  return cores;
}

// All nodes take their half of a pair at the same time, each in the state its lot gave it.
Result<> Experiment::halfPair(size_t pair, const std::vector<bool>& on) {
  for (size_t i = 0; i < options_.nodes.size(); ++i)
    if (auto ok = switchNode(options_.nodes[i], on[i] ? Arm::kOn : Arm::kOff); !ok) return ok;
  if (interrupt_.during(options_.settle)) return fail(Code::kCancelled, "interrupted");
  for (auto& source : sources_)
    if (auto ok = source->begin(); !ok) return ok;
  if (interrupt_.during(options_.window)) return fail(Code::kCancelled, "interrupted");
  for (size_t i = 0; i < options_.nodes.size(); ++i) {
    auto seen = sources_[i]->end();
    if (!seen) return pass(seen.error());
    note({.place = options_.nodes[i],
          .pair = pair,
          .arm = on[i] ? Arm::kOn : Arm::kOff,
          .requests = seen->requests,
          .p50 = seen->p50,
          .p99 = seen->p99,
          .batchCores = batchCores(options_.nodes[i])});
  }
  return {};
}

Result<> Experiment::runSwitched() {
  if (auto ok = prepareNodes(); !ok) return ok;
  const auto plan = planWindows(options_.nodes.size(), static_cast<size_t>(options_.pairs),
                                static_cast<uint64_t>(options_.seed));
  for (size_t pair = 0; pair < plan.size(); ++pair) {
    std::vector<bool> second = plan[pair];
    second.flip();
    for (const auto& states : {plan[pair], second})
      if (auto ok = halfPair(pair, states); !ok) return ok;
  }
  return {};
}

Result<> Experiment::runReplicas() {
  for (const std::string* where : {&options_.colocated, &options_.reserved}) {
    SourceOptions source = options_.source;
    (source.prometheus.empty() ? source.probe : source.prometheus) = *where;
    auto made = makeSource(loop_, source);
    if (!made) return made.error().in("{}", *where);
    sources_.push_back(std::move(*made));
  }
  for (size_t pair = 0; pair < static_cast<size_t>(options_.pairs); ++pair) {
    for (auto& source : sources_)
      if (auto ok = source->begin(); !ok) return ok;
    if (interrupt_.during(options_.window)) return fail(Code::kCancelled, "interrupted");
    for (Arm arm : {Arm::kOn, Arm::kOff}) {
      auto seen = sources_[arm == Arm::kOn ? 0 : 1]->end();
      if (!seen) return pass(seen.error());
      note({.place = "replicas",
            .pair = pair,
            .arm = arm,
            .requests = seen->requests,
            .p50 = seen->p50,
            .p99 = seen->p99});
    }
  }
  return {};
}

}  // namespace mangrove::report
