#pragma once
// The agent's part of the checkpoint contract (api/annotations/checkpoint.h): who is to be evicted is
// asked to save first, and whoever was asked, by us, the scheduler or the descheduler, gets the
// signal or the request. Gate CheckpointPreemption.
//
//   CheckpointDesk desk({client, owner, clock, events, audit, metrics, machine, io});
//   if (desk.mayGo(ousting)) evict…          // false: it was asked and is waited for
//   desk.carry(look);                        // at every tick
//
// Services insist: who does not save in time goes all the same. Where memory runs out nobody is
// waited for. Owner thread.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/executor/audit.h"
#include "agent/executor/wish.h"
#include "agent/look.h"
#include "api/annotations/checkpoint.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "net/loop.h"

namespace mangrove::agent {

inline constexpr std::string_view kCheckpointGate = "CheckpointPreemption";

// A signal or a request that is to be carried now.
struct Errand {
  PodPtr pod;
  api::Checkpoint contract;
  WallTime at{};        // of the request it answers
  std::string cgroup;   // of the container whose main process gets the signal
  std::string trouble;  // not empty: it cannot be carried, and why
};
// Requests that are open, whose time has come and that the agent carries; pure.
std::vector<Errand> errandsOf(std::span<const PodLook> pods, WallTime now);

// Memory that runs out does not wait for anybody; pure.
bool isEmergency(const Ousting& ousting);

struct CheckpointSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  client::EventRecorder& events;
  AuditLog& audit;
  Registry& metrics;
  const Machine& machine;
  net::Loop* io = nullptr;  // null: nobody can be asked by HTTP
};

class CheckpointDesk {
 public:
  explicit CheckpointDesk(CheckpointSetup setup);
  ~CheckpointDesk();

  bool mayGo(const Ousting& ousting);
  void carry(const Look& look);

 private:
  void ask(const Ousting& ousting, const api::SaidCheckpoint& said);
  void carryOne(const Errand& errand);
  void post(const Errand& errand);
  void done(const Errand& errand, const Result<>& outcome);
  void count(std::string_view result);

  CheckpointSetup setup_;
  std::map<std::string, MonoTime, std::less<>> asking_;   // by uid: the patch is under way
  std::map<std::string, WallTime, std::less<>> carried_;  // by uid: the request that was carried
  Lifetime life_;
};

}  // namespace mangrove::agent
