#pragma once
// Reads control files in the one form that decisions and comparisons use (value.h), wherever the
// machine keeps them. The only reader of the enforcing half: the executor compares by it, and the
// picture (qos/picture.h) that strategies see is made by it.
//
//   ControlReader reader(machine);
//   reader.present({cgroup, resource_name::kCpuQuota})        // nullopt: no such cgroup or file
//   reader.path(cgroup, resource_name::kProcs)
//
// Any thread; holds nothing but the machine.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/executor/value.h"
#include "agent/machine.h"

namespace mangrove::agent {

struct FileKey {
  std::string cgroup;
  std::string_view resource;
  std::string entry = {};
  auto operator<=>(const FileKey&) const = default;
};

class ControlReader {
 public:
  explicit ControlReader(const Machine& machine) : machine_(machine) {}

  // nullopt: not on this cgroup version, or no file we know.
  std::optional<std::string> path(std::string_view cgroup, std::string_view resource) const;
  // As the file says it: what was asked for, not what v2 grants. nullopt: not there.
  Result<std::optional<FileValue>> read(const FileRule& rule, const std::string& path,
                                        std::string_view entry = {}) const;
  // What is in force now.
  std::optional<FileValue> present(const FileKey& key) const;
  // The processes ("cgroup.procs") or threads ("tasks") of a cgroup; none when it is gone.
  std::vector<int> members(std::string_view cgroup, std::string_view resource) const;
  // A file of the machine by its path; nullopt: not there or not readable.
  std::optional<std::string> text(std::string_view path) const;

 private:
  const Machine& machine_;
};

}  // namespace mangrove::agent
