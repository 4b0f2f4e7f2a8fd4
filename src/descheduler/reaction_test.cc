// From a reservation that is Available to the eviction: no timer lies in between. The clock of these
// tests stands still meanwhile, so that whatever waited for it would wait for ever; what is measured
// besides is the time of the machine.
#include <algorithm>

#include "descheduler/testing/whole_descheduler.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;
constexpr int kJobs = 100;

class Reaction : public testing::WholeDescheduler {
 protected:
  void makeJobs() {
    for (int i = 0; i < kJobs; ++i) {
      api.put(
          kind::kPod, "d", fmt::format("q{}", i),
          fmt::format(
              R"({{"metadata":{{"uid":"q{}","annotations":{{"descheduler.alpha.kubernetes.io/evict":"true"}},
                       "ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"rs","controller":true}}]}},
                       "spec":{{"nodeName":"hot","schedulerName":"koord-scheduler"}},"status":{{"phase":"Running"}}}})",
              i));
      api.put(
          kind::kPodMigrationJob, "", fmt::format("j{}", i),
          fmt::format(
              R"({{"metadata":{{"uid":"j{}","annotations":{{"descheduler.alpha.kubernetes.io/evict":"true"}}}},
                       "spec":{{"mode":"ReservationFirst","podRef":{{"namespace":"d","name":"q{}"}}}}}})",
              i, i));
    }
  }
  void carry() {
    startWith(R"({"apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration",
      "profiles":[{"name":"one","pluginConfig":[{"name":"MigrationController","args":{
        "evictQPS":"100000","evictBurst":100000}}]}]})");
  }
  bool isReserved(int i) const {
    const auto job = api::decodeText<api::PodMigrationJob>(
        api.truth(kind::kPodMigrationJob).at(fmt::format("j{}", i)));
    return job->spec.reservationOptions && job->spec.reservationOptions->reservationRef;
  }
  // Real seconds until the pod is gone; no time passes for the descheduler.
  double react(int i) {
    const std::string name = fmt::format("j{}", i);  // by the uid of the job
    json::Value object = *json::parse(api.truth(kind::kReservation).at(name));
    object.as_object()["status"] = *json::parse(
        R"({"phase":"Available","nodeName":"cold","conditions":[{"type":"Scheduled","status":"True"}]})");
    const MonoTime from = realClock().mono();
    api.put(kind::kReservation, "", name, json::write(object));
    EXPECT_TRUE(until([&] { return !hasPod(fmt::format("q{}", i)); }, Duration::zero())) << i;
    return std::chrono::duration<double>(realClock().mono() - from).count();
  }
};

TEST_F(Reaction, AnAvailableReservationIsFollowedByTheEvictionAtOnce) {
  makeJobs();
  carry();
  // Hundreds of requests: on a busy machine that takes its time.
  const auto made = [&] { return reservations() == kJobs; };
  ASSERT_TRUE(until(made) || until(made) || until(made));
  std::vector<double> took;
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_TRUE(until([&] { return isReserved(i); }));
    took.push_back(react(i));
    if (HasFailure()) return;
  }
  std::sort(took.begin(), took.end());
  const double p99 = took[took.size() * 99 / 100];
  RecordProperty("p99_ms", fmt::format("{:.1f}", 1000 * p99));
  fmt::print("reservation Available to eviction done: p50 {:.1f} ms, p99 {:.1f} ms, of {}\n",
             1000 * took[took.size() / 2], 1000 * p99, took.size());
}

}  // namespace
}  // namespace mangrove::descheduler
