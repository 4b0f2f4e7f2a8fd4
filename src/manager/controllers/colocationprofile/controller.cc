#include "manager/controllers/colocationprofile/controller.h"

#include "api/object/event.h"
#include "base/os/log.h"
#include "client/informer/follow.h"
#include "json/merge_patch.h"
#include "manager/controllers/list.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

// Pods without a node; their JSON is kept, because patches are made from it.
client::InformerSetup waiting(const CacheSetup& setup) {
  auto out = client::follow(setup, kind::kPod, client::RawKeep::kCompressed);
  out.follow.fieldSelector = "spec.nodeName=";
  return out;
}

void declareFlags(frame::Flags& flags, OwnOptions& own) {
  auto& options = own.of<ProfileControllerOptions>();
  flags.add("colocation-profile-reconcile-by-default", options.byDefault,
            "apply every profile to waiting pods, not only those labelled controller-managed");
  flags.add("colocation-profile-reconcile-interval", options.interval,
            "how often profiles are applied to waiting pods");
  flags.add("colocation-profile-update-pod-qps", options.perSecond,
            "waiting pods changed per second");
  flags.add("colocation-profile-update-pod-qps-burst", options.burst,
            "waiting pods changed at once");
}

}  // namespace

ColocationProfileController::ColocationProfileController(const ControllerSetup& setup)
    : desk_(setup.desk),
      options_(setup.options.own.get<ProfileControllerOptions>()),
      profiles_(client::follow(setup.informers, kind::kClusterColocationProfile)),
      pending_(waiting(setup.informers)),
      namespaces_(client::follow(setup.informers, kind::kNamespace)),
      rate_(options_.perSecond, options_.burst),
      rng_(setup.options.seed) {}

void ColocationProfileController::start() {
  profiles_.start();
  pending_.start();
  namespaces_.start();
  arm();
}

void ColocationProfileController::arm() {
  timer_ = life_.later(desk_.clock, desk_.owner, options_.interval, [this] {
    if (desk_.leads) round();
    arm();
  });
}

void ColocationProfileController::round() {
  if (!pending_.hasSynced() || !namespaces_.hasSynced()) return;
  Revisions revisions;
  const ProfileIndex profiles = managed(revisions);
  if (profiles.empty()) return;
  pending_.each(
      [&](std::string_view key, const api::Pod& pod) { apply(profiles, revisions, key, pod); });
}

// Those we act on, in the order in which admission applies them.
ProfileIndex ColocationProfileController::managed(Revisions& revisions) {
  ProfileIndex::Profiles out;
  profiles_.each([&](std::string_view, const api::ColocationProfile& object) {
    if (!isControllerManaged(object, options_.byDefault)) return;
    auto profile = std::make_shared<const Profile>(compileProfile(object));
    if (!profile->trouble.empty() || !profile->percent) {
      desk_.warn(api::refTo(kind::kClusterColocationProfile, object.meta), "ProfileInvalid",
                 profile->trouble.empty() ? profile->percent.error().text() : profile->trouble);
      return;
    }
    revisions[profile->name] = std::to_string(object.meta.generation);
    out.push_back(std::move(profile));
  });
  return ProfileIndex(std::move(out));
}

// All profiles of a pod in one patch: the note of what was applied is one text.
void ColocationProfileController::apply(const ProfileIndex& profiles, const Revisions& revisions,
                                        std::string_view key, const api::Pod& pod) {
  const bool waits = pod.status.phase == api::PodPhase::kPending && pod.nodeName.view().empty();
  if (!waits || pod.meta.isDeleting()) return;
  const auto ns = namespaces_.find(pod.meta.ns.view());
  const auto matching = profiles.matching(ns ? &ns->meta.labels : nullptr, pod.meta.labels);
  if (matching.empty()) return;
  const auto raw = pending_.raw(key);
  const auto before = raw ? json::parse(*raw) : pass(raw.error());
  if (!before) return;
  json::Value after = *before;
  for (const Profile* profile : matching) {
    if (static_cast<int>(rng_.below(100)) >= *profile->percent) continue;
    const auto done = applyToWaiting(*profile, revisions.find(profile->name)->second, after);
    if (!done) log.warn("profile {} on {}: {}", profile->name, key, done.error().text());
  }
  auto patch = json::mergeDiff(*before, after);
  if (!patch) return log.warn("profiles on {}: {}", key, patch.error().text());
  if (!patch->as_object().empty()) send(key, pod, std::move(*patch));
}

// The version makes the server refuse what was made from an old pod: suffixes would come twice.
void ColocationProfileController::send(std::string_view key, const api::Pod& pod,
                                       json::Value patch) {
  if (!rate_.tryTake(desk_.clock.mono())) return;
  patch.as_object()["metadata"].as_object()["resourceVersion"] = pod.meta.resourceVersion;
  desk_.send(client::patchRequest({kind::kPod, pod.meta.ns.str(), pod.meta.name.str(), ""},
                                  client::PatchType::kMerge, json::write(patch)),
             [name = std::string(key)](Result<client::Reply> reply) {
               if (reply) return;
               // It changed meanwhile or is gone: the next round looks at what it is then.
               const auto code = reply.error().code();
               if (code != Code::kNotFound && code != Code::kConflict)
                 log.warn("profiles on {}: {}", name, reply.error().text());
             });
}

ControllerInfo controllers::colocationprofile() {
  return {.name = "colocationprofile",
          .make = makeController<ColocationProfileController>,
          .access = {{kind::kClusterColocationProfile, kFollow},
                     {kind::kNamespace, kFollow},
                     {kind::kPod, "list watch patch"}},
          .gate = GateInfo{"ColocationProfileController", false, Maturity::kAlpha,
                           "apply profiles to pods that exist already"},
          .flags = declareFlags};
}

}  // namespace mangrove::manager
