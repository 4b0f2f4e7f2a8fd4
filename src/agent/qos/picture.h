#pragma once
// What the machine has, as everybody in one tick sees it: each file is read at most once, by whoever
// asks first, and all strategies decide from the same text. Strategies open no files themselves
// (scripts/layers.py refuses it); this is their only way to ask.
//
//   Picture picture(reader, "/var/lib/kubelet");
//   picture.renew();                                    // at every tick
//   picture.present(cgroup, resource_name::kCpuQuota)
//
// Owner thread only.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/executor/control_reader.h"

namespace mangrove::agent {

// How full the file system with the pods' files is.
struct DiskUse {
  double usedPercent = 0;
  double inodePercent = 0;
};

// The questions; tests answer them from tables.
class PresentValues {
 public:
  virtual ~PresentValues() = default;
  // nullopt: no such cgroup or file, or not readable.
  virtual std::optional<FileValue> present(std::string_view cgroup,
                                           std::string_view resource) const = 0;
  // The processes ("cgroup.procs") or threads ("tasks") of a cgroup; none when it is gone.
  virtual std::vector<int> members(std::string_view, std::string_view) const { return {}; }
  // A file of the machine by its path; nullopt: not there or not readable.
  virtual std::optional<std::string> text(std::string_view) const { return std::nullopt; }
  // Whether there is such a directory.
  virtual bool hasFolder(std::string_view) const { return false; }
  // nullopt: nobody said where pods keep their files.
  virtual std::optional<DiskUse> disk() const { return std::nullopt; }
};

class Picture final : public PresentValues {
 public:
  // `diskPath`: where pods keep their files, as this process sees it; "": disks are not watched.
  Picture(const Machine& machine, std::string diskPath)
      : machine_(machine), reader_(machine), diskPath_(std::move(diskPath)) {}

  // Forgets what was read.
  void renew();
  // Files that were read since then.
  size_t reads() const { return reads_; }

  std::optional<FileValue> present(std::string_view cgroup,
                                   std::string_view resource) const override;
  std::vector<int> members(std::string_view cgroup, std::string_view resource) const override;
  std::optional<std::string> text(std::string_view path) const override;
  bool hasFolder(std::string_view path) const override;
  std::optional<DiskUse> disk() const override;

 private:
  using Asked = std::pair<std::string, std::string_view>;  // cgroup, file
  const Machine& machine_;
  ControlReader reader_;
  std::string diskPath_;
  mutable std::map<Asked, std::optional<FileValue>> values_;
  mutable std::map<Asked, std::vector<int>> members_;
  mutable std::map<std::string, std::optional<std::string>, std::less<>> texts_;
  mutable size_t reads_ = 0;
};

}  // namespace mangrove::agent
