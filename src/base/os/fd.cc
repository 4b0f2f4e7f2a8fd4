#include "base/os/fd.h"

#include <cerrno>

#include <unistd.h>

namespace mangrove {

void UniqueFd::reset(int fd) {
  const int before = errno;
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  errno = before;
}

}  // namespace mangrove
