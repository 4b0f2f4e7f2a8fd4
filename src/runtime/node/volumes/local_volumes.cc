#include "runtime/node/volumes/local_volumes.h"

#include <filesystem>
#include <set>

#include <fmt/core.h>
#include <sys/stat.h>

#include "api/wire/write.h"
#include "base/os/log.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

const Logger log("runtime");
constexpr Duration kRetry = std::chrono::seconds(2);
using Do = ClaimStep::Do;

client::InformerSetup following(client::ApiClient& client, Mailbox& owner, Mailbox& home,
                                Clock& clock, const client::Kind& kind) {
  client::InformerSetup setup;
  setup.client = &client;
  setup.owner = &owner;
  setup.home = &home;
  setup.clock = &clock;
  setup.follow.kind = kind;
  setup.raw = client::RawKeep::kNone;
  return setup;
}

client::Ref refOf(const api::PersistentVolumeClaim& claim, const char* part = "") {
  return {client::kind::kPersistentVolumeClaim, std::string(claim.meta.ns.view()),
          std::string(claim.meta.name.view()), part};
}
client::Ref refOf(const api::PersistentVolume& volume, const char* part = "") {
  return {client::kind::kPersistentVolume, "", std::string(volume.meta.name.view()), part};
}

}  // namespace

struct LocalVolumes::State : std::enable_shared_from_this<State> {
  State(client::ApiClient& c, Mailbox& o, Mailbox& h, Clock& k, client::EventRecorder& e,
        std::string d, ClaimInUse u)
      : client(c),
        owner(o),
        home(h),
        clock(k),
        events(e),
        dir(std::move(d)),
        inUse(std::move(u)),
        claims(
            std::make_unique<Claims>(following(c, o, h, k, client::kind::kPersistentVolumeClaim))),
        volumes(std::make_unique<Volumes>(following(c, o, h, k, client::kind::kPersistentVolume))),
        classes(std::make_unique<Classes>(following(c, o, h, k, client::kind::kStorageClass))) {}

  // Informers end with their owner; answers that are still on their way find nobody.
  void end() {
    alive = false;
    claims.reset();
    volumes.reset();
    classes.reset();
  }

  void start() {
    auto again = [weak = weak_from_this()](const auto&) {
      if (auto self = weak.lock()) self->lookSoon();
    };
    claims->onChange(again);
    volumes->onChange(again);
    classes->onChange(again);
    auto whenSynced = [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->lookSoon();
    };
    claims->onSynced(whenSynced);
    volumes->onSynced(whenSynced);
    classes->onSynced(whenSynced);
    claims->start();
    volumes->start();
    classes->start();
  }

  // Once for all changes of the moment, and never while answers are awaited: what they bring would
  // be planned for twice.
  void lookSoon() {
    dirty = true;
    if (posted || pending > 0) return;
    posted = true;
    owner.post([self = shared_from_this()] {
      self->posted = false;
      if (self->alive) self->look();
    });
  }

  void look() {
    const bool ready = claims->hasSynced() && volumes->hasSynced() && classes->hasSynced();
    if (!ready || pending > 0) return;
    dirty = false;
    ClaimList claimList;
    VolumeList volumeList;
    ClassList classList;
    claims->each(
        [&](std::string_view key, const auto&) { claimList.push_back(claims->find(key)); });
    volumes->each(
        [&](std::string_view key, const auto&) { volumeList.push_back(volumes->find(key)); });
    classes->each(
        [&](std::string_view key, const auto&) { classList.push_back(classes->find(key)); });
    for (const auto& step : planClaims(claimList, volumeList, classList, inUse)) take(step);
  }

  void take(const ClaimStep& step) {
    switch (step.what) {
      case Do::kProvision:
        return provision(step.claim);
      case Do::kReserve:
        return patch(refOf(*step.volume), claimRefPatch(*step.claim));
      case Do::kBindClaim:
        return patch(
            refOf(*step.claim),
            {{"metadata", json::Object{{"annotations",
                                        json::Object{{"pv.kubernetes.io/bind-completed", "yes"}}}}},
             {"spec", json::Object{{"volumeName", step.volume->meta.name.view()}}}});
      case Do::kClaimBound:
        return patch(
            refOf(*step.claim, "status"),
            {{"status", json::Object{{"phase", "Bound"},
                                     {"accessModes", api::toJson(step.volume->accessModes)},
                                     {"capacity", api::toJson(step.volume->capacity)}}}});
      case Do::kVolumePhase:
        return patch(refOf(*step.volume, "status"),
                     {{"status", json::Object{{"phase", step.phase}}}});
      case Do::kReclaim:
        return reclaim(step.volume);
      case Do::kWaitForClass:
        return explainWait(*step.claim);
      case Do::kFinalizers:
        return patch(step.claim ? refOf(*step.claim) : refOf(*step.volume), finalizersPatch(step));
    }
  }

  static json::Object claimRefPatch(const api::PersistentVolumeClaim& claim) {
    json::Object ref{{"apiVersion", "v1"},
                     {"kind", "PersistentVolumeClaim"},
                     {"namespace", claim.meta.ns.view()},
                     {"name", claim.meta.name.view()},
                     {"uid", claim.meta.uid.str()}};
    return {{"spec", json::Object{{"claimRef", std::move(ref)}}}};
  }

  static json::Object finalizersPatch(const ClaimStep& step) {
    const api::ObjectMeta& meta = step.claim ? step.claim->meta : step.volume->meta;
    return {{"metadata",
             json::Object{{"uid", meta.uid.str()}, {"finalizers", api::toJson(step.finalizers)}}}};
  }

  void explainWait(const api::PersistentVolumeClaim& claim) {
    if (!told.insert(std::string(claim.meta.uid.str())).second) return;
    events.normal(api::refTo(api::kind::kPersistentVolumeClaim, claim.meta), "FailedBinding",
                  fmt::format("no persistent volumes available for this claim and its storage "
                              "class '{}' is not provided by {}",
                              claim.storageClassName ? claim.storageClassName->view() : "",
                              kLocalProvisioner));
  }

  void provision(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
    ++pending;
    const std::string path = dir + "/" + localVolumeName(*claim);
    home.post([self = shared_from_this(), claim, path] {
      std::error_code error;
      fs::create_directories(path, error);
      ::chmod(path.c_str(), 0777);
      self->owner.post([self, claim, path, error] {
        --self->pending;
        if (!self->alive) return;
        if (error) return self->failed(fmt::format("{}: {}", path, error.message()));
        self->createVolume(*claim, path);
      });
    });
  }

  void createVolume(const api::PersistentVolumeClaim& claim, const std::string& path) {
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {client::kind::kPersistentVolume, "", ""};
    request.body = json::write(localVolume(claim, path, "Delete"));
    send(std::move(request));
    events.normal(api::refTo(api::kind::kPersistentVolumeClaim, claim.meta),
                  "ProvisioningSucceeded", "made the directory " + path);
  }

  void reclaim(const std::shared_ptr<const api::PersistentVolume>& volume) {
    ++pending;
    home.post([self = shared_from_this(), volume] {
      std::error_code error;
      fs::remove_all(self->dir + "/" + std::string(volume->meta.name.view()), error);
      self->owner.post([self, volume] {
        --self->pending;
        if (self->alive) self->send(client::deleteRequest(refOf(*volume)));
      });
    });
  }

  void patch(client::Ref ref, const json::Object& body) {
    send(client::patchRequest(std::move(ref), client::PatchType::kMerge, json::write(body)));
  }

  void send(client::Request request) {
    ++pending;
    client.submit(owner, std::move(request),
                  [self = shared_from_this()](Result<client::Reply> reply) {
                    --self->pending;
                    if (!self->alive) return;
                    const bool fine = reply || reply.error().code() == Code::kExists ||
                                      reply.error().code() == Code::kNotFound;
                    if (!fine) return self->failed(reply.error().text());
                    if (self->dirty) self->lookSoon();
                  });
  }

  void failed(const std::string& why) {
    log.warn("persistent volumes: {}", why);
    retry = clock.after(kRetry, [weak = weak_from_this(), &o = owner] {
      o.post([weak] {
        auto self = weak.lock();
        if (self && self->alive) self->lookSoon();
      });
    });
  }

  client::ApiClient& client;
  Mailbox& owner;
  Mailbox& home;
  Clock& clock;
  client::EventRecorder& events;
  const std::string dir;
  const ClaimInUse inUse;
  using Claims = client::Informer<api::PersistentVolumeClaim>;
  using Volumes = client::Informer<api::PersistentVolume>;
  using Classes = client::Informer<api::StorageClass>;
  std::unique_ptr<Claims> claims;
  std::unique_ptr<Volumes> volumes;
  std::unique_ptr<Classes> classes;
  std::set<std::string> told;  // uids of claims that wait for somebody else
  bool alive = true, posted = false, dirty = false;
  int pending = 0;  // requests and directories under way
  Timer retry;
};

LocalVolumes::LocalVolumes(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
                           client::EventRecorder& events, std::string dir, ClaimInUse inUse)
    : state_(std::make_shared<State>(client, owner, home, clock, events, std::move(dir),
                                     std::move(inUse))) {}

LocalVolumes::~LocalVolumes() {
  state_->end();
}

void LocalVolumes::start() {
  state_->start();
}

void LocalVolumes::look() {
  state_->lookSoon();
}

}  // namespace mangrove::runtime
