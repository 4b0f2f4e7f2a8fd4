#pragma once
// One run of a container in its shim: its process, its output on the way into the log and to those
// attached, its input, its end. Single-threaded, driven by the shim's loop.

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/os/fd.h"
#include "base/text/time_text.h"
#include "json/value.h"
#include "runtime/shim/child.h"
#include "runtime/shim/container_spec.h"
#include "runtime/shim/log_file.h"

namespace mangrove::runtime {

// Frames on an attach socket, both ways: one byte kind, four bytes length (big endian), data.
enum class AttachKind : uint8_t { kIn = 0, kOut = 1, kErr = 2, kInEnd = 3, kExit = 4 };
std::string attachFrame(AttachKind kind, std::string_view data);

class ShimContainer {
 public:
  ShimContainer(ContainerSpecFile spec, Clock& clock);

  // Starts it, among the processes that process `pidsOf` sees (-1: its own); the sentence says why
  // not.
  // `users`: the pod's user namespace; -1: the machine's.
  Result<> start(pid_t pidsOf = -1, int users = -1);
  const ContainerSpecFile& spec() const { return spec_; }
  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0 && !ended_; }
  bool ended() const { return ended_; }

  // Its output's descriptors, for polling; -1 where there is none.
  int outFd() const { return spec_.tty ? tty_.get() : out_.get(); }
  int errFd() const { return err_.get(); }
  void onOutput(bool isErr);  // readable
  void addAttached(UniqueFd socket);
  struct Attached {
    UniqueFd socket;
    std::string in;
  };
  std::list<Attached>& attached() { return attached_; }
  // Input from one attached client; false when it is gone.
  bool onAttachedInput(Attached& client);

  void resize(uint16_t columns, uint16_t rows);
  void signal(int number);
  // Its process has ended with this wait status.
  void onExit(int status);
  // Name, id, pid, times, exit code: what the runner is told and what lies on disk.
  json::Object state() const;

 private:
  Result<Stdio> openStdio(std::list<UniqueFd>& childEnds);
  Result<> openTerminal(std::list<UniqueFd>& childEnds, Stdio& stdio);
  void output(bool isErr, std::string_view bytes);
  void input(AttachKind kind, std::string_view data);
  void drain();
  void sendAttached(const std::string& frame);
  bool sawOom() const;

  const ContainerSpecFile spec_;
  Clock& clock_;
  LogFile log_;
  pid_t pid_ = -1;
  bool ended_ = false;
  UniqueFd out_, err_, in_, tty_;
  std::list<Attached> attached_;
  WallTime startedAt_ = kZeroTime, finishedAt_ = kZeroTime;
  int exitCode_ = 0, signal_ = 0;
  bool oom_ = false;
  std::string trouble_;  // why it never ran
};

}  // namespace mangrove::runtime
