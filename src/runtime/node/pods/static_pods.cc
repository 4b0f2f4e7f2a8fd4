#include "runtime/node/pods/static_pods.h"

#include <filesystem>

#include <fmt/core.h>

#include "base/os/files.h"
#include "base/os/log.h"
#include "json/yaml.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

const Logger logger("runtime");
constexpr Duration kLookEvery = std::chrono::seconds(2);
constexpr std::string_view kSource = "kubernetes.io/config.source";
constexpr std::string_view kHash = "kubernetes.io/config.hash";

std::string hashOf(std::string_view text) {
  uint64_t hash = 1469598103934665603ull;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("{:016x}", hash);
}

json::Object& child(json::Object& parent, std::string_view key) {
  json::Value& value = parent[key];
  if (!value.is_object()) value = json::Object();
  return value.get_object();
}

std::string text(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

using Wanted = std::map<std::string, StaticPod>;  // by "ns/name"

Wanted readFolder(const std::string& dir, const std::string& node) {
  Wanted out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string extension = entry.path().extension();
    if (extension != ".yaml" && extension != ".yml" && extension != ".json") continue;
    auto manifest = readFile(entry.path());
    auto pod = manifest ? staticPod(*manifest, node) : pass(manifest.error());
    if (!pod) {
      logger.warn("static pod {}: {}", entry.path().string(), pod.error().text());
      continue;
    }
    out[pod->ns + "/" + pod->name] = std::move(*pod);
  }
  return out;
}

}  // namespace

Result<StaticPod> staticPod(std::string_view manifest, const std::string& node) {
  auto value = json::parseYamlDocument(manifest);
  if (!value) return pass(value.error());
  if (!value->is_object() || text(value->get_object(), "kind") != "Pod")
    return invalid("a static manifest must be one object of kind Pod");
  StaticPod out;
  out.body = std::move(value->get_object());
  json::Object& meta = child(out.body, "metadata");
  out.ns = text(meta, "namespace").empty() ? "default" : text(meta, "namespace");
  out.name = text(meta, "name") + "-" + node;
  out.hash = hashOf(manifest);
  meta["namespace"] = out.ns;
  meta["name"] = out.name;
  json::Object& annotations = child(meta, "annotations");
  annotations[kSource] = "file";
  annotations[kHash] = out.hash;
  annotations["kubernetes.io/config.mirror"] = out.hash;
  child(out.body, "spec")["nodeName"] = node;
  return out;
}

struct StaticPods::State : std::enable_shared_from_this<State> {
  State(client::ApiClient& c, Mailbox& o, Mailbox& h, Clock& k, std::string n, std::string d)
      : client(c), owner(o), home(h), clock(k), node(std::move(n)), dir(std::move(d)) {}

  void look() {
    home.post([self = shared_from_this()] {
      auto wanted = std::make_shared<Wanted>(readFolder(self->dir, self->node));
      self->owner.post([self, wanted] {
        if (self->alive) self->compare(*wanted);
      });
    });
    timer = clock.after(kLookEvery, [weak = weak_from_this(), &o = owner] {
      o.post([weak] {
        auto self = weak.lock();
        if (self && self->alive) self->look();
      });
    });
  }

  void compare(const Wanted& wanted) {
    for (const auto& [key, pod] : wanted) create(pod);
    for (const auto& [key, hash] : std::map(known)) {
      auto found = wanted.find(key);
      if (found != wanted.end() && found->second.hash == hash) continue;
      const size_t slash = key.find('/');
      remove(key.substr(0, slash), key.substr(slash + 1));
      known.erase(key);
    }
  }

  // Refused as existing in the usual case: the server is the memory of what runs.
  void create(const StaticPod& pod) {
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {client::kind::kPod, pod.ns, ""};
    request.body = json::write(pod.body);
    const std::string key = pod.ns + "/" + pod.name;
    client.submit(owner, std::move(request),
                  [self = shared_from_this(), key, hash = pod.hash](Result<client::Reply> reply) {
                    if (!self->alive) return;
                    const bool there = reply || reply.error().code() == Code::kExists;
                    if (!there) return logger.warn("static pod {}: {}", key, reply.error().text());
                    if (!self->known.contains(key)) self->known[key] = reply ? hash : "";
                    if (!reply) self->learn(key);
                  });
  }

  // What the pod on the server was made from.
  void learn(const std::string& key) {
    const size_t slash = key.find('/');
    client::Request request;
    request.ref = {client::kind::kPod, key.substr(0, slash), key.substr(slash + 1)};
    client.submit(owner, std::move(request),
                  [self = shared_from_this(), key](Result<client::Reply> reply) {
                    auto value = reply ? json::parse(reply->body) : pass(reply.error());
                    if (!self->alive || !value || !value->is_object()) return;
                    json::Object& meta = child(value->get_object(), "metadata");
                    self->known[key] = text(child(meta, "annotations"), kHash);
                  });
  }

  void remove(const std::string& ns, const std::string& name) {
    client.submit(owner, client::deleteRequest({client::kind::kPod, ns, name}),
                  [](Result<client::Reply>) {});
  }

  client::ApiClient& client;
  Mailbox& owner;
  Mailbox& home;
  Clock& clock;
  const std::string node, dir;
  std::map<std::string, std::string> known;  // hash by "ns/name"
  bool alive = true;
  Timer timer;
};

StaticPods::StaticPods(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
                       std::string node, std::string dir)
    : state_(std::make_shared<State>(client, owner, home, clock, std::move(node), std::move(dir))) {
}

StaticPods::~StaticPods() {
  state_->alive = false;
}

void StaticPods::start() {
  state_->look();
}

}  // namespace mangrove::runtime
