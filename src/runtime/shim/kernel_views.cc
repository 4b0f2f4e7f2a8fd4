#include "runtime/shim/kernel_views.h"

#include <filesystem>

#include <sys/stat.h>

#include "base/os/fd.h"
#include "runtime/shim/mounts.h"

namespace mangrove::runtime {

namespace {

constexpr MountTraits kClosed{
    .readOnly = true, .noDevices = true, .noSetuid = true, .noExecute = true};

// Files that tell about the machine, its devices and its other users.
constexpr std::string_view kMaskedProc[] = {
    "/proc/acpi",        "/proc/asound",        "/proc/interrupts", "/proc/kcore",
    "/proc/keys",        "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats",
    "/proc/sched_debug", "/proc/scsi",          "/proc/kallsyms",   "/proc/slabinfo"};
// Files by which the kernel takes orders.
constexpr std::string_view kReadOnlyProc[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                              "/proc/sysrq-trigger"};
constexpr std::string_view kMaskedSys[] = {"/sys/firmware", "/sys/devices/virtual/powercap",
                                           "/sys/kernel/debug", "/sys/kernel/tracing",
                                           "/sys/kernel/security"};
constexpr std::string_view kGroups = "/sys/fs/cgroup";

bool isDirectory(int fd) {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
}

Result<> onto(int root, std::string_view target, Result<UniqueFd> mount) {
  if (!mount) return pass(mount.error());
  auto at = openInRoot(root, target);
  if (!at) return pass(at.error());
  return attach(mount->get(), at->get());
}

Result<UniqueFd> closedCopy(Result<UniqueFd> of) {
  if (!of) return of;
  auto tree = cloneTree(of->get(), false);
  if (!tree) return tree;
  if (auto ok = setTraits(tree->get(), kClosed, false); !ok) return pass(ok.error());
  return tree;
}

// Reads as empty; so it must stay a device.
Result<UniqueFd> emptyFile() {
  auto null = openPath("/dev/null");
  if (!null) return null;
  auto copy = cloneTree(null->get(), false);
  if (copy) (void)setTraits(copy->get(), {.readOnly = true, .noSetuid = true}, false);
  return copy;
}

// "/sys/fs/cgroup/cpu" for "sys/fs/cgroup/cpu/kubepods/…"; the top itself where there is one tree.
std::string groupTarget(const std::string& dir, bool oneTree) {
  if (oneTree) return std::string(kGroups);
  const size_t from = kGroups.size();  // the spec's path lacks the first slash: one less
  return "/" + dir.substr(0, dir.find('/', from));
}

Result<> showGroups(int root, const std::vector<std::string>& cgroups) {
  std::error_code error;
  const bool oneTree = std::filesystem::exists(std::string(kGroups) + "/cgroup.controllers", error);
  if (!oneTree)
    if (auto ok = onto(root, kGroups, newFileSystem("tmpfs", "mode=755,size=64k", {})); !ok)
      return ok;
  for (const auto& dir : cgroups) {
    const std::string target = groupTarget(dir, oneTree);
    // Beside the trees of version 1 a container has none of version 2, as with other runtimes: who
    // finds one takes the machine for one of that version.
    if (!oneTree && target.ends_with("/unified")) continue;
    if (auto made = makeInRoot(root, target, {}); !made) return pass(made.error());
    if (auto ok = onto(root, target, closedCopy(openPath("/" + dir))); !ok) return ok;
  }
  if (oneTree) return {};
  auto top = openInRoot(root, kGroups);
  return top ? setTraits(top->get(), kClosed, false) : pass(top.error());
}

}  // namespace

Result<> coverWithNothing(int root, std::string_view path) {
  auto there = openInRoot(root, path);
  if (!there) return {};  // this kernel has none
  auto nothing =
      isDirectory(there->get()) ? newFileSystem("tmpfs", "mode=755,size=4k", kClosed) : emptyFile();
  if (!nothing) return pass(nothing.error());
  return attach(nothing->get(), there->get());
}

Result<> maskProc(int root) {
  for (auto path : kMaskedProc)
    if (auto ok = coverWithNothing(root, path); !ok) return ok.error().in("{}", path);
  for (auto path : kReadOnlyProc) {
    auto there = openInRoot(root, path);
    if (!there) continue;
    const int at = there->get();
    auto copy = cloneTree(at, true);
    if (copy) (void)setTraits(copy->get(), kClosed);
    if (!copy) return copy.error().in("{}", path);
    if (auto ok = attach(copy->get(), at); !ok) return ok.error().in("{}", path);
  }
  return {};
}

Result<> showSys(int root, const std::vector<std::string>& cgroups) {
  auto fresh = newFileSystem("sysfs", "", kClosed);
  // A user's own namespaces show the machine's, with everything mounted in it.
  if (!fresh) {
    auto whole = openPath("/sys");
    fresh = whole ? cloneTree(whole->get(), true) : std::move(whole);
    if (fresh) (void)setTraits(fresh->get(), kClosed);
  }
  if (auto ok = onto(root, "/sys", std::move(fresh)); !ok) return ok.error().in("/sys");
  for (auto path : kMaskedSys)
    if (auto ok = coverWithNothing(root, path); !ok) return ok.error().in("{}", path);
  return showGroups(root, cgroups);
}

}  // namespace mangrove::runtime
