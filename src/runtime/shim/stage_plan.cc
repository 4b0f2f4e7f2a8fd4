#include "runtime/shim/stage_plan.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text/strings.h"
#include "kernel/block_devices.h"

namespace mangrove::runtime {

namespace {

// The kernel writes blanks and backslashes of a path as three octal digits.
std::string plainPath(std::string_view written) {
  std::string out;
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '\\' || i + 3 >= written.size()) {
      out += written[i];
      continue;
    }
    out += static_cast<char>((written[i + 1] - '0') * 64 + (written[i + 2] - '0') * 8 +
                             (written[i + 3] - '0'));
    i += 3;
  }
  return out;
}

// Below a directory of the top that is copied. Files of /etc that are mounted one by one are the
// machine's own affair, such as its resolver.
bool isAmongPrograms(const std::string& path) {
  const size_t end = path.find('/', 1);
  if (path.empty() || end == std::string::npos) return false;
  const std::string top = path.substr(1, end - 1);
  return top != "etc" && isProgramFolder(top);
}

}  // namespace

bool within(const std::string& path, const std::string& dir) {
  return dir == "/" || path == dir || path.starts_with(dir + "/");
}

bool isProgramFolder(const std::string& name) {
  static const std::set<std::string> kNames = {"usr", "bin", "sbin", "opt", "etc"};
  return kNames.contains(name) || name.starts_with("lib");
}

std::vector<StagePoint> planStage(const std::vector<MountSpec>& mounts,
                                  const std::vector<std::string>& writable,
                                  const std::function<bool(const std::string&)>& exists) {
  std::vector<StagePoint> points;
  std::vector<std::string> ours = writable;  // grows with what is mounted and overlaid
  for (const auto& mount : mounts) {
    StagePoint point;
    std::string above = mount.target;
    while (above.size() > 1 && !exists(above)) above = std::filesystem::path(above).parent_path();
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

std::vector<std::string> mountsAmongPrograms(std::string_view mountinfo,
                                             const std::string& hidden) {
  std::set<std::string> found;  // in their order outer ones come first
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto mount = kernel::parseMountLine(line);
    if (!mount) continue;
    const std::string path = plainPath(mount->target);
    if (isAmongPrograms(path) && (hidden.empty() || !within(path, hidden))) found.insert(path);
  }
  return {found.begin(), found.end()};
}

}  // namespace mangrove::runtime
