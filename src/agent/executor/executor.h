#pragma once
// The only writer of control files. It composes what all strategies want into one value per file,
// compares with what the machine has, and writes the difference: widening from the top of the tree,
// narrowing from the bottom, so that no child ever exceeds its parent. Every write is recorded.
//
//   Executor executor(machine, clock, audit);
//   ApplyReport done = executor.apply(wishes);    // everything wanted now; the rest is given back
//   executor.held()                               // for `explain`
//   executor.restoreAll("the agent leaves");
//
// A file that nobody wants any more gets the value it had before us. A file that somebody else
// writes is repaired at the next apply; when that goes on, ever more rarely. Owner thread only.
//
// What must stay true, and why:
//  - What a file had before us is learnt once, at the first wish: a later reading is our own value.
//  - No child ever has more than its parent, not even between two writes: v1 refuses it.
//  - Every plan reads its file in the same apply: what was read a tick ago may be a reflex's by now.
//  - A dry run changes nothing we know of a file but its trouble: it must not be given back.
//  - Owners that have not decided yet keep what a predecessor held: a restart is no event for pods.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/executor/audit.h"
#include "agent/executor/control_reader.h"
#include "agent/executor/wish.h"
#include "agent/machine.h"
#include "base/clock.h"
#include "json/value.h"

namespace mangrove::agent {

struct ApplyReport {
  size_t files = 0;  // wanted
  size_t equal = 0;  // had the value already
  size_t written = 0;
  size_t dryRun = 0;     // would have been written
  size_t missing = 0;    // the cgroup or the file is not there
  size_t refused = 0;    // out of range, or by a strategy that does not own the file
  size_t failed = 0;     // the kernel said no
  size_t conflicts = 0;  // somebody else had written
  size_t waiting = 0;    // left alone for a while after failures or conflicts
};

// A file under our control.
struct HeldFile {
  FileValue wanted;
  std::optional<FileValue> before;  // what it had when we came
  std::string owner;
  std::string why;
  WallTime since{};  // the wanted value is wanted since
  bool dryRun = false;
  bool inForce = false;  // we saw the wanted value in the file
  uint64_t conflicts = 0;
  std::string trouble;  // the last failure, "" when all is well
  // With the parts of strategies that only say what they would do; "": there are none.
  std::string wouldBe = {};
  // Of cpu.idle: the shares it had; leaving the idle class the kernel gives it ordinary ones.
  std::optional<FileValue> shares = {};
  // Back-off.
  int strikes = 0;
  MonoTime lastStrike = MonoTime::min();
};

// A write to a control file, for whoever shows how long they take.
struct WriteDone {
  const FileKey& key;
  std::string_view owner;
  bool ok = false;
  Duration took{};
};

struct ExecutorTotals {
  uint64_t applies = 0, written = 0, failed = 0, refused = 0, conflicts = 0, restored = 0;
};

class Executor {
 public:
  // Foreign writes are repaired at once this often, then with doubling waits.
  static constexpr int kPatience = 5;
  static constexpr Duration kLongestWait = std::chrono::seconds(60);
  static constexpr Duration kApart = std::chrono::seconds(10);  // writes further apart start anew

  Executor(const Machine& machine, const Clock& clock, AuditLog& audit);

  // `undecided`: owners that have not decided anything yet since this process began. What a
  // predecessor held for them stays as it is.
  ApplyReport apply(std::span<const OwnedWish> wishes,
                    std::span<const std::string_view> undecided = {});
  // Holds a file that a reflex narrowed and nobody told apply() of yet, so that it is given back with
  // the others.
  void adopt(const FileKey& key, FileValue wanted, FileValue before, std::string_view owner);
  // Between two ticks: files that somebody else wrote get back what is wanted. What reflexes write
  // too is repaired only where it allows more than is wanted; less may be theirs.
  ApplyReport repair(std::span<const FileKey> written);
  // Every file back to what it had before us, or to neutral; nothing is held afterwards.
  ApplyReport restoreAll(std::string_view why);

  // What is in force now.
  std::optional<FileValue> present(const FileKey& key) const { return reader_.present(key); }
  // Called after each write, in the thread that writes.
  void onWrite(std::function<void(const WriteDone&)> fn) { onWrite_ = std::move(fn); }
  const std::map<FileKey, HeldFile>& held() const { return held_; }
  uint64_t heldVersion() const { return heldVersion_; }  // grows when files come or go
  const ExecutorTotals& totals() const { return totals_; }

  // What a successor needs to give files back: cgroup, file, value before us.
  json::Value state() const;
  void load(const json::Value& state);

 private:
  struct Plan {
    const FileRule* rule = nullptr;
    FileKey key;
    std::string path;
    FileValue present;
    FileValue wanted;
    std::string owner, why;
    std::optional<FileValue> shares = {};
    bool dryRun = false;
    bool ours = false;
    std::optional<FileValue> before = {};  // as a reflex found it
    bool release = false;
    bool settled = false;  // nothing (more) to write
  };
  // One file's composed value.
  struct Target {
    Composed composed;
    bool dryRun = false;
    bool ours = false;
    bool leave = false;  // the kernel would refuse it now
    std::optional<FileValue> before = {};
    std::optional<Composed> wouldBe = {};  // if strategies in a dry run had their way too
  };
  using Targets = std::map<FileKey, Target>;
  Targets composeAll(std::span<const OwnedWish> wishes, ApplyReport& report);
  std::optional<Target> composeOne(const FileRule& rule, const std::vector<OwnedWish>& parts) const;
  void sayWouldBe(const Plan& plan, const std::optional<Composed>& wouldBe, ApplyReport& report);
  void leaveSharesOfIdle(Targets& targets) const;
  void clampBursts(Targets& targets) const;
  std::optional<Plan> planFile(const FileKey& key, Target target, ApplyReport& report);
  std::optional<Plan> planRelease(const FileKey& key, const HeldFile& held, std::string_view why);
  void planReleases(const Targets& targets, std::span<const std::string_view> undecided,
                    std::vector<Plan>& plans);
  void note(Plan& plan, ApplyReport& report);
  void repairOne(const FileKey& key, HeldFile& held, ApplyReport& report);
  bool mustWait(const HeldFile& held) const;
  void strike(HeldFile& held);
  void run(std::vector<Plan>& plans, ApplyReport& report);
  void write(Plan& plan, const FileValue& value, ApplyReport& report);
  void verify(const Plan& plan);
  void giveSharesBack(const Plan& plan);
  void record(const Plan& plan, const FileValue& to, std::string outcome);

  const Machine& machine_;
  const Clock& clock_;
  AuditLog& audit_;
  ControlReader reader_;
  std::map<FileKey, HeldFile> held_;
  uint64_t heldVersion_ = 0;
  ExecutorTotals totals_;
  std::function<void(const WriteDone&)> onWrite_;
};

}  // namespace mangrove::agent
