#include "runtime/node/volumes/volumes.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/core.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

using Kind = api::RunVolume::Kind;
constexpr int kDefaultMode = 0644;

Result<> makeDir(const std::string& path, int mode) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return failErrno(error.value(), path);
  ::chmod(path.c_str(), static_cast<mode_t>(mode));
  return {};
}

bool isMountPoint(const std::string& path) {
  struct stat own {
  }, above{};
  return ::stat(path.c_str(), &own) == 0 && ::stat((path + "/..").c_str(), &above) == 0 &&
         own.st_dev != above.st_dev;
}

// Secrets never reach a disk, where they would outlive the pod. Without root there is no mounting.
Result<> inMemory(const std::string& path) {
  if (auto ok = makeDir(path, 0755); !ok) return ok;
  if (::geteuid() != 0 || isMountPoint(path)) return {};
  constexpr unsigned long kFlags = MS_NODEV | MS_NOSUID | MS_NOEXEC;
  if (::mount("tmpfs", path.c_str(), "tmpfs", kFlags, "mode=755,size=64m") == 0) return {};
  return failErrno(errno, "memory for secrets");
}

Result<ReadyVolume> emptyDir(const RunPod& pod, const api::RunVolume& volume,
                             const std::string& path) {
  if (auto ok = makeDir(path, 0777); !ok) return pass(ok.error());
  if (volume.source == "Memory" && !isMountPoint(path)) {
    const std::string size =
        volume.sizeLimit ? fmt::format("mode=777,size={}", volume.sizeLimit->value()) : "mode=777";
    if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, size.c_str()) < 0)
      return failErrno(errno, "memory-backed directory");
  }
  if (pod.run.security.fsGroup) {
    (void)!::chown(path.c_str(), static_cast<uid_t>(-1),
                   static_cast<gid_t>(*pod.run.security.fsGroup));
    ::chmod(path.c_str(), 02777);
  }
  return ReadyVolume{path, false, false};
}

bool typeFits(const std::string& type, fs::file_type found) {
  if (type == "Directory" || type == "DirectoryOrCreate") return found == fs::file_type::directory;
  if (type == "File" || type == "FileOrCreate") return found == fs::file_type::regular;
  if (type == "Socket") return found == fs::file_type::socket;
  if (type == "CharDevice") return found == fs::file_type::character;
  if (type == "BlockDevice") return found == fs::file_type::block;
  return true;
}

// Our keys and every pod's secrets are there; whoever is to have them has the machine.
bool isOurs(const std::string& path, const std::string& dataDir) {
  std::error_code error;
  const std::string real = fs::weakly_canonical(path, error), ours = fs::canonical(dataDir, error);
  return !ours.empty() && (real == ours || real.starts_with(ours + "/"));
}

Result<ReadyVolume> hostPath(const api::RunVolume& volume, const NodeFacts& node) {
  std::error_code error;
  if (isOurs(volume.source, node.dataDir))
    return invalid("hostPath {} lies in the data directory {} of this node, which no pod is shown",
                   volume.source, node.dataDir);
  auto found = fs::status(volume.source, error).type();
  if (found == fs::file_type::not_found && volume.hostPathType == "FileOrCreate") {
    if (auto ok = writeFileAtomically(volume.source, ""); !ok) return pass(ok.error());
  } else if (found == fs::file_type::not_found &&
             (volume.hostPathType == "DirectoryOrCreate" || volume.hostPathType.empty())) {
    if (auto ok = makeDir(volume.source, 0755); !ok) return pass(ok.error());
  }
  found = fs::status(volume.source, error).type();
  if (!typeFits(volume.hostPathType, found))
    return invalid("hostPath type check failed: {} is not a {}", volume.source,
                   volume.hostPathType.empty() ? "file or directory" : volume.hostPathType);
  return ReadyVolume{volume.source, found != fs::file_type::directory, volume.readOnly};
}

Result<ReadyVolume> claimed(const RunPod& pod, const api::RunVolume& volume, ConfigSource& source) {
  auto path = source.claimPath(pod.ns(), volume.source);
  if (!path) return pass(path.error());
  std::error_code error;
  if (!fs::exists(*path, error))
    if (auto ok = makeDir(*path, 0777); !ok) return pass(ok.error());
  return ReadyVolume{*path, false, volume.readOnly};
}

// The names directly below the volume that links are made for.
std::string firstPart(const std::string& path) {
  return path.substr(0, path.find('/'));
}

// Names that begin with ".." are the volume's own ("..data").
bool leadsOut(std::string_view name) {
  if (name.empty() || name.starts_with('/') || name.starts_with("..")) return true;
  for (auto part : split(name, '/'))
    if (part == "..") return true;
  return false;
}

Files present(const std::string& dir) {
  Files out;
  std::error_code error;
  const fs::path root = dir + "/..data";
  for (auto it = fs::recursive_directory_iterator(
           root, fs::directory_options::follow_directory_symlink, error);
       it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (error || !it->is_regular_file(error)) continue;
    if (auto bytes = readFile(it->path())) out[it->path().lexically_relative(root)] = {*bytes};
  }
  return out;
}

// Whoever is in the pod's group reads them, whatever their modes say; as a kubelet does.
void shareWithGroup(Files& files, int64_t group, int defaultMode) {
  for (auto& [path, file] : files) {
    if (!file.gid) file.gid = group;
    file.mode = file.mode.value_or(defaultMode) | 0440;
  }
}

bool sameBytes(const Files& a, const Files& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j)
    if (i->first != j->first || i->second.bytes != j->second.bytes) return false;
  return true;
}

Result<ReadyVolume> makeVolume(const RunPod& pod, const NodeFacts& node, const DownwardFacts& facts,
                               ConfigSource& source, const api::RunVolume& volume) {
  const std::string path = node.podDir(pod.uid()) + "/volumes/" + volume.name;
  switch (volume.kind) {
    case Kind::kEmptyDir:
      return emptyDir(pod, volume, path);
    case Kind::kHostPath:
      return hostPath(volume, node);
    case Kind::kClaim:
      return claimed(pod, volume, source);
    case Kind::kConfigMap:
    case Kind::kSecret:
    case Kind::kProjected:
    case Kind::kDownward: {
      auto files = source.volumeFiles(pod, facts, volume);
      if (!files) return pass(files.error());
      const bool secret = volume.kind == Kind::kSecret || volume.kind == Kind::kProjected;
      if (auto ok = secret ? inMemory(path) : Result<>(); !ok) return pass(ok.error());
      if (pod.run.security.fsGroup)
        shareWithGroup(*files, *pod.run.security.fsGroup,
                       volume.defaultMode.value_or(kDefaultMode));
      auto written =
          writeFiles(path, *files, volume.defaultMode.value_or(kDefaultMode), realClock().wall());
      if (!written) return pass(written.error());
      return ReadyVolume{path, false, true};
    }
    default:
      return fail(Code::kUnsupported,
                  "this runner has emptyDir, hostPath, configMap, secret, downwardAPI, projected "
                  "and persistentVolumeClaim volumes, and this is none of them");
  }
}

}  // namespace

Result<bool> writeFiles(const std::string& dir, const Files& files, int defaultMode, WallTime now) {
  for (const auto& [name, file] : files)
    if (leadsOut(name))
      return invalid("'{}' must be a path below the volume, without '..' and not beginning with it",
                     name);
  if (auto ok = makeDir(dir, 0755); !ok) return pass(ok.error());
  std::error_code error;
  const std::string old = fs::read_symlink(dir + "/..data", error);
  if (!old.empty() && sameBytes(present(dir), files)) return false;
  std::string stamp = ".." + formatMicroTime(now);
  std::replace(stamp.begin(), stamp.end(), ':', '_');
  const std::string fresh = dir + "/" + stamp;
  if (auto ok = makeDir(fresh, 0755); !ok) return pass(ok.error());
  for (const auto& [name, file] : files) {
    const std::string path = fresh + "/" + name;
    fs::create_directories(fs::path(path).parent_path(), error);
    const auto mode = static_cast<mode_t>(file.mode.value_or(defaultMode));
    if (auto ok = writeFileAtomically(path, file.bytes, {.mode = mode, .sync = false}); !ok)
      return pass(ok.error());
    // Without root nobody else's user runs here either.
    if (file.uid || file.gid)
      (void)!::chown(path.c_str(), static_cast<uid_t>(file.uid.value_or(-1)),
                     static_cast<gid_t>(file.gid.value_or(-1)));
    ::chmod(path.c_str(), mode);
  }
  fs::remove(dir + "/..data_tmp", error);
  fs::create_directory_symlink(stamp, dir + "/..data_tmp", error);
  fs::rename(dir + "/..data_tmp", dir + "/..data", error);
  if (error) return failErrno(error.value(), dir + "/..data");
  for (const auto& [name, file] : files)
    if (!fs::is_symlink(dir + "/" + firstPart(name), error))
      fs::create_symlink("..data/" + firstPart(name), dir + "/" + firstPart(name), error);
  if (!old.empty()) fs::remove_all(dir + "/" + old, error);
  return true;
}

Result<ReadyVolumes> makeVolumes(const RunPod& pod, const NodeFacts& node,
                                 const DownwardFacts& facts, ConfigSource& source) {
  ReadyVolumes out;
  for (const auto& volume : pod.run.volumes) {
    auto ready = makeVolume(pod, node, facts, source, volume);
    if (!ready) return ready.error().in("MountVolume.SetUp failed for volume \"{}\" ", volume.name);
    out[volume.name] = std::move(*ready);
  }
  return out;
}

void releaseVolumes(const std::string& podDir) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(podDir + "/volumes", error))
    if (entry.path().filename().string().starts_with(kPartPrefix) || isMountPoint(entry.path()))
      ::umount2(entry.path().c_str(), MNT_DETACH);
}

}  // namespace mangrove::runtime
