#include "scheduler/explain/filled_engine.h"

#include <memory>
#include <string>

#include "client/each_object.h"
#include "placement/engine/ingress.h"
#include "placement/engine/no_effects.h"
#include "placement/intake/transform.h"

namespace mangrove::scheduler {

namespace {

Result<> fillKept(client::ApiClient& client, Ingress& ingress) {
#define INGRESS(type, which, take)                                               \
  if (auto ok = client::eachObject<type>(client, api::kind::which,               \
                                         [&](std::shared_ptr<type> object) {     \
                                           const std::string key =               \
                                               api::keyOf(object->meta).text();  \
                                           ingress.take(key, std::move(object)); \
                                         });                                     \
      !ok)                                                                       \
    return ok;
#include "placement/engine/ingress.def"
#undef INGRESS
  return {};
}

}  // namespace

struct FilledEngine::Impl {
  Impl(Clock& clock) : engine(clock, effects, registry) {}

  Result<> fill(client::ApiClient& client, const api::Uid& without) {
    Ingress ingress(engine);
    auto ok = client::eachObject<api::Node>(client, api::kind::kNode,
                                            [&](std::shared_ptr<api::Node> node) {
                                              transformNode(*node);
                                              ingress.node(nullptr, node);
                                            });
    if (!ok) return ok;
    ok = client::eachObject<api::Namespace>(client, api::kind::kNamespace, [&](auto ns) {
      ingress.ns(ns->meta.name.view(), ns.get());
    });
    if (!ok) return ok;
    if (ok = fillKept(client, ingress); !ok) return ok;
    return client::eachObject<api::Pod>(
        client, api::kind::kPod,
        [&](std::shared_ptr<api::Pod> pod) { take(std::move(pod), without); });
  }

  void take(std::shared_ptr<api::Pod> pod, const api::Uid& without) {
    transformPod(*pod);
    applyTransforms(*pod, engine.config().transforms);
    for (const auto& profile : engine.profiles())
      for (PodFeed* feed : profile->feeds()) feed->podSeen(nullptr, pod);
    pods[pod->meta.uid] = pod;
    if (pod->meta.uid == without || pod->nodeName.empty() || api::isTerminated(*pod)) return;
    engine.cluster().observe(pod);
  }

  Registry registry;
  placement::NoEffects effects;
  Engine engine;
  std::unordered_map<api::Uid, std::shared_ptr<const api::Pod>> pods;
};

FilledEngine::FilledEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FilledEngine::~FilledEngine() = default;

Result<std::unique_ptr<FilledEngine>> FilledEngine::make(client::ApiClient& client,
                                                         const SchedulerConfig& config,
                                                         Clock& clock, const api::Uid& without) {
  auto impl = std::make_unique<Impl>(clock);
  if (auto ok = impl->engine.configure(config); !ok) return pass(ok.error());
  if (auto ok = impl->fill(client, without); !ok) return pass(ok.error());
  return std::unique_ptr<FilledEngine>(new FilledEngine(std::move(impl)));
}

Engine& FilledEngine::engine() {
  return impl_->engine;
}

PodPtr FilledEngine::pending(const api::Uid& uid) {
  const auto at = impl_->pods.find(uid);
  if (at == impl_->pods.end() || !at->second->nodeName.empty() || api::isTerminated(*at->second))
    return nullptr;
  return impl_->engine.cluster().makeInfo(at->second);
}

const std::unordered_map<api::Uid, std::shared_ptr<const api::Pod>>& FilledEngine::pods() const {
  return impl_->pods;
}

}  // namespace mangrove::scheduler
