#pragma once
// A copy of a machine of test/machines whose counters move: every cgroup uses half a core, every
// CPU is a quarter busy, the disk reads 1 MiB a second and the interface receives 1 kB.
//
//   Moving machine(MANGROVE_SOURCE_DIR "/test/machines/v2-2socket-smt");
//   Scene scene(machine.path());
//   scene.ticks(20, [&](int) { machine.second(); });
//
// For tests; outlives the scene.

#include <filesystem>
#include <string>
#include <vector>

#include "kernel/testing/fake_root.h"

namespace mangrove::agent::testing {

class Moving {
 public:
  explicit Moving(const std::filesystem::path& machine);
  const std::filesystem::path& path() const { return root_.path(); }
  kernel::FakeRoot& files() { return root_; }

  // A second passes: all counters are written anew, in place, as the agent keeps files open.
  void second();
  // The kernel lists online CPUs only.
  void unplug(int cpu);

 private:
  void write(const std::filesystem::path& path, const std::string& text);
  std::string ticks() const;

  kernel::FakeRoot root_;
  std::vector<std::filesystem::path> counters_;
  std::string stat_;
  int64_t seconds_ = 0;
};

}  // namespace mangrove::agent::testing
