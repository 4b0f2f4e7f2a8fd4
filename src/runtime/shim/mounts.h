#pragma once
// Mounting by descriptor. What is mounted and where is opened first, beneath a directory out of
// which no link leads, and only what was opened is mounted: nobody can move a name in between.
// Blocking system calls; any thread, but mounts belong to the calling process's namespace.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::runtime {

// A path below `root`, whose links are followed as a process sees them for which `root` is "/".
Result<UniqueFd> openInRoot(int root, std::string_view path);
// The same for a path that must stay beneath: a link that leads out is an error, ".." as well.
Result<UniqueFd> openBeneath(int top, std::string_view path);
// Makes what is missing on the way (directories, then a file or a directory at the end, with this
// mode and owner) and opens the end.
struct Made {
  bool file = false;
  unsigned mode = 0755;
  int64_t owner = 0;  // user and group
};
Result<UniqueFd> makeInRoot(int root, std::string_view path, const Made& made);
Result<UniqueFd> makeBeneath(int top, std::string_view path, const Made& made);

Result<UniqueFd> openPath(const std::string& path);  // O_PATH, links followed

struct MountTraits {
  bool readOnly = false;
  bool noDevices = false;
  bool noSetuid = false;
  bool noExecute = false;
  int users = -1;  // a user namespace: files of its user N are those of the file system's user N
};
// A mount of its own of what is open: the tree with everything mounted in it, or the one file
// system.
Result<UniqueFd> cloneTree(int of, bool recursive);
// Adds the traits, recursively; other traits stay as they are.
Result<> setTraits(int mount, const MountTraits& traits, bool recursive = true);
// A new file system, with options as mount(8) takes them: "mode=755,size=4m". The descriptor
// itself when the option is a descriptor is not supported; see overlay in stage.cc.
Result<UniqueFd> newFileSystem(const char* type, std::string_view options,
                               const MountTraits& traits);
Result<> attach(int mount, int at);
// True where a mount of this directory can have its users mapped by the namespace.
bool canMapUsers(const std::string& directory, int users);

}  // namespace mangrove::runtime
