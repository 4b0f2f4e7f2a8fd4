#include "kernel/make_dir.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mangrove::kernel {
namespace {

struct Place {
  Result<Dir> parent;
  std::string name;
};

Place placeOf(const SysRoot& root, std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view parent = slash == std::string_view::npos ? "." : path.substr(0, slash);
  return {root.dir(parent),
          std::string(path.substr(slash == std::string_view::npos ? 0 : slash + 1))};
}

}  // namespace

Result<bool> makeDir(const SysRoot& root, std::string_view path) {
  const Place place = placeOf(root, path);
  if (!place.parent) return pass(place.parent.error());
  if (::mkdirat(place.parent->fd(), place.name.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  return fail(Code::kIo, "make {}: {}", path, std::strerror(errno));
}

Result<bool> removeDir(const SysRoot& root, std::string_view path) {
  const Place place = placeOf(root, path);
  if (!place.parent) return pass(place.parent.error());
  if (::unlinkat(place.parent->fd(), place.name.c_str(), AT_REMOVEDIR) == 0) return true;
  if (errno == ENOENT) return false;
  return fail(Code::kIo, "remove {}: {}", path, std::strerror(errno));
}

}  // namespace mangrove::kernel
