#pragma once
// One look at one job while its next step is found (machine.h). Each stage returns true when it is
// behind the job and the next may begin; false ends the look.

#include <string>
#include <string_view>

#include "descheduler/migration/machine.h"

namespace mangrove::descheduler {

class Progression {
 public:
  explicit Progression(const MigrationSight& sight) : sight_(sight), status_(sight.job.status) {}

  const MigrationSight& sight() const { return sight_; }
  const api::PodMigrationJob& job() const { return sight_.job; }
  api::PodMigrationJobStatus& status() { return status_; }
  void changed() { changed_ = true; }
  Step step();

  bool fail(std::string_view reason, std::string message);  // false, to end with
  void adoptPod();
  bool isPastEviction() const { return isSet(condition::kEviction, "True"); }
  bool isEvictionSent() const { return isPastEviction() || isSet(condition::kEviction, "False"); }
  bool isGone() const;  // by our hand as far as the job tells; a namesake is another pod
  bool isForPendingPod() const;

  bool reserve();             // the reservation stands, on another node
  bool isInCompany();         // those it moves with have their places too, or it has left already
  bool hasSaved();            // the pod lost nothing by going, or had its time to save
  bool evict();               // the pod is gone
  bool waitUntilScheduled();  // a pod that had no node has one
  bool waitUntilBound();      // a new pod is in the reservation, and ready

 private:
  void set(std::string_view type, bool isTrue, std::string_view reason = "",
           std::string_view message = "");
  void intendEviction();
  bool isSet(std::string_view type, std::string_view word) const;
  bool stands(const api::Reservation& reservation);
  bool isElsewhere(const api::Reservation& reservation);
  bool isEvictionIntended() const {
    return conditionOf(status_.conditions, condition::kEviction) != nullptr;
  }
  bool gone();

  MigrationSight sight_;
  api::PodMigrationJobStatus status_;
  bool changed_ = false;
  Step step_;
};

}  // namespace mangrove::descheduler
