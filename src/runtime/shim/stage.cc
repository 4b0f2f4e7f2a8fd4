#include "runtime/shim/stage.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/os/files.h"
#include "runtime/shim/kernel_views.h"
#include "runtime/shim/layers.h"
#include "runtime/shim/mounts.h"
#include "runtime/shim/stage_plan.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

// Of a privileged container: its own, beside the machine's.
const std::vector<std::string> kPrivate = {"/tmp", "/run", "/var/log"};
// Made anew instead of shown from the machine.
const std::set<std::string> kOwn = {"dev", "proc", "tmp", "run"};
// Of a contained one: empty ones of its own, on disk and in memory.
const std::vector<std::string> kEmpty = {"/tmp", "/run", "/var", "/root"};
const std::vector<std::string> kBare = {"/home", "/srv", "/mnt", "/media"};

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

void touch(const std::string& path, mode_t mode) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode));
  if (fd) (void)::fchmod(fd.get(), mode);
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

void fillVar(const std::string& var) {
  std::error_code error;
  for (const char* part : {"/log", "/lib", "/cache", "/spool"}) {
    fs::create_directories(var + part, error);
    sameDirectories(std::string("/var") + part, var + part);
  }
  for (const char* part : {"/tmp", "/opt", "/local", "/mail", "/www"})
    fs::create_directories(var + part, error);
  ::chmod((var + "/tmp").c_str(), 01777);
  fs::create_symlink("/run", var + "/run", error);
  fs::create_symlink("/run/lock", var + "/lock", error);
}

void fillPrivate(const std::string& name, const std::string& dir) {
  std::error_code error;
  if (name == "/tmp") {
    ::chmod(dir.c_str(), 01777);
  } else if (name == "/root") {
    ::chmod(dir.c_str(), 0700);
  } else if (name == "/var") {
    fillVar(dir);
  } else {
    sameDirectories(name, dir);
    if (name == "/run") fs::create_directories(dir + "/lock", error);
  }
}

class Stage {
 public:
  Stage(const ContainerSpecFile& spec, int users)
      : spec_(spec),
        contained_(spec.view == kViewContained && spec.ownRoot),
        users_(users),
        owner_(users >= 0 ? spec.firstUser : 0),
        root_(spec.scratch + "/root"),
        layers_(spec.scratch, users, owner_, spec.noDevices) {}

  Result<> build() {
    if (auto ok = keepMountsInside(); !ok) return ok;
    if (auto ok = emptyRoot(); !ok) return ok;
    mounts_ = spec_.mounts;
    addMessageFile();
    for (auto step : {&Stage::showRoot, &Stage::showMounts, &Stage::privateDirs, &Stage::hideData,
                      &Stage::mountPoints, &Stage::closeRoot, &Stage::devices, &Stage::kernelViews,
                      &Stage::volumes})
      if (auto ok = (this->*step)(); !ok) return ok;
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

  std::string owned(std::string options) const {
    return owner_ == 0 ? options : fmt::format("{},uid={},gid={}", options, owner_, owner_);
  }

  void giveToPod(const std::string& path) const {
    if (owner_ != 0)
      (void)!::lchown(path.c_str(), static_cast<uid_t>(owner_), static_cast<gid_t>(owner_));
  }

  Result<> emptyRoot() {
    std::error_code error;
    fs::create_directories(root_, error);
    const unsigned long flags = spec_.noDevices ? static_cast<unsigned long>(MS_NODEV) : 0UL;
    if (auto ok = mountAt("tmpfs", root_, "tmpfs", flags, owned("mode=755,size=4m")); !ok)
      return ok;
    auto fd = openPath(root_);
    if (!fd) return pass(fd.error());
    rootFd_ = std::move(*fd);
    return {};
  }

  Result<> showRoot() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/", error)) {
      const std::string name = entry.path().filename();
      const std::string target = at("/" + name);
      if (contained_ && !isProgramFolder(name)) continue;
      if (entry.is_symlink(error)) {
        fs::copy_symlink(entry.path(), target, error);
        continue;
      }
      if (!entry.is_directory(error)) continue;
      fs::create_directory(target, error);
      if (kOwn.contains(name)) continue;
      auto ok =
          contained_ ? layers_.cover("/" + name, target, spec_.hidden) : bindTo("/" + name, target);
      if (!ok) return ok;
    }
    return {};
  }

  // /usr/local and /opt often have file systems of their own, drivers sometimes.
  Result<> showMounts() {
    auto table = contained_ ? readFile("/proc/self/mountinfo") : std::string();
    if (!table) return pass(table.error());
    std::error_code error;
    for (const auto& path : mountsAmongPrograms(*table, spec_.dataDir)) {
      if (!fs::is_directory(at(path), error) || layers_.cover(path, at(path), spec_.hidden))
        continue;
      // One that can have no layer over it, such as a network's, can still be read.
      if (auto ok = showReadOnly(path); !ok) return ok.error().in("mount {} of the machine", path);
    }
    return {};
  }
  Result<> showReadOnly(const std::string& path) {
    auto source = openPath(path);
    if (!source) return pass(source.error());
    auto tree = cloneTree(source->get(), false);
    if (!tree) return pass(tree.error());
    if (auto ok = setTraits(tree->get(), {.readOnly = true, .noDevices = spec_.noDevices}); !ok)
      return ok;
    auto target = openInRoot(rootFd_.get(), path);
    return target ? attach(tree->get(), target->get()) : pass(target.error());
  }

  Result<> privateDirs() {
    std::error_code error;
    for (const auto& dir : contained_ ? kEmpty : kPrivate) {
      const std::string source = spec_.scratch + "/private" + dir;
      fs::create_directories(source, error);
      fillPrivate(dir, source);
      if (contained_) fs::create_directory(at(dir), error);
      if (!fs::is_directory(at(dir), error)) continue;
      if (auto ok = mountVolume({source, dir, false, false, ""}); !ok) return ok;
    }
    if (!contained_) return {};
    for (const auto& dir : kBare) {
      fs::create_directory(at(dir), error);
      giveToPod(at(dir));
    }
    for (const char* dir : {"/dev", "/proc", "/sys"}) fs::create_directory(at(dir), error);
    return {};
  }

  // Where somebody keeps our directory among the programs, containers see an empty one.
  Result<> hideData() {
    std::error_code error;
    if (spec_.dataDir.empty() || !contained_ || !fs::exists(at(spec_.dataDir), error)) return {};
    return coverWithNothing(rootFd_.get(), spec_.dataDir);
  }

  void addMessageFile() {
    if (spec_.messagePath.empty()) return;
    const std::string file = spec_.scratch + "/termination-log";
    touch(file, 0666);
    mounts_.push_back({file, spec_.messagePath, false, true, ""});
  }

  bool insideAnother(size_t which) const {
    for (size_t i = 0; i < mounts_.size(); ++i)
      if (i != which && within(mounts_[which].target, mounts_[i].target)) return true;
    return false;
  }

  // Before the root becomes read-only. Those inside other volumes, and below /dev, come later.
  Result<> mountPoints() {
    if (!contained_) return layersForPoints();
    for (size_t i = 0; i < mounts_.size(); ++i) {
      if (insideAnother(i) || within(mounts_[i].target, "/dev")) continue;
      auto made = makeInRoot(rootFd_.get(), mounts_[i].target,
                             {.file = mounts_[i].isFile, .owner = owner_});
      if (!made && !mounts_[i].isFile) return made.error().in("mount point {}", mounts_[i].target);
    }
    return {};
  }

  // The machine's own directories must not change.
  Result<> layersForPoints() {
    const auto exists = [this](const std::string& path) {
      std::error_code error;
      return fs::exists(at(path), error);
    };
    std::vector<std::string> writable = kPrivate;
    writable.push_back("/dev");
    for (const auto& point : planStage(mounts_, writable, exists)) {
      if (point.overlay.empty()) continue;
      if (auto ok = layers_.cover(at(point.overlay), at(point.overlay), {}); !ok) return ok;
    }
    return {};
  }

  Result<> closeRoot() {
    if (!spec_.readOnlyRoot) return {};
    return setTraits(rootFd_.get(), {.readOnly = true});
  }

  Result<> devices() {
    if (spec_.view == kViewMachine) return bindTo("/dev", at("/dev"));
    if (auto ok = mountAt("tmpfs", at("/dev"), "tmpfs", MS_NOSUID | MS_NOEXEC,
                          owned("mode=755,size=64k"));
        !ok)
      return ok;
    for (const char* node : {"null", "zero", "full", "random", "urandom", "tty"}) {
      touch(at("/dev/") + node, 0666);
      if (auto ok = bindTo(std::string("/dev/") + node, at("/dev/") + node, false); !ok) return ok;
    }
    if (auto ok = givenDevices(); !ok) return ok;
    std::error_code error;
    for (const char* dir : {"/dev/pts", "/dev/shm", "/dev/mqueue"})
      fs::create_directory(at(dir), error);
    if (auto ok = mountAt("devpts", at("/dev/pts"), "devpts", MS_NOSUID | MS_NOEXEC,
                          "newinstance,ptmxmode=0666,mode=0620");
        !ok)
      return ok;
    deviceLinks();
    if (auto ok = mountAt("tmpfs", at("/dev/shm"), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                          "mode=1777,size=64m");
        !ok)
      return ok;
    if (!spec_.noDevices) return {};
    // The nodes above are mounts of their own; one that is made beside them does nothing.
    auto dev = openInRoot(rootFd_.get(), "/dev");
    return dev ? setTraits(dev->get(), {.noDevices = true}, false) : pass(dev.error());
  }

  // Of the cards that the pod was given; others of the machine are not there.
  Result<> givenDevices() const {
    for (const std::string& path : spec_.devices) {
      std::error_code error;
      fs::create_directories(fs::path(at(path)).parent_path(), error);
      touch(at(path), 0666);
      if (auto ok = bindTo(path, at(path), false); !ok) return ok.error().in("device {}", path);
    }
    return {};
  }

  void deviceLinks() const {
    std::error_code error;
    fs::create_symlink("pts/ptmx", at("/dev/ptmx"), error);
    fs::create_symlink("/proc/self/fd", at("/dev/fd"), error);
    const char* names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int i = 0; i < 3; ++i)
      fs::create_symlink("/proc/self/fd/" + std::to_string(i), at(names[i]), error);
  }

  Result<> kernelViews() {
    auto proc = spec_.ownPids
                    ? mountAt("proc", at("/proc"), "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, "")
                    : bindTo("/proc", at("/proc"));
    if (!proc) return proc;
    if (spec_.view == kViewMachine) return {};  // the machine's /sys is there already
    if (!spec_.maskKernel) return contained_ ? bindTo("/sys", at("/sys")) : Result<>();
    if (auto ok = maskProc(rootFd_.get()); !ok) return ok;
    return showSys(rootFd_.get(), spec_.cgroups);
  }

  Result<> volumes() {
    for (const auto& mount : mounts_)
      if (auto ok = mountVolume(mount); !ok) return ok.error().in("mount at {}", mount.target);
    return {};
  }

  Result<UniqueFd> sourceOf(const MountSpec& mount) const {
    auto top = openPath(mount.source);
    if (!top || mount.sub.empty()) return top;
    // As open to the pod's users as the volume itself.
    struct stat about {};
    (void)::fstat(top->get(), &about);
    return makeBeneath(top->get(), mount.sub, {.mode = about.st_mode & 07777});
  }

  Result<> mountVolume(const MountSpec& mount) {
    auto source = sourceOf(mount);
    if (!source) return pass(source.error());
    struct stat about {};
    (void)::fstat(source->get(), &about);
    auto target =
        makeInRoot(rootFd_.get(), mount.target, {.file = !S_ISDIR(about.st_mode), .owner = owner_});
    if (!target) return pass(target.error());
    auto tree = cloneTree(source->get(), true);
    if (!tree) return pass(tree.error());
    // Files of a kind that knows no mapping (/proc, a network's) keep the machine's owners.
    if (users_ >= 0) (void)setTraits(tree->get(), {.users = users_});
    if (auto ok =
            setTraits(tree->get(), {.readOnly = mount.readOnly, .noDevices = spec_.noDevices});
        !ok)
      return ok;
    if (auto ok = attach(tree->get(), target->get()); !ok) return ok;
    // A part of the machine that holds our directory is shown without it.
    if (spec_.dataDir.empty() || !within(spec_.dataDir, mount.source)) return {};
    const std::string rest =
        mount.source == "/" ? spec_.dataDir : spec_.dataDir.substr(mount.source.size());
    return coverWithNothing(rootFd_.get(), mount.target + rest);
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
  const bool contained_;  // private copies; else the machine's directories themselves
  const int users_;
  const int64_t owner_;  // the machine's user who is root inside
  const std::string root_;
  Layers layers_;
  UniqueFd rootFd_;
  std::vector<MountSpec> mounts_;
};

}  // namespace

Result<> enterStage(const ContainerSpecFile& spec, int users) {
  return Stage(spec, users).build();
}

}  // namespace mangrove::runtime
