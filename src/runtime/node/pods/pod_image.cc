// A pod in a container runtime: its sandbox, and the images of its containers.
#include <algorithm>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "runtime/core/restart.h"
#include "runtime/cri/pod_config.h"
#include "runtime/node/pods/pod_worker.h"
#include "runtime/node/pods/slow.h"

namespace mangrove::runtime {

PodLink::Handler PodWorker::hearing() {
  return [weak = weak_from_this()](Result<Message> message) {
    if (auto self = weak.lock()) self->onMessage(std::move(message));
  };
}

// Agents look for cgroups by this form, so our own containers have it too.
std::string PodWorker::idText(std::string_view id) const {
  return (inRuntime_ ? parts_.runtime->name : "containerd") + "://" + std::string(id);
}

cri::SandboxConfig PodWorker::sandboxConfig() const {
  return cri::sandboxConfigOf(
      *pod_, {"/" + cgroupPath(), parts_.node.logDir(pod_->ns(), pod_->name(), pod_->uid()),
              parts_.runtime->runner});
}

cri::RuntimePlace PodWorker::placeInRuntime() {
  cri::RuntimePlace place;
  place.uid = pod_->uid();
  place.runner = parts_.runtime->runner;
  place.podDir = parts_.node.podDir(pod_->uid());
  place.logDir = parts_.node.logDir(pod_->ns(), pod_->name(), pod_->uid());
  place.beforeStart = [weak = weak_from_this()](std::string id, std::string name, Fn then) {
    auto self = weak.lock();
    if (!self || self->left_) return;
    self->preparing_.post([&prep = self->parts_.prep, &owner = self->parts_.owner, pod = self->pod_,
                           id, name, then = std::move(then)]() mutable {
      prep.beforeStart(*pod, name, id);
      owner.post(std::move(then));
    });
  };
  return place;
}

void PodWorker::runInRuntime(const std::string& handler) {
  if (pod_->pod.spec->hostNetwork) record_.ip = parts_.node.hostIp;
  link_ = cri::RuntimeLink::run(parts_.runtime->parts, placeInRuntime(), sandboxConfig(), handler,
                                hearing());
  busy_ = true;  // until its first state has come
}

// True while the image's back-off lasts; said once each time.
bool PodWorker::isImageHeld(const std::string& container) {
  auto found = imageWaits_.find(container);
  const ContainerSpec* spec = specOf(container);
  if (found == imageWaits_.end() || !spec || found->second.due <= parts_.clock.wall()) return false;
  ImageWait& wait = found->second;
  wakeAt(wait.due);
  if (std::exchange(wait.said, true)) return true;
  ContainerRecord& r = recordOf(container);
  r.blockedReason = "ImagePullBackOff";
  r.blockedMessage = fmt::format("Back-off pulling image \"{}\": ErrImagePull: {}",
                                 spec->run->image, wait.trouble);
  parts_.events.normal(ref(), "BackOff",
                       fmt::format("Back-off pulling image \"{}\"", spec->run->image));
  parts_.events.warning(ref(), "Failed", "Error: ImagePullBackOff");
  publish();
  return true;
}

void PodWorker::fetchImage(const std::string& container) {
  const ContainerSpec* spec = specOf(container);
  busy_ = true;
  const auto told = [weak = weak_from_this()](const cri::ImageNews& news) {
    auto self = weak.lock();
    if (!self) return;
    if (news.isWarning)
      self->parts_.events.warning(self->ref(), news.reason, news.message);
    else
      self->parts_.events.normal(self->ref(), news.reason, news.message);
  };
  const auto secrets = [weak = weak_from_this(),
                        told](UniqueFn<void(std::vector<cri::PullSecret>)> answer) {
    auto self = weak.lock();
    if (!self) return;
    self->preparing_.post([&prep = self->parts_.prep, &owner = self->parts_.owner, pod = self->pod_,
                           told, answer = std::move(answer)]() mutable {
      std::vector<std::string> missing;
      auto found = prep.pullSecrets(*pod, missing);
      owner.post([answer = std::move(answer), found = std::move(found), missing, told]() mutable {
        for (const auto& name : missing)
          told({true, "FailedToRetrieveImagePullSecret",
                fmt::format("Unable to retrieve image pull secret ({}); attempting to pull the "
                            "image may not succeed.",
                            name)});
        answer(std::move(found));
      });
    });
  };
  parts_.runtime->images.ensure({spec->run->image, spec->run->imagePullPolicy}, secrets, told,
                                [weak = weak_from_this(), container](cri::HeldImage image) {
                                  auto self = weak.lock();
                                  if (!self || self->left_) return;
                                  self->busy_ = false;
                                  self->onImage(container, std::move(image));
                                });
}

void PodWorker::onImage(const std::string& container, cri::HeldImage image) {
  ContainerRecord& r = recordOf(container);
  ImageWait& wait = imageWaits_[container];
  if (image.good()) {
    wait = {};
    wait.held = std::move(image);
    r.blockedReason.clear();
    r.blockedMessage.clear();
    if (pod_->pod.meta.isDeleting() || !record_.failReason.empty() || absent_) return sync();
    return startContainer(container);
  }
  r.blockedReason = image.reason;
  r.blockedMessage = image.message;
  parts_.events.warning(ref(), "Failed", "Error: " + image.reason);
  wait.trouble = std::move(image.message);
  wait.said = image.reason != "ErrImagePull";  // other reasons stay what they are
  wait.due = parts_.clock.wall() +
             std::chrono::duration_cast<WallTime::duration>(backOff(++wait.failures));
  publish();
  wakeIn(kRetryPrepare);
}

// It was not made: a wrong mount, a name that is taken. Trying again may help.
void PodWorker::onRefused(const Message& message) {
  const std::string name(message.word("container"));
  ContainerRecord& r = recordOf(name);
  if (!r.starting) return;
  r.starting = false;
  if (r.everRan() && r.attempt > 0) --r.attempt;
  r.blockedReason = message.word("reason");
  r.blockedMessage = message.word("trouble");
  parts_.events.warning(ref(), "Failed", "Error: " + r.blockedMessage);
  ImageWait& wait = imageWaits_[name];
  wait.said = true;
  wait.due = parts_.clock.wall() +
             std::chrono::duration_cast<WallTime::duration>(backOff(++wait.failures));
  publish();
  wakeAt(wait.due);
  sync();
}

}  // namespace mangrove::runtime
