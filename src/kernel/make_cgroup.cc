#include "kernel/make_cgroup.h"

#include "base/text/strings.h"
#include "kernel/cgroup_layout.h"
#include "kernel/make_dir.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::kernel {
namespace {

std::string parentOf(const std::string& dir) {
  return dir.substr(0, dir.rfind('/'));
}

std::string textOf(const SysRoot& root, const std::string& path) {
  const auto found = readText(root, path);
  return found && *found ? std::string(trim(**found)) : "";
}

// What somebody set already stays.
void inheritCpuset(const SysRoot& root, const std::string& dir) {
  for (std::string_view file : {resource_name::kCpuset, resource_name::kCpusetMems}) {
    const std::string path = joinPath({dir, file});
    if (!root.exists(path).value_or(false) || !textOf(root, path).empty()) continue;
    const std::string above = textOf(root, joinPath({parentOf(dir), file}));
    if (!above.empty()) (void)root.write(path, above);
  }
}

// One by one: a controller that this machine lacks must not keep the others away.
void handDownControllers(const SysRoot& root, const std::string& dir) {
  for (const char* one : {"+cpu", "+memory", "+cpuset", "+io", "+pids"})
    (void)root.write(joinPath({dir, resource_name::kSubtreeControl}), one);
}

}  // namespace

Result<> makeCgroup(const SysRoot& root, const std::string& dir, CgroupTreeKind kind) {
  if (kind == CgroupTreeKind::kUnified) handDownControllers(root, parentOf(dir));
  if (auto made = makeDir(root, dir); !made) return made.error().in("cgroup");
  if (kind == CgroupTreeKind::kCpuset) inheritCpuset(root, dir);
  return {};
}

}  // namespace mangrove::kernel
