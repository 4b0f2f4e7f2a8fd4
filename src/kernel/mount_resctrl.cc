#include "kernel/mount_resctrl.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#include "kernel/mount_seam.h"

namespace mangrove::kernel {
namespace {

MountResctrl standIn = nullptr;

}  // namespace

void setMountResctrl(MountResctrl mount) {
  standIn = mount;
}

Result<bool> mountResctrl(const SysRoot& root, std::string_view path) {
  const std::string target = root.root() / path;
  if (standIn != nullptr) return standIn(target);
  struct statfs info {};
  if (::statfs(target.c_str(), &info) != 0) return failErrno(errno, target);
  constexpr decltype(info.f_type) kResctrl = 0x7655821;
  if (info.f_type == kResctrl) return false;
  if (info.f_type != SYSFS_MAGIC)
    return fail(Code::kUnsupported, "mount resctrl on {}: the folder is not sysfs's own", target);
  if (::mount("resctrl", target.c_str(), "resctrl", 0, nullptr) == 0) return true;
  return fail(Code::kIo, "mount resctrl on {}: {}", target, std::strerror(errno));
}

}  // namespace mangrove::kernel
