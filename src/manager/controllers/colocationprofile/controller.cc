#include "manager/controllers/colocationprofile/controller.h"

#include "api/event.h"
#include "base/log.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

client::InformerSetup followed(const CacheSetup& setup, client::Kind kind) {
  client::InformerSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.raw = client::RawKeep::kNone;
  out.follow.kind = kind;
  return out;
}

// Pods without a node; their JSON is kept, because patches are made from it.
client::InformerSetup waiting(const CacheSetup& setup) {
  auto out = followed(setup, kind::kPod);
  out.raw = client::RawKeep::kCompressed;
  out.follow.fieldSelector = "spec.nodeName=";
  return out;
}

}  // namespace

ColocationProfileController::ColocationProfileController(Desk& desk, const CacheSetup& setup,
                                                         ProfileControllerOptions options)
    : desk_(desk),
      options_(options),
      profiles_(followed(setup, kind::kClusterColocationProfile)),
      pending_(waiting(setup)),
      namespaces_(followed(setup, kind::kNamespace)),
      rate_(options.perSecond, options.burst),
      rng_(setup.seed) {}

void ColocationProfileController::start() {
  profiles_.start();
  pending_.start();
  namespaces_.start();
  arm();
}

void ColocationProfileController::arm() {
  timer_ = desk_.clock.after(options_.interval,
                             [this, here = std::weak_ptr(alive_), owner = &desk_.owner] {
                               owner->post([this, here] {
                                 if (here.expired()) return;
                                 if (leads_) round();
                                 arm();
                               });
                             });
}

void ColocationProfileController::round() {
  if (!pending_.hasSynced() || !namespaces_.hasSynced()) return;
  profiles_.each([this](std::string_view, const api::ColocationProfile& object) {
    if (!isControllerManaged(object, options_.byDefault)) return;
    const Profile profile = compileProfile(object);
    if (!profile.trouble.empty() || !profile.percent) {
      desk_.warn(api::refTo(kind::kClusterColocationProfile, object.meta), "ProfileInvalid",
                 profile.trouble.empty() ? profile.percent.error().text() : profile.trouble);
      return;
    }
    apply(profile, std::to_string(object.meta.generation));
  });
}

void ColocationProfileController::apply(const Profile& profile, const std::string& revision) {
  pending_.each([&](std::string_view key, const api::Pod& pod) {
    if (pod.status.phase != api::PodPhase::kPending || pod.meta.isDeleting()) return;
    const auto ns = namespaces_.find(pod.meta.ns.view());
    if (!profile.selects(ns ? &ns->meta.labels : nullptr, pod.meta.labels)) return;
    if (static_cast<int>(rng_.below(100)) >= *profile.percent) return;
    patchPod(profile, revision, key);
  });
}

void ColocationProfileController::patchPod(const Profile& profile, const std::string& revision,
                                           std::string_view key) {
  const auto raw = pending_.raw(key);
  auto pod = raw ? json::parse(*raw) : pass(raw.error());
  if (!pod) return;
  const auto patch = profilePatch(profile, revision, *pod);
  if (!patch) return log.warn("profile {} on {}: {}", profile.name, key, patch.error().text());
  if (patch->as_object().empty() || !rate_.tryTake(desk_.clock.mono())) return;
  const auto [ns, name] = client::splitKey(key);
  desk_.send(client::patchRequest({kind::kPod, std::string(ns), std::string(name), ""},
                                  client::PatchType::kMerge, json::write(*patch)),
             [profile = profile.name, pod = std::string(key)](Result<client::Reply> reply) {
               if (!reply && reply.error().code() != Code::kNotFound)
                 log.warn("profile {} on {}: {}", profile, pod, reply.error().text());
             });
}

}  // namespace mangrove::manager
