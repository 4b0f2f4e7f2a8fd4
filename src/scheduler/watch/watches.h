#pragma once
// The informers of a scheduler and how each kind reaches the engine. Owner thread.

#include <functional>
#include <memory>
#include <vector>

#include "client/informer/informer.h"
#include "placement/engine/ingress.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

struct WatchSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Mailbox& home;
  Clock& clock;
  uint64_t seed;
  PodTransforms transforms = {};
};

class Watches {
 public:
  // `changed` runs after each change that the engine has heard of.
  Watches(const WatchSetup& setup, Engine& engine, std::function<void()> changed);
  ~Watches();

  void start();
  // Nodes, pods and what Kubernetes always has are there; kinds that a cluster may lack are there
  // or known to be absent.
  bool synced() const;
  // The newest version of a pod that was seen; 0: none, or versions are no numbers here.
  uint64_t newestPod() const { return newestPod_; }
  uint64_t newestReservation() const;

 private:
  struct Watched {
    virtual ~Watched() = default;
    virtual void start() = 0;
    virtual bool ready() const = 0;
  };
  template <class T>
  struct Of;
  template <class T, class OnChange>
  void add(const WatchSetup& setup, const api::Kind& kind, OnChange onChange,
           std::function<void(T&)> transform = {}, bool mayLack = false,
           const std::pair<std::string, std::string>& only = {});  // namespace and name
  void addCore(const WatchSetup& setup);
  void addKept(const WatchSetup& setup);
  void addTemplates(const WatchSetup& setup);

  Engine& engine_;
  Ingress ingress_;
  std::function<void()> changed_;
  std::vector<std::unique_ptr<Watched>> all_;
  uint64_t newestPod_ = 0;
};

}  // namespace mangrove::scheduler
