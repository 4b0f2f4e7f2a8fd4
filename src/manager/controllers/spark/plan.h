#pragma once
// Which reservations a SparkApplication should have: one for its driver until that has a node, and
// one for each executor that is missing to the least it can run with. The first set is a gang, so
// that a driver starts only where its executors fit too; later ones stand alone.
//
//   SparkSteps steps = nextSteps(application, reservations, pods, now);
//   for (const json::Value& body : steps.create) …  steps.renew …  steps.remove …
//
// Reservations live for five minutes and are renewed while they are wanted, so that nothing stays
// behind when nobody looks after them. Pure functions, any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/reservation.h"
#include "api/pod/pod.h"
#include "api/wire/kind.h"
#include "api/workload/components.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::manager {

inline constexpr api::Kind kSparkKind{"sparkoperator.k8s.io", "v1beta2", "SparkApplication",
                                      "sparkapplications",    true,      true};
inline constexpr std::string_view kSparkRole = "spark-role";
inline constexpr std::string_view kSparkAppName = "sparkoperator.k8s.io/app-name";
// On our reservations: whose they are.
inline constexpr std::string_view kSparkOf = "colocation.mangrove.io/spark-application";
inline constexpr std::string_view kSparkIn = "colocation.mangrove.io/spark-namespace";

struct SparkApplication {
  api::ObjectMeta meta;
  json::Value spec;
  std::vector<api::Component> parts;  // driver, executor
  std::string trouble;                // why there are none
  std::string state;                  // status.applicationState.state; "": new

  // Its driver asks for a reservation (webhook/workload/rewrite.h), and it is not over.
  bool wantsRoom() const;
};
bool read(const api::In& in, SparkApplication& out);

// A driver or executor pod.
struct SparkPod {
  api::ObjectMeta meta;
  bool isBound = false;     // has a node and has not ended
  std::string reservation;  // uid of the one it is in
};
bool read(const api::In& in, SparkPod& out);

struct SparkSteps {
  std::vector<json::Value> create;
  std::map<std::string, WallTime> renew;  // by name: spec.expires
  std::vector<std::string> remove;
  bool empty() const { return create.empty() && renew.empty() && remove.empty(); }
};

using ReservationList = std::vector<std::shared_ptr<const api::Reservation>>;
using SparkPodList = std::vector<std::shared_ptr<const SparkPod>>;

// Of one application and no other. Fails on sizes that cannot be read.
Result<SparkSteps> nextSteps(const SparkApplication& application,
                             const ReservationList& reservations, const SparkPodList& pods,
                             WallTime now);
// Of one that is gone.
SparkSteps lastSteps(const ReservationList& reservations);

}  // namespace mangrove::manager
