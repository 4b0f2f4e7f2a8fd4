#pragma once
// The MigrationController: the evict and filter plugin that makes PodMigrationJobs, and the
// controller that carries every job to its end, whoever made it. Nothing is polled: jobs, pods and
// reservations that change bring their job up again.
//
//   MigrationController controller(desk, args, {});
//   controller.start();                    // listens
//   controller.lead();                     // from now on it acts; yield() ends that
//   controller.beginCycle(look);           // before plugins ask
//
// A job under way when the process before us ended is adopted: all that is known of it is in the
// objects. Owner's thread.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/lifetime.h"
#include "base/number/rng.h"
#include "client/queue/token_bucket.h"
#include "client/queue/work_queue.h"
#include "descheduler/desk.h"
#include "descheduler/evictor/cool_down.h"
#include "descheduler/evictor/elsewhere.h"
#include "descheduler/evictor/object_limiter.h"
#include "descheduler/evictor/proxy.h"
#include "descheduler/gang/gang_way.h"
#include "descheduler/migration/account.h"
#include "descheduler/migration/bodies.h"
#include "descheduler/migration/filter.h"
#include "descheduler/migration/machine.h"
#include "descheduler/migration/reservation.h"

namespace mangrove::descheduler {

struct ControllerOptions {
  ReservationOptions reservation;
  uint64_t seed = 1;
  bool savesFirst = false;  // gate CheckpointPreemption
  // Told of each end: "Succeeded", "Failed/Timeout", …
  std::function<void(std::string_view outcome)> onEnd = {};
};

class MigrationController final : public EvictPlugin {
 public:
  static constexpr std::string_view kName = "MigrationController";
  MigrationController(Desk& desk, MigrationArgs args, ControllerOptions options);
  ~MigrationController() override;

  void start();
  void lead();
  void yield();
  // Who knows how gangs stand; without one no member of a gang moves.
  using Gangs = std::function<std::optional<GangFacts>(const api::Pod&)>;
  void setGangs(Gangs gangs) { gangs_ = std::move(gangs); }
  bool isIdle() const { return busy_.empty() && queue_.ready() == 0; }

  std::string_view name() const override { return kName; }
  std::optional<std::string> refusal(const api::Pod& pod) override;
  std::optional<std::string> refusalNow(const api::Pod& pod) override;
  bool evict(const Eviction& eviction) override;
  std::string_view modeOf(const Eviction& eviction) const override;
  Pods companionsOf(const api::Pod& pod) override;
  bool evictTogether(std::span<const Eviction> evictions) override;
  bool wantsProof() const override { return args_.provenMoves; }
  bool takesUnplaceable(const api::Pod& pod) override;
  void beginCycle(const Look& look) override;
  void endCycle() override;

 private:
  using JobPtr = std::shared_ptr<const api::PodMigrationJob>;
  using Then = UniqueFn<void()>;

  // Filter and arbitration.
  FilterRules rules();
  GangVerdict gangVerdict(const api::Pod& pod) const;
  int32_t leaving(std::string_view gang) const;
  std::optional<std::string> wholeRefusal(const Pods& members);
  std::optional<std::string> neverArbitrated(const JobView& job, const FilterRules& filter);
  void create(NewJob job, const api::Pod& pod);
  NewJob newJob(const Eviction& eviction);
  const LiveJobs& live();
  std::vector<JobView> views() const;
  std::optional<std::string> movedLately(const api::Pod& pod) const;
  std::optional<std::string> coolsDown(const api::Pod& pod) const;
  void noteMoved(const api::PodMigrationJobStatus& status);
  void arbitrateSoon();
  void arbitrateAll();
  void passed(const JobView& job);
  void forbidden(const JobView& job, const std::string& why);

  // One job.
  void pump();
  void reconcile(const std::string& name);
  MigrationSight sightOf(const api::PodMigrationJob& job);
  void carryOut(const JobPtr& job, Step step);
  void confirmMissing(const JobPtr& job, Step step);
  void settle(const JobPtr& job, const Step& step);
  void act(const JobPtr& job, Step::Act what, const api::PodMigrationJobStatus& status);
  void createReservation(const JobPtr& job, const api::PodMigrationJobStatus& status);
  void createReservationFor(const JobPtr& job, const api::PodMigrationJobStatus& status,
                            std::string_view pod);
  void refer(const JobPtr& job);
  void askToSave(const JobPtr& job);
  void evictPod(const JobPtr& job, const api::PodMigrationJobStatus& status);
  client::Request evictionOf(const api::Pod& pod, const api::PodMigrationJob& job);
  std::optional<Sides> sidesOf(const api::PodMigrationJob& job, std::string_view source,
                               std::string_view target, WallTime since) const;
  void settleAccount(const JobPtr& job);
  void dropReservation(const std::string& name);
  void scavenge();

  // Writing.
  void write(const JobPtr& job, client::Request request, std::string_view what, Then then);
  void writeStatus(const JobPtr& job, const api::PodMigrationJobStatus& status, Then then);
  void again(const std::string& name, const Error& error, std::string_view what);
  void listen();
  void wake();
  void wakeCompany(const api::PodMigrationJob& job);
  CompanionJobs companions(const api::PodMigrationJob& job) const;

  Desk& desk_;
  MigrationArgs args_;
  ControllerOptions options_;
  Gangs gangs_;
  Rng rng_;
  std::string instance_;
  bool leads_ = false;
  client::WorkQueue queue_;
  ObjectLimiter limiter_;
  client::TokenBucket evictions_;
  std::set<std::string> busy_;                  // a request of this job is under way
  std::set<std::string> passing_;               // passed, and the server is being told
  std::map<std::string, std::string> written_;  // the version our last write made
  std::map<std::string, JobView> assumed_;      // created, and not yet seen
  std::map<std::string, std::string, std::less<>> boundPods_;  // key of a new pod → job
  std::map<std::string, WallTime, std::less<>> moved_;         // keys of pods that moves brought
  std::optional<LiveJobs> live_;
  CoolDown rest_;
  uint64_t cycle_ = 0;
  Elsewhere elsewhere_;
  MonoTime arbitratedAt_{};
  bool arbitrationDue_ = false;
  Timer arbitration_;
  Timer scavenger_;
  Lifetime life_;
};

}  // namespace mangrove::descheduler
