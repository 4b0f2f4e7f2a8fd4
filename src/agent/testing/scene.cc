#include "agent/testing/scene.h"

#include <fmt/core.h>

#include "base/check.h"

namespace mangrove::agent::testing {
namespace {

std::string pluralOf(const std::string& kind) {
  for (const api::Kind& one : api::allKinds())
    if (one.kind == kind) return std::string(one.plural);
  CHECK(false, "no kind {}", kind);
  return "";
}

}  // namespace

Scene::Scene(const std::filesystem::path& root, AgentOptions options)
    : options_(std::move(options)) {
  clock.advance(std::chrono::seconds(1000));
  if (options_.node.empty()) options_.node = "n1";
  options_.machine.root = root;
  options_.machine.live = false;
}

Scene::~Scene() = default;

void Scene::put(const std::string& kind, const std::string& json) {
  objects_[pluralOf(kind)].push_back(json);
}

void Scene::event(const std::string& kind, const std::string& type, const std::string& json) {
  for (auto it = api.watches.rbegin(); it != api.watches.rend(); ++it) {
    if ((*it)->cancelled || (*it)->request.kind.kind != kind) continue;
    (*it)->send(fmt::format(R"({{"type":"{}","object":{}}})", type, json));
    break;
  }
  serve();
}

void Scene::make() {
  auto made = Agent::make({api, clock, owner, owner, internal, external}, options_);
  CHECK(made, "{}", made.error().text());
  agent_ = std::move(*made);
  agent_->start();
  serve();
}

void Scene::start() {
  make();
}

void Scene::killAndRestart() {
  // No orderly stop: what is only in memory is lost. The old object is leaked on purpose until the
  // new one has read the files, then forgotten without its farewell.
  agent_.release();  // NOLINT: leaked as a killed process leaks
  api.pending.clear();
  owner.drain();
  make();
}

void Scene::answer() {
  const client::Request request = api.next();
  if (apiAway) return api.fail(Code::kUnavailable, "nobody is there");
  const std::string plural(request.ref.kind.plural);
  if (request.verb == client::Verb::kList) {
    std::string items;
    for (const std::string& object : objects_[plural]) items += (items.empty() ? "" : ",") + object;
    return api.reply(
        200, fmt::format(R"({{"metadata":{{"resourceVersion":"5"}},"items":[{}]}})", items));
  }
  const auto body = json::parse(request.body.empty() ? "{}" : request.body);
  if (plural == "nodemetrics" && request.ref.subresource == "status")
    patches.push_back(*body);
  else
    writes.emplace_back(client::describe(request), *body);
  api.reply(200, "{}");
}

void Scene::serve() {
  for (int round = 0; round < 100; ++round) {
    owner.drain();
    if (api.pending.empty()) return;
    answer();
  }
}

void Scene::ticks(int count, const std::function<void(int)>& before) {
  for (int i = 0; i < count; ++i) {
    if (before) before(i);
    clock.advance(options_.collect.period);
    serve();
  }
}

std::string podJson(const std::string& name, const std::string& uid, const std::string& extra) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"default","uid":"{}",)"
      R"("resourceVersion":"3"}},"spec":{{"nodeName":"n1","containers":[{{"name":"c"}}]}},)"
      R"("status":{{"phase":"Running","qosClass":"Burstable"{}}}}})",
      name, uid, extra);
}

std::string nodeJson(const std::string& name, const std::string& cpu, const std::string& memory) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","resourceVersion":"2"}},"status":{{"allocatable":)"
      R"({{"cpu":"{}","memory":"{}"}},"capacity":{{"cpu":"{}","memory":"{}"}}}}}})",
      name, cpu, memory, cpu, memory);
}

std::string nodeMetricJson(const std::string& name, const std::string& policy) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","resourceVersion":"4"}},"spec":{{"metricCollectPolicy":{}}}}})",
      name, policy);
}

}  // namespace mangrove::agent::testing
