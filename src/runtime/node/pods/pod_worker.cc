#include "runtime/node/pods/pod_worker.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "base/os/log.h"
#include "runtime/core/pod_status.h"
#include "runtime/cri/pod_config.h"
#include "runtime/node/pods/action.h"
#include "runtime/node/pods/slow.h"

namespace mangrove::runtime {

namespace {

const Logger log("runtime");
constexpr Duration kHaltGrace = std::chrono::seconds(5);
constexpr Duration kHookLimit = std::chrono::minutes(10);

bool isFinal(const RunPod& pod) {
  return api::isTerminated(pod.pod);
}

}  // namespace

std::shared_ptr<PodWorker> PodWorker::make(WorkerParts& parts, Mailbox& preparing, RunPodPtr pod,
                                           Fn gone) {
  return std::shared_ptr<PodWorker>(
      new PodWorker(parts, preparing, std::move(pod), std::move(gone)));
}

PodWorker::PodWorker(WorkerParts& parts, Mailbox& preparing, RunPodPtr pod, Fn gone)
    : parts_(parts),
      preparing_(preparing),
      pod_(std::move(pod)),
      gone_(std::move(gone)),
      specs_(containersOf(*pod_)),
      inRuntime_(parts.runtime && cri::isForRuntime(*pod_)),
      prober_(probeDesk()),
      volumes_(parts.prep, parts.node, preparing, parts.owner),
      status_(parts.client, parts.owner, parts.clock, pod_->ns(), pod_->name(), pod_->uid()) {
  record_.startTime =
      pod_->pod.status.startTime != kZeroTime ? pod_->pod.status.startTime : parts.clock.wall();
  for (const auto& spec : specs_) {
    ContainerRecord one;
    one.name = std::string(spec.name());
    record_.containers.push_back(std::move(one));
  }
}

PodWorker::~PodWorker() = default;

void PodWorker::leave() {
  left_ = true;
  shim_ = nullptr;
  link_.reset();
  wake_.reset();
  killTimers_.clear();
}

bool PodWorker::hasFiles() const {
  return record_.sandbox && !finished_ && !takenDown_ && !pod_->pod.meta.isDeleting();
}

void PodWorker::refreshVolumes() {
  if (hasFiles()) volumes_.refresh(pod_, record_.ip);
}

void PodWorker::checkStorage() {
  if (!hasFiles() || !record_.failReason.empty()) return;
  if (link_) link_->trimLogs();
  volumes_.check(pod_, [weak = weak_from_this()](std::string trouble) {
    auto self = weak.lock();
    if (!self || self->left_ || !self->record_.failReason.empty()) return;
    self->refuse("Evicted", std::move(trouble));
    self->sync();
  });
}

void PodWorker::halt() {
  halting_ = true;
  if (record_.failReason.empty()) record_.failReason = "Halted";
  if (!begun_ || takenDown_) {
    finished_ = true;
    if (gone_) parts_.owner.post(std::exchange(gone_, nullptr));
    return;
  }
  sync();
}

void PodWorker::begin() {
  begun_ = true;
  auto link =
      ShimLink::adopt(parts_.loop, parts_.owner, parts_.node.podDir(pod_->uid()), hearing());
  if (link) {
    shim_ = link->get();
    link_ = std::move(*link);
  } else if (inRuntime_) {
    link_ = cri::RuntimeLink::adopt(parts_.runtime->parts, placeInRuntime(), sandboxConfig(),
                                    hearing());
  }
  if (isFinal(*pod_)) return clearAway();
  if (link_) {
    busy_ = true;  // until its state has come
    return;
  }
  readLeftStates();
  sync();
}

// It ended under an earlier runner, which said so and may have been killed before it had taken the
// pod down. Nothing more is said of it.
void PodWorker::clearAway() {
  told_ = true;
  std::error_code error;
  if (link_ || std::filesystem::exists(parts_.node.podDir(pod_->uid()), error)) return takeDown();
  parts_.network.release(pod_->uid());
  takenDown_ = true;
  sync();
}

void PodWorker::refuse(std::string reason, std::string message) {
  parts_.events.warning(ref(), reason, message);
  record_.failReason = std::move(reason);
  record_.failMessage = std::move(message);
  record_.isRefused = true;
}

void PodWorker::update(RunPodPtr pod) {
  if (pod) {
    signalIfAsked(*pod_, *pod);
    pod_ = std::move(pod);
    specs_ = containersOf(*pod_);
  } else {
    absent_ = true;
    if (record_.failReason.empty()) record_.failReason = "Deleted";
  }
  if (begun_) sync();
}

const ContainerSpec* PodWorker::specOf(const std::string& name) const {
  for (const auto& spec : specs_)
    if (spec.name() == name) return &spec;
  return nullptr;
}

ContainerRecord& PodWorker::recordOf(const std::string& name) {
  if (auto* found = record_.find(name)) return *found;
  record_.containers.emplace_back().name = name;
  return record_.containers.back();
}

std::string PodWorker::cgroupPath() const {
  return parts_.cgroups.podPath(api::kubeQos(pod_->pod), pod_->uid());
}

api::ObjectRef PodWorker::ref() const {
  return api::refTo(api::kind::kPod, pod_->pod.meta);
}

Duration PodWorker::graceOf() const {
  const auto& meta = pod_->pod.meta;
  if (absent_) return std::chrono::seconds(1);
  const auto own = std::chrono::seconds(pod_->pod.spec->terminationGracePeriodSeconds);
  if (halting_) return std::min<Duration>(own, kHaltGrace);
  if (meta.isDeleting()) return std::chrono::seconds(meta.deletionGracePeriodSeconds);
  return own;
}

void PodWorker::wakeIn(Duration delay) {
  wake_ = parts_.clock.after(delay, [&owner = parts_.owner, weak = weak_from_this()] {
    owner.post([weak] {
      if (auto self = weak.lock()) self->sync();
    });
  });
}

void PodWorker::wakeAt(std::optional<WallTime> when) {
  if (when) wakeIn(std::max<Duration>(*when - parts_.clock.wall(), Duration::zero()));
}

void PodWorker::publish() {
  if (absent_ || left_ || halting_ || told_) return;
  noteTransitions(*pod_, record_, parts_.clock.wall());
  status_.set(podStatus(*pod_, record_, {parts_.node.hostIp, parts_.clock.wall()}));
}

void PodWorker::sync() {
  if (finished_ || left_) return;
  if (busy_) {
    again_ = true;
    return;
  }
  if (takenDown_) return finishDeletion();
  if (told_) return takeDown();
  bool inited = true;
  for (const auto& spec : specs_) {
    const auto* r = record_.find(spec.name());
    if (spec.role == ContainerRole::kInit)
      inited = inited && r && !r->running && r->last && r->last->exitCode == 0;
    if (spec.role == ContainerRole::kSidecar) inited = inited && r && r->running && r->started;
  }
  record_.hasInited = record_.hasInited || inited;
  if (resizeIfAsked()) return;
  act(decide(*pod_, record_, parts_.clock.wall()));
}

void PodWorker::act(PodActions next) {
  if (next.deadlinePassed && record_.failReason.empty()) {
    record_.failReason = "DeadlineExceeded";
    record_.failMessage = "Pod was active on the node longer than the specified deadline";
    parts_.events.normal(ref(), "DeadlineExceeded", record_.failMessage);
  }
  for (auto& r : record_.containers) {
    const bool held = std::find(next.held.begin(), next.held.end(), r.name) != next.held.end();
    if (held && !r.held)
      parts_.events.warning(ref(), "BackOff",
                            fmt::format("Back-off restarting failed container {} in pod {}_{}({})",
                                        r.name, pod_->name(), pod_->ns(), pod_->uid()));
    r.held = held;
  }
  for (const auto& name : next.stop) stopContainer(name);
  if (next.over) return end();
  publish();
  if (next.makeSandbox) return makeSandbox();
  wakeAt(next.wakeAt);
  for (const auto& name : next.start)
    if (!isImageHeld(name)) return startContainer(name);
}

// ---- containers ------------------------------------------------------------------------------

void PodWorker::startContainer(const std::string& name) {
  const ContainerSpec* spec = specOf(name);
  if (!spec || !link_) return;
  if (inRuntime_ && !imageWaits_[name].held) return fetchImage(name);
  const auto image = std::exchange(imageWaits_[name].held, std::nullopt);
  ContainerRecord& r = recordOf(name);
  const int attempt = r.everRan() ? r.attempt + 1 : r.attempt;
  inBackground<Result<BuiltContainer>>(
      *this,
      [&prep = parts_.prep, pod = pod_, name, attempt, ip = record_.ip,
       image]() -> Result<BuiltContainer> {
        for (const auto& one : containersOf(*pod))
          if (one.name() == name)
            return image ? prep.buildForRuntime(*pod, one, attempt, ip, *image)
                         : prep.build(*pod, one, attempt, ip);
        return fail(Code::kNotFound, "the pod has no container {}", name);
      },
      [name](PodWorker& self, Result<BuiltContainer> built) {
        self.onBuilt(name, std::move(built));
      });
}

void PodWorker::onBuilt(const std::string& name, Result<BuiltContainer> built) {
  ContainerRecord& r = recordOf(name);
  if (!built) {
    r.blockedReason = "CreateContainerConfigError";
    r.blockedMessage = built.error().text();
    parts_.events.warning(ref(), "Failed", "Error: " + r.blockedMessage);
    publish();
    return wakeIn(kRetryPrepare);
  }
  r.blockedReason.clear();
  r.blockedMessage.clear();
  if (pod_->pod.meta.isDeleting() || !record_.failReason.empty()) return sync();
  if (r.everRan()) ++r.attempt;
  if (!built->id.empty()) r.id = idText(built->id);
  if (built->config) r.imageId = built->config->image;
  r.starting = true;
  parts_.running.add(RunningRuns::key(pod_->uid(), name, r.attempt));  // its log may be followed
  r.stopping = r.held = r.started = r.ready = false;
  r.grant = std::move(built->grant);
  if (!built->note.empty() && r.attempt == 0) {
    if (built->standIn) {
      parts_.events.warning(ref(), "StandIn", built->note);
    } else {
      parts_.events.normal(ref(), "HostProgram", built->note);
    }
  }
  parts_.events.normal(ref(), "Created", "Created container: " + name);
  auto sent = link_ ? link_->start(name, *built) : fail(Code::kGone, "the shim has gone");
  if (!sent) onShimLost(sent.error());
  sync();
}

void PodWorker::onStarted(const Message& message) {
  const std::string name(message.word("container"));
  ContainerRecord& r = recordOf(name);
  r.running = true;
  r.starting = false;
  if (!message.word("id").empty()) r.id = idText(message.word("id"));
  parts_.running.add(RunningRuns::key(pod_->uid(), name, r.attempt));
  r.startedAt = parts_.clock.wall();
  const ContainerSpec* spec = specOf(name);
  const Standing standing = standingOf(spec && spec->run->startup, spec && spec->run->readiness);
  r.started = standing.started;
  r.ready = standing.ready;
  parts_.events.normal(ref(), "Started", "Started container " + name);
  if (spec && spec->run->postStart) {
    runHook(name, *spec->run->postStart, "PostStart", [weak = weak_from_this(), name](bool good) {
      auto self = weak.lock();
      if (self && !good) self->stopContainer(name);
    });
  }
  prober_.begin(name);
  sync();
}

void PodWorker::runHook(const std::string& container, const api::Action& hook, const char* which,
                        UniqueFn<void(bool)> done) {
  runAction(shared_from_this(), container, hook, kHookLimit,
            [weak = weak_from_this(), container, which,
             done = std::move(done)](ActionResult result) mutable {
              auto self = weak.lock();
              if (self && !result.good)
                self->parts_.events.warning(self->ref(), fmt::format("Failed{}Hook", which),
                                            fmt::format("{}Hook of container {} failed: {}", which,
                                                        container, result.output));
              done(result.good);
            });
}

void PodWorker::stopContainer(const std::string& name) {
  ContainerRecord& r = recordOf(name);
  if (r.stopping) return;
  r.stopping = true;
  prober_.stop(name);
  parts_.events.normal(ref(), "Killing", "Stopping container " + name);
  const Duration grace = graceOf();
  killTimers_[name] =
      parts_.clock.after(grace, [&owner = parts_.owner, weak = weak_from_this(), name] {
        owner.post([weak, name] {
          auto self = weak.lock();
          if (!self || !self->link_ || !self->recordOf(name).stopping) return;
          self->link_->signal(name, SIGKILL, Duration::zero());
        });
      });
  const ContainerSpec* spec = specOf(name);
  if (!spec || !spec->run->preStop || grace == Duration::zero() || !r.running)
    return terminate(name);
  runHook(name, *spec->run->preStop, "PreStop", [weak = weak_from_this(), name](bool) {
    if (auto self = weak.lock()) self->terminate(name);
  });
}

void PodWorker::terminate(const std::string& name) {
  if (link_) link_->signal(name, SIGTERM, graceOf());
}

// What hears of a probe may be what ends the worker, so it is held until that is over.
ProbeDesk PodWorker::probeDesk() {
  return {parts_.owner, parts_.clock,
          [this](const std::string& container) { return specOf(container); },
          [this](const std::string& container, const api::Action& action, Duration timeout,
                 UniqueFn<void(ActionResult)> done) {
            runAction(shared_from_this(), container, action, timeout, std::move(done));
          },
          [this](const std::string& container, const ProbeNews& news) {
            const auto held = shared_from_this();
            probed(container, news);
          }};
}

void PodWorker::probed(const std::string& container, const ProbeNews& news) {
  ContainerRecord& r = recordOf(container);
  if (!r.running || r.stopping) return;
  if (!news.good)
    parts_.events.warning(ref(), "Unhealthy",
                          fmt::format("{} probe failed: {}", probeName(news.kind), news.output));
  const ContainerSpec* spec = specOf(container);
  const ProbeEffect effect = effectOf(news, spec && spec->run->readiness);
  r.started = effect.started.value_or(r.started);
  r.ready = effect.ready.value_or(r.ready);
  if (effect.started) prober_.startupPassed(container);
  if (effect.started || effect.ready) return sync();
  if (!effect.restart) return;
  parts_.events.normal(ref(), "Killing",
                       fmt::format("Container {} failed {} probe, will be restarted", container,
                                   news.kind == ProbeKind::kLiveness ? "liveness" : "startup"));
  stopContainer(container);
}

}  // namespace mangrove::runtime
