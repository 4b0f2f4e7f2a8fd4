#pragma once
// Everything the demo starts on the machine, and its end: a directory, `mangrove up` below a cgroup
// of its own, and pods made with `mangrove run`, as a person would. stop() leaves no process,
// cgroup, mount or file, whatever moment it is called at; the destructor calls it.
//
//   auto house = House::open(interrupt);
//   (*house)->startUp();
//   (*house)->startPod({"service", "LS", {"--cpu", "500m"}}, {…});
//
// One owner, the main thread: children die with it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "agent/bench/pod_cgroups.h"
#include "base/os/temp_folder.h"
#include "base/result.h"
#include "demo/board.h"
#include "frame/interrupt.h"

namespace mangrove::demo {

class House {
 public:
  static Result<std::unique_ptr<House>> open(frame::Interrupt& interrupt);
  ~House();
  House(const House&) = delete;
  House& operator=(const House&) = delete;

  // Returns when the node is ready. kCancelled: interrupted.
  Result<> startUp();
  // `mangrove run FLAGS --name NAME -- this binary demo-part PART`. Does not wait.
  Result<> startPod(const std::string& name, const std::vector<std::string>& flags,
                    const std::vector<std::string>& part);
  // Batch work in a BestEffort pod as a kubelet makes it, beside the service's: the least weight, no
  // limit, and nobody who looks after it. After the pods.
  Result<> startPlainPod(int64_t workers);
  // A part outside of any pod.
  Result<pid_t> startPart(const std::vector<std::string>& part);
  // Pods of the given names whose `mangrove run` has ended since the last call.
  std::vector<std::string> endedPods();
  void stop();

  Board& board() const { return **board_; }
  const std::string& dir() const { return dir_; }
  const std::string& cgroup() const { return cgroup_; }
  const std::string& dashboard() const { return dashboard_; }  // its URL; "": none
  std::string boardPath() const { return dir_ + "/board"; }
  // What the machine's part of Mangrove said, for an error message.
  std::string lastWords() const;
  // Processes outside the cgroup that are ours.
  std::vector<pid_t> processes() const;

 private:
  explicit House(frame::Interrupt& interrupt) : interrupt_(interrupt) {}
  Result<pid_t> spawn(const std::vector<std::string>& args, const std::string& log);
  void endUp();

  frame::Interrupt& interrupt_;
  std::optional<TempFolder> folder_;
  std::string dir_, cgroup_, dashboard_;
  std::unique_ptr<BoardFile> board_;
  std::optional<agent::PodCgroups> plain_;
  pid_t up_ = 0;
  std::map<std::string, pid_t> pods_;
};

// Ends what runs in a cgroup of all hierarchies and removes it with everything below.
void sweepCgroup(const std::string& name);

}  // namespace mangrove::demo
