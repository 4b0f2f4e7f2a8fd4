#pragma once
// The descheduler without a process around it: caches, profiles, cycles and the migration controller.
// `mangrove descheduler` runs it over HTTP, tests and `up` in-process.
//
//   auto descheduler = Descheduler::make({.client = &client, .owner = &owner, .clock = &clock,
//                                         .metrics = &registry}, config);
//   (*descheduler)->start();
//   (*descheduler)->lead();               cycles run and jobs are carried on from now on
//
// Owner's thread.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/metrics.h"
#include "descheduler/config/config.h"
#include "descheduler/desk.h"
#include "descheduler/evictor/default_evictor.h"
#include "descheduler/evictor/journal.h"
#include "descheduler/foresight/scheduler_foresight.h"
#include "descheduler/framework/cycle.h"
#include "descheduler/migration/controller.h"
#include "descheduler/notice/notice_writer.h"

namespace mangrove::descheduler {

struct DeschedulerParts {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;  // where objects are decoded; null: the owner's thread
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  client::EventRecorder* events = nullptr;  // null: nobody is told
  ReservationOptions reservation = {};
  bool savesFirst = false;  // gate CheckpointPreemption: pods save before they are moved
  uint64_t seed = 1;
  std::string noticeNamespace = {};  // where the leader writes who stays (notice/); "": nowhere
  // By which the scheduler of this cluster judges; asked where moves are proven.
  placement::SchedulerConfig scheduler =
      placement::defaultConfig({"koord-scheduler", "default-scheduler"});
};

class Descheduler {
 public:
  // Errors of the configuration: an unknown plugin, arguments that make no sense.
  static Result<std::unique_ptr<Descheduler>> make(const DeschedulerParts& parts,
                                                   DeschedulerConfig config);
  ~Descheduler();

  void start();
  void lead();
  void yield();
  bool leads() const { return leads_; }
  std::string waitingFor() const;
  // One cycle now, whatever the interval; what went wrong.
  std::vector<Error> cycle();
  const DeschedulerConfig& config() const { return config_; }
  Caches& caches() { return caches_; }
  // What the last cycle decided.
  const Journal& journal() const { return journal_; }

 private:
  class Writer;
  Descheduler(const DeschedulerParts& parts, DeschedulerConfig config);
  Result<> furnish(const DeschedulerParts& parts);
  Result<> addController(const ProfileConfig& profile, const DeschedulerParts& parts);
  Result<> addEvictor(const ProfileConfig& profile);
  Result<> addForesight(const DeschedulerParts& parts);
  void counted(const Eviction& eviction, std::string_view result);
  std::vector<UnderWay> underWay() const;
  void tellOnce(const std::vector<Error>& errors);
  void tick();
  void begin();

  DeschedulerConfig config_;
  Caches caches_;
  Desk desk_;
  std::unique_ptr<SchedulerForesight> foresight_;  // null: no profile proves its moves
  CycleCount count_;
  Journal journal_;
  std::optional<NoticeWriter> notice_;
  std::set<std::string> told_;  // what went wrong in the last cycle
  std::vector<std::unique_ptr<MigrationController>> controllers_;
  std::vector<std::unique_ptr<DefaultEvictor>> directs_;
  std::vector<std::unique_ptr<EvictorProxy>> evictors_;
  std::vector<Profile> profiles_;
  std::unique_ptr<Writer> hands_;
  Counter cycles_, failedCycles_;
  Histogram cycleSeconds_;
  CounterFamily* evicted_ = nullptr;
  CounterFamily* ended_ = nullptr;
  CounterFamily* moves_ = nullptr;
  bool leads_ = false;
  bool begun_ = false;  // leads, and the caches are filled
  MonoTime nextAt_{};
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::descheduler
