#include "agent/executor/reflex_acts.h"

#include "agent/executor/value.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {

namespace name = kernel::resource_name;

Result<> ReflexActs::may(std::string_view resource) const {
  const FileRule* rule = ruleOf(resource);
  if (rule && rankOf(*rule, owner_)) return {};
  return fail(Code::kDenied, "{} may not write {}", owner_, resource);
}

std::string ReflexActs::path(std::string_view resource, std::string_view cgroup) const {
  return kernel::filePath(trees_, *kernel::findResource(resource), cgroup).value_or("");
}

Result<> ReflexActs::freeze(std::string_view cgroup, bool frozen) const {
  if (auto ok = may(name::kCgroupFreeze); !ok) return ok;
  return root_.write(kernel::joinPath({trees_.pressurePath(cgroup), name::kCgroupFreeze}),
                     frozen ? "1" : "0");
}

Result<> ReflexActs::reclaim(std::string_view cgroup, Bytes bytes) const {
  if (auto ok = may(name::kMemoryReclaim); !ok) return ok;
  return root_.write(path(name::kMemoryReclaim, cgroup), std::to_string(bytes.v));
}

Result<> ReflexActs::squeeze(std::string_view cgroup, Bytes most) const {
  if (auto ok = may(name::kMemoryLimit); !ok) return ok;
  const std::string file = path(name::kMemoryLimit, cgroup);
  const auto before = kernel::readText(root_, file);
  if (!before || !*before) return fail(Code::kNotFound, "{} cannot be read", file);
  auto ok = root_.write(file, std::to_string(most.v));
  auto back = root_.write(file, **before);
  return back ? ok : back;
}

}  // namespace mangrove::agent
