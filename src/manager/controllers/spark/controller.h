#pragma once
// Room for Spark applications: before a driver is placed its executors' least number is reserved
// with it, and while fewer run, room for the missing ones is kept. So an application that started
// can always get its minimum, unless nodes are lost.
//
// Serves applications whose driver asks for such a reservation, which admission writes into them
// (webhook/workload). Looks at each of them when it, its pods or its reservations change, and once a
// minute. Owner thread.

#include <map>
#include <memory>
#include <string>

#include "client/informer/informer.h"
#include "manager/controller.h"
#include "manager/controllers/spark/plan.h"

namespace mangrove::manager {

class SparkController final : public Controller {
 public:
  explicit SparkController(const ControllerSetup& setup);

  void start() override;
  void reconcile(const std::string& key, ControlLoop::Done done) override;
  void each(const Visit& visit) const override;

 private:
  struct Round;
  ReservationList reservationsOf(std::string_view key) const;
  SparkPodList podsOf(std::string_view key) const;
  void sendNext(const std::shared_ptr<Round>& round);

  Desk& desk_;
  ControlLoop& keys_;
  client::Informer<SparkApplication> applications_;
  client::Informer<SparkPod> pods_;
  client::Informer<api::Reservation> reservations_;
};

}  // namespace mangrove::manager
