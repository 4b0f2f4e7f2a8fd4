#pragma once
// PersistentVolumeClaims on one machine: a directory below the runner's own for each claim of a
// class whose provisioner is "mangrove.io/local", and a small binder for volumes that people make.
//
//   LocalVolumes volumes(client, owner, home, clock, events, dir, inUse);
//   volumes.start();
//   volumes.look();            // a pod has gone: data of a deleted claim may go now
//
// Owner thread; directories are made and removed in the home thread. Size is written down, not
// enforced. What to do is decided in core/claims.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "client/informer/informer.h"
#include "runtime/core/claims.h"

namespace mangrove::runtime {

class LocalVolumes {
 public:
  LocalVolumes(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
               client::EventRecorder& events, std::string dir, ClaimInUse inUse);
  ~LocalVolumes();
  void start();
  void look();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::runtime
