#pragma once
// Foresight by the scheduler's own core: an engine of src/placement that believes what our watches
// say, is configured like the live scheduler, and never acts. A pod is taken off its node and placed
// anew by every filter and score of its profile; all moves of a cycle stay in one transaction that
// is undone in the end.
//
//   auto foresight = SchedulerForesight::make(caches, setup, config);
//   (*foresight)->start();                     // besides the caches: what only a scheduler watches
//   (*foresight)->beginCycle();  …  (*foresight)->endCycle();
//
// A pod whose scheduler is none of the configuration's is never called proven. Profiles that differ
// in their names alone are one here (twins.h); gangs are known under the first of these names, and
// those of the others stay. Owner's thread.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "descheduler/caches.h"
#include "descheduler/foresight/foresight.h"
#include "descheduler/foresight/twins.h"
#include "descheduler/load/foresee.h"
#include "placement/config/config.h"
#include "placement/cycle/transaction.h"
#include "placement/engine/ingress.h"
#include "placement/engine/no_effects.h"

namespace mangrove::descheduler {

class SchedulerForesight final : public Foresight {
 public:
  static Result<std::unique_ptr<SchedulerForesight>> make(Caches& caches, const CacheSetup& setup,
                                                          const placement::SchedulerConfig& config);
  ~SchedulerForesight() override;

  void start();
  std::string waitingFor() const;  // "": everything is there, or known to be absent
  // With moves that are under way made already.
  void beginCycle(std::span<const UnderWay> underWay);
  void endCycle();

  Result<std::string> landing(const api::Pod& pod, const Accepts& accepts) override;
  Result<std::vector<std::string>> landings(const Pods& pods, const AcceptsFor& accepts) override;
  Result<std::vector<std::string>> rearranged(const Pods& leaving, const Pods& coming) override;
  std::optional<GangFacts> gangOf(const api::Pod& pod) override;
  void takeBack() override;

 private:
  struct Followed;
  template <class T>
  struct Of;

  SchedulerForesight(const CacheSetup& setup, Folded folded);
  void listen(Caches& caches, const CacheSetup& setup);
  template <class T, class Take>
  void follow(client::Informer<T>* known, const CacheSetup& setup, const api::Kind& kind,
              Take take);
  void anticipate(const UnderWay& move);
  std::vector<uint8_t> welcome(placement::Row source, const Accepts& accepts);
  Result<std::string> place(placement::Profile& profile, const placement::PodPtr& copy,
                            std::vector<uint8_t> rows);
  placement::PodPtr afresh(const api::Pod& pod);
  Result<placement::PodPtr> standing(const api::Pod& pod);
  placement::Profile* profileOf(const api::Pod& pod) const;
  Result<placement::Profile*> judgeOf(const api::Pod& pod);
  Result<std::string> seat(const api::Pod& pod, placement::Row source, const Accepts& accepts);
  Result<std::vector<std::string>> settle(const Pods& leaving, const Pods& coming,
                                          const AcceptsFor& accepts);

  Folded folded_;
  Registry registry_;  // of the engine: its figures are those of no scheduler
  placement::NoEffects effects_;
  placement::Engine engine_;
  placement::Ingress ingress_;
  std::vector<std::unique_ptr<Followed>> followed_;
  std::optional<placement::Transaction> trial_;  // of the cycle at hand
  std::vector<size_t> marks_;                    // before each of its moves, or group of moves
  uint64_t copies_ = 0;
};

}  // namespace mangrove::descheduler
