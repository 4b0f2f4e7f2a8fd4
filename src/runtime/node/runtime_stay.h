#pragma once
// Our stay with a container runtime of this machine: found at the start, given a network if it has
// none, and left as it was found.
//
//   auto found = findRuntime("");                    // nullopt: there is none
//   auto stay = RuntimeStay::make(**found, places, network, dataDir, program);
//   parts.runtime = &(*stay)->house();
//
// findRuntime and make block for a moment, at the start; the rest is for the owner thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cni/install.h"
#include "runtime/cri/image_keeper.h"
#include "runtime/cri/runtime.h"
#include "runtime/node/pods/pod_worker.h"

namespace mangrove::runtime {

inline constexpr std::string_view kNoRuntime = "none";

struct FoundRuntime {
  std::string socket;
  cri::Greeting greeting;
  std::string versionText() const;  // "containerd://1.6.20"
};
// `endpoint`: "" looks where containerd and CRI-O are; kNoRuntime finds nothing; otherwise a path or
// unix:// address that must answer. One that is found and cannot be used is named in the log.
Result<std::optional<FoundRuntime>> findRuntime(const std::string& endpoint);

// Why pods cannot be put there; "" when they can. Pure.
std::string runtimeTrouble(const cri::RuntimeStatus& status);

class RuntimeStay {
 public:
  struct Places {
    FdLoop& loop;
    Clock& clock;
    Mailbox& owner;
    net::Loop& io;
  };
  // `network`: the bridge for its pods; without a bridge it must have a network of its own.
  static Result<std::unique_ptr<RuntimeStay>> make(const FoundRuntime& found, const Places& places,
                                                   const CniOptions& network,
                                                   const std::string& dataDir,
                                                   const std::string& program);
  const RuntimeHouse& house() const { return house_; }
  // Pods of ours that nobody knows any more go; images are looked after from now on.
  void begin(std::function<bool(const std::string& uid)> isKnown);
  // The last pod has gone: the runtime's network is as it was.
  void moveOut();

 private:
  RuntimeStay(const FoundRuntime& found, const Places& places, const std::string& dataDir);
  Result<> bringNetwork(const FoundRuntime& found, const CniOptions& network,
                        const std::string& program);

  cri::Runtime runtime_;
  cri::ImageKeeper images_;
  RuntimeHouse house_;
  std::optional<CniFolders> folders_;  // where our network was put
};

}  // namespace mangrove::runtime
