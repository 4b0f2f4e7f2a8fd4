#pragma once
// The agent as a plugin of the container runtime, without a socket: bytes of the runtime in, bytes
// for the runtime out. It registers, says which events it wants, and answers them by the rules that
// hold at that moment.
//
//   NriPlugin plugin({.rules = [&] { return shared.rules(); }});
//   stream->write(plugin.hello());
//   Result<std::string> answer = plugin.receive(bytes);
//
// One thread at a time. A new connection needs a new plugin.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/nri/frames.h"
#include "agent/nri/rules.h"
#include "base/clock.h"

namespace mangrove::agent {

struct NriSetup {
  std::string name = "koordlet_nri";
  std::string index = "00";  // plugins are asked in this order
  std::function<std::shared_ptr<const HookRules>()> rules = {};
  // A pod begins: its cgroup is there, its containers are not yet.
  std::function<void(const NriPod&)> onPod = {};
  // A container is about to start: its first process is in its cgroup and waits.
  std::function<void(const NriPod&, const NriContainer&)> onContainer = {};
  // How long answering a container's event took, and whether it could be; null: nobody asks.
  std::function<void(std::string_view stage, bool ok, Duration took)> invoked = {};
  const Clock* clock = nullptr;  // for that
};

struct NriStats {
  uint64_t requests = 0, adjusted = 0, refused = 0;
  bool registered = false;  // the runtime accepted us
  std::string runtime;      // "containerd v2.4.2"
};

class NriPlugin {
 public:
  explicit NriPlugin(NriSetup setup) : setup_(std::move(setup)) {}

  // What to send first.
  std::string hello();
  // What to send back; an error: close the connection and begin again.
  Result<std::string> receive(std::string_view bytes);
  const NriStats& stats() const { return stats_; }

 private:
  Result<std::string> answer(const Call& call);
  Result<std::string> timed(const Call& call);
  Result<std::string> dispatch(const Call& call);
  Result<std::string> configure(const Call& call);
  Result<std::string> synchronize(const Call& call);
  Result<std::string> create(const Call& call);
  Result<std::string> update(const Call& call);
  Result<std::string> stateChange(const Call& call);
  Result<std::string> runPod(const Call& call);
  Result<std::string> startContainer(const Call& call);
  NriAdjustment adjust(const NriPod& pod, const NriContainer& container);
  NriResources adjustRunning(const NriPod& pod, NriContainer container);

  NriSetup setup_;
  FrameReader reader_;
  std::vector<NriPod> pods_;  // of a Synchronize in several parts
  NriStats stats_;
};

}  // namespace mangrove::agent
