#pragma once
// How a path is opened so that it cannot leave a root: an absolute symlink starts again at the root
// and
// ".." stops there, as in a chroot. Private to the kernel layer; use SysRoot.

namespace mangrove::kernel {

// Both return a descriptor or -1 with errno, and take openat's flags. `root` is a directory
// descriptor.

// By openat2(RESOLVE_IN_ROOT); falls back to openByHand where the kernel (before 5.6) or a sandbox
// does not let us.
int openInRoot(int root, const char* path, int flags);
// Component by component in user space. Slower, and a rename during the walk can confuse it.
int openByHand(int root, const char* path, int flags);

// Relative to `dir` without leaving it; EXDEV when a symlink or ".." would. Where the kernel lacks
// openat2 every symlink is EXDEV.
int openBeneath(int dir, const char* path, int flags);

}  // namespace mangrove::kernel
