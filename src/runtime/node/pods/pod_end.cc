// The end of a pod: what is told, taken down, and at last deleted.
#include <utility>

#include "base/os/log.h"
#include "runtime/node/pods/pod_worker.h"
#include "runtime/node/pods/slow.h"

namespace mangrove::runtime {

namespace {

const Logger log("runtime");
constexpr Duration kRetryTakeDown = std::chrono::milliseconds(200);

}  // namespace

// How a pod ended is told before its traces go: a runner that is killed in between finds them, or
// the answer on the server, and never has to guess.
void PodWorker::end() {
  if (absent_ || halting_ || pod_->pod.meta.isDeleting()) return takeDown();
  publish();
  if (std::exchange(ending_, true)) return;
  status_.onSettled([weak = weak_from_this()] {
    auto self = weak.lock();
    if (self && !self->busy_ && !self->takenDown_ && !self->finished_) self->takeDown();
  });
}

void PodWorker::takeDown() {
  for (const auto& spec : specs_) prober_.stop(std::string(spec.name()));
  if (!link_) return removeTraces();
  busy_ = true;
  link_->quit([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self || self->left_) return;
    self->busy_ = false;
    self->removeTraces();
  });
  shim_ = nullptr;
  link_.reset();
}

void PodWorker::removeTraces() {
  const bool erase = absent_ || pod_->pod.meta.isDeleting();
  inBackground<Result<>>(
      *this,
      [&prep = parts_.prep, uid = pod_->uid(), cgroup = cgroupPath(), erase,
       logs = parts_.node.logDir(pod_->ns(), pod_->name(), pod_->uid())] {
        return prep.remove(uid, cgroup, erase ? logs : "");
      },
      [](PodWorker& self, Result<> removed) { self.onTakenDown(std::move(removed)); });
}

void PodWorker::onTakenDown(Result<> result) {
  if (!result) {
    log.debug("pod {}/{}: {}", pod_->ns(), pod_->name(), result.error().text());
    return wakeIn(kRetryTakeDown);
  }
  parts_.network.release(pod_->uid());
  parts_.ports.close(pod_->uid());
  parts_.names.dropHost(pod_->uid());
  record_.sandbox = false;
  takenDown_ = true;
  if (halting_) {
    finished_ = true;
    if (gone_) parts_.owner.post(std::exchange(gone_, nullptr));
    return;
  }
  publish();
  sync();
}

// A pod that has ended stays until somebody deletes it; then we say that nothing is left of it.
void PodWorker::finishDeletion() {
  if (!absent_ && !pod_->pod.meta.isDeleting()) return;
  finished_ = true;
  parts_.prep.removeLogs(parts_.node.logDir(pod_->ns(), pod_->name(), pod_->uid()));
  auto over = [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self && self->gone_) std::exchange(self->gone_, nullptr)();
  };
  if (absent_) return parts_.owner.post(over);
  status_.onSettled([this, weak = weak_from_this(), over] {
    auto self = weak.lock();
    if (!self) return;
    client::DeleteOptions options;
    options.gracePeriodSeconds = 0;
    options.uid = pod_->pod.meta.uid;
    parts_.client.submit(
        parts_.owner,
        client::deleteRequest({client::kind::kPod, pod_->ns(), pod_->name()}, options),
        [over](Result<client::Reply> reply) {
          if (!reply && reply.error().code() != Code::kNotFound)
            log.warn("{}", reply.error().text());
          over();
        });
  });
}

}  // namespace mangrove::runtime
