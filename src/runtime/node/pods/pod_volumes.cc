#include "runtime/node/pods/pod_volumes.h"

#include <filesystem>

#include <sys/stat.h>

#include "runtime/core/storage_limits.h"

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

PodVolumes::PodVolumes(PodPrep& prep, const NodeFacts& node, Mailbox& preparing, Mailbox& owner)
    : prep_(prep), node_(node), preparing_(preparing), owner_(owner) {}

void PodVolumes::refresh(RunPodPtr pod, std::string ip) {
  preparing_.post(
      [&prep = prep_, pod = std::move(pod), ip = std::move(ip)] { prep.refreshVolumes(*pod, ip); });
}

void PodVolumes::check(RunPodPtr pod, UniqueFn<void(std::string)> over) {
  if (!hasStorageLimits(*pod)) return;
  preparing_.post(
      [&node = node_, &owner = owner_, pod = std::move(pod), over = std::move(over)]() mutable {
        auto trouble = storageTrouble(*pod, measure(*pod, node));
        if (!trouble) return;
        owner.post([over = std::move(over), message = std::move(*trouble)]() mutable {
          over(std::move(message));
        });
      });
}

}  // namespace mangrove::runtime
