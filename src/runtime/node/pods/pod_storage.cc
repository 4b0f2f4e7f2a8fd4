// How much disk a pod uses here, and its end when that is more than it may.
#include <filesystem>

#include <sys/stat.h>

#include "runtime/core/storage_limits.h"
#include "runtime/node/pods/pod_worker.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

// What the disk gives for it, as du counts.
int64_t bytesBelow(const fs::path& top) {
  int64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator it(top, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    struct stat about {};
    if (::lstat(it->path().c_str(), &about) == 0) bytes += int64_t{about.st_blocks} * 512;
  }
  return bytes;
}

StorageUse measure(const RunPod& pod, const NodeFacts& node) {
  StorageUse use;
  const std::string dir = node.podDir(pod.uid());
  for (const auto& volume : pod.run.volumes)
    if (volume.kind == api::RunVolume::Kind::kEmptyDir && volume.source != "Memory")
      use.volumes[volume.name] = bytesBelow(dir + "/volumes/" + volume.name);
  const std::string logs = node.logDir(pod.ns(), pod.name(), pod.uid());
  for (const auto& one : containersOf(pod))
    use.containers[std::string(one.name())] = bytesBelow(logs + "/" + std::string(one.name()));
  std::error_code error;
  for (const auto& run : fs::directory_iterator(dir + "/run", error)) {
    const std::string name = run.path().filename();  // NAME-ATTEMPT
    auto found = use.containers.find(name.substr(0, name.rfind('-')));
    if (found != use.containers.end())
      found->second += bytesBelow(run.path() / "private") + bytesBelow(run.path() / "layers");
  }
  return use;
}

}  // namespace

void PodWorker::checkStorage() {
  const bool runs = record_.sandbox && !finished_ && !takenDown_ && record_.failReason.empty() &&
                    !pod_->pod.meta.isDeleting();
  if (!runs || !hasStorageLimits(*pod_)) return;
  preparing_.post(
      [weak = weak_from_this(), &node = parts_.node, &owner = parts_.owner, pod = pod_] {
        auto trouble = storageTrouble(*pod, measure(*pod, node));
        if (!trouble) return;
        owner.post([weak, message = std::move(*trouble)] {
          auto self = weak.lock();
          if (!self || self->left_ || !self->record_.failReason.empty()) return;
          self->refuse("Evicted", message);
          self->sync();
        });
      });
}

}  // namespace mangrove::runtime
