#include "runtime/shim/stage.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/fd.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kPrivate = {"/tmp", "/run", "/var/log"};
// Made anew instead of shown from the machine.
const std::set<std::string> kOwn = {"dev", "proc", "tmp", "run"};

bool within(const std::string& path, const std::string& dir) {
  return path == dir || path.starts_with(dir + "/");
}

Result<> mountAt(const char* source, const std::string& target, const char* type,
                 unsigned long flags, const std::string& data) {
  if (::mount(source, target.c_str(), type, flags, data.empty() ? nullptr : data.c_str()) == 0)
    return {};
  return failErrno(errno, std::string("mount ") + (type ? type : source) + " at " + target);
}

Result<> bindTo(const std::string& source, const std::string& target, bool recursive = true) {
  const unsigned long flags = recursive ? MS_BIND | MS_REC : MS_BIND;
  return mountAt(source.c_str(), target, nullptr, flags, "");
}

Result<> makeReadOnly(const std::string& target) {
  return mountAt("none", target, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_REC, "");
}

void touch(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

// Programs expect the directories that their packages made: the same ones, empty.
void sameDirectories(const std::string& from, const std::string& to) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    struct stat about {};
    if (::lstat(entry.path().c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) continue;
    const std::string target = to + "/" + entry.path().filename().string();
    if (::mkdir(target.c_str(), 0755) != 0) continue;
    (void)!::chown(target.c_str(), about.st_uid, about.st_gid);
    ::chmod(target.c_str(), about.st_mode & 07777);
  }
}

class Stage {
 public:
  explicit Stage(const ContainerSpecFile& spec) : spec_(spec), root_(spec.scratch + "/root") {}

  Result<> build() {
    if (auto ok = keepMountsInside(); !ok) return ok;
    std::error_code error;
    fs::create_directories(root_, error);
    if (auto ok = mountAt("tmpfs", root_, "tmpfs", 0, "mode=755,size=4m"); !ok) return ok;
    for (auto step : {&Stage::showMachine, &Stage::privateDirs, &Stage::devices, &Stage::processes,
                      &Stage::volumes}) {
      if (auto ok = (this->*step)(); !ok) return ok;
    }
    return enter();
  }

 private:
  std::string at(const std::string& path) const { return root_ + path; }

  static Result<> keepMountsInside() {
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) return {};
    if (errno != EINVAL) return failErrno(errno, "keep the mounts of a pod to itself");
    return fail(Code::kUnsupported,
                "pods cannot run here: the root directory is no mount point, as in a plain chroot; "
                "bind it onto itself first (mount --bind DIR DIR; chroot DIR)");
  }

  Result<> showMachine() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/", error)) {
      const std::string name = entry.path().filename();
      const std::string target = at("/" + name);
      if (entry.is_symlink(error)) {
        fs::copy_symlink(entry.path(), target, error);
        continue;
      }
      if (!entry.is_directory(error)) continue;
      fs::create_directory(target, error);
      if (kOwn.contains(name)) continue;
      if (auto ok = bindTo("/" + name, target); !ok) return ok;
      if (spec_.readOnlyRoot)
        if (auto ok = makeReadOnly(target); !ok) return ok;
    }
    return {};
  }

  Result<> privateDirs() {
    std::error_code error;
    for (const auto& dir : kPrivate) {
      const std::string source = spec_.scratch + "/private" + dir;
      fs::create_directories(source, error);
      if (dir == "/tmp") {
        ::chmod(source.c_str(), 01777);
      } else {
        sameDirectories(dir, source);
      }
      if (!fs::is_directory(at(dir), error)) continue;
      if (auto ok = bindTo(source, at(dir)); !ok) return ok;
    }
    fs::create_directories(at("/run/lock"), error);
    return {};
  }

  Result<> devices() {
    if (spec_.hostDevices) return bindTo("/dev", at("/dev"));
    if (auto ok = mountAt("tmpfs", at("/dev"), "tmpfs", MS_NOSUID, "mode=755,size=64k"); !ok)
      return ok;
    for (const char* node : {"null", "zero", "full", "random", "urandom", "tty"}) {
      touch(at("/dev/") + node);
      if (auto ok = bindTo(std::string("/dev/") + node, at("/dev/") + node, false); !ok) return ok;
    }
    std::error_code error;
    for (const char* dir : {"/dev/pts", "/dev/shm", "/dev/mqueue"})
      fs::create_directory(at(dir), error);
    if (auto ok = mountAt("devpts", at("/dev/pts"), "devpts", MS_NOSUID | MS_NOEXEC,
                          "newinstance,ptmxmode=0666,mode=0620");
        !ok)
      return ok;
    fs::create_symlink("pts/ptmx", at("/dev/ptmx"), error);
    fs::create_symlink("/proc/self/fd", at("/dev/fd"), error);
    for (int i = 0; i < 3; ++i)
      fs::create_symlink("/proc/self/fd/" + std::to_string(i),
                         at(i == 0   ? "/dev/stdin"
                            : i == 1 ? "/dev/stdout"
                                     : "/dev/stderr"),
                         error);
    return mountAt("tmpfs", at("/dev/shm"), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m");
  }

  Result<> processes() {
    if (!spec_.ownPids) return bindTo("/proc", at("/proc"));
    return mountAt("proc", at("/proc"), "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, "");
  }

  Result<> volumes() {
    std::vector<MountSpec> mounts = spec_.mounts;
    if (!spec_.messagePath.empty()) {
      const std::string file = spec_.scratch + "/termination-log";
      touch(file);
      ::chmod(file.c_str(), 0666);
      mounts.push_back({file, spec_.messagePath, false, true});
    }
    const auto exists = [this](const std::string& path) {
      std::error_code error;
      return fs::exists(at(path), error);
    };
    std::vector<std::string> writable = kPrivate;
    writable.push_back("/dev");
    const auto points = planStage(mounts, writable, exists);
    for (size_t i = 0; i < mounts.size(); ++i) {
      if (auto ok = place(mounts[i], points[i]); !ok) return ok;
    }
    return {};
  }

  Result<> place(const MountSpec& mount, const StagePoint& point) {
    std::error_code error;
    if (!point.overlay.empty())
      if (auto ok = overlay(point.overlay); !ok) return ok;
    const std::string target = at(mount.target);
    fs::create_directories(mount.isFile ? fs::path(target).parent_path() : fs::path(target), error);
    if (mount.isFile && !fs::exists(target, error)) touch(target);
    if (auto ok = bindTo(mount.source, target); !ok) return ok;
    return mount.readOnly ? makeReadOnly(target) : Result<>();
  }

  Result<> overlay(const std::string& dir) {
    const std::string layers = spec_.scratch + "/layer" + std::to_string(layers_++);
    std::error_code error;
    fs::create_directories(layers + "/upper", error);
    fs::create_directories(layers + "/work", error);
    return mountAt(
        "overlay", at(dir), "overlay", 0,
        "lowerdir=" + at(dir) + ",upperdir=" + layers + "/upper,workdir=" + layers + "/work");
  }

  Result<> enter() {
    if (::chdir(root_.c_str()) != 0) return failErrno(errno, root_);
    if (::syscall(SYS_pivot_root, ".", ".") != 0) {
      // The root of a machine that runs from its initial ramdisk cannot be left, only covered.
      if (errno != EINVAL) return failErrno(errno, "pivot_root");
      if (auto ok = mountAt(".", "/", nullptr, MS_MOVE, ""); !ok) return ok;
      if (::chroot(".") != 0) return failErrno(errno, "chroot");
    } else if (::umount2(".", MNT_DETACH) != 0) {
      return failErrno(errno, "umount of the old root");
    }
    if (::chdir("/") != 0) return failErrno(errno, "/");
    return {};
  }

  const ContainerSpecFile& spec_;
  const std::string root_;
  int layers_ = 0;
};

}  // namespace

std::vector<StagePoint> planStage(const std::vector<MountSpec>& mounts,
                                  const std::vector<std::string>& writable,
                                  const std::function<bool(const std::string&)>& exists) {
  std::vector<StagePoint> points;
  std::vector<std::string> ours = writable;  // grows with what is mounted and overlaid
  for (const auto& mount : mounts) {
    StagePoint point;
    std::string above = mount.target;
    while (above.size() > 1 && !exists(above)) above = fs::path(above).parent_path();
    const bool missing = above != mount.target;
    const bool free = above == "/" || std::any_of(ours.begin(), ours.end(), [&](const auto& dir) {
                        return within(above, dir);
                      });
    if (missing && !free) {
      point.overlay = above;
      ours.push_back(above);
    }
    if (!mount.readOnly) ours.push_back(mount.target);
    points.push_back(std::move(point));
  }
  return points;
}

Result<> enterStage(const ContainerSpecFile& spec) {
  return Stage(spec).build();
}

}  // namespace mangrove::runtime
