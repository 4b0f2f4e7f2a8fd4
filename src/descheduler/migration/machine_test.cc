// Cases 40 to 50: the life of a PodMigrationJob, step by step.
#include "descheduler/migration/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "descheduler/testing/scene.h"

namespace mangrove::descheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::kNoon;
using testing::Scene;

// A job, its pod and its reservation, and a clock that is moved by hand.
struct Life {
  api::PodMigrationJob job;
  Scene scene;
  api::Pod* pod = nullptr;
  std::optional<api::Reservation> reservation;
  const api::Pod* bound = nullptr;
  WallTime now = kNoon;
  bool limited = false;
  std::vector<std::string> conditions;  // "Type=Status", in the order of their changes
  Step last;

  Life() {
    job.meta.name = "j";
    job.meta.uid = api::Uid("job-uid");
    job.meta.creationTimestamp = kNoon;
    job.spec.podRef.emplace();
    job.spec.podRef->ns = "default";
    job.spec.podRef->name = "p";
    job.spec.ttl = minutes(5);
    pod = &scene.pod("p", "n1");
  }

  Step look() {
    const MigrationSight sight{job,   true, pod,    reservation ? &*reservation : nullptr,
                               bound, now,  limited};
    last = nextStep(sight, {});
    if (!last.podUid.empty()) job.spec.podRef->uid = last.podUid;
    if (last.status) write(*last.status);
    return last;
  }
  void write(const api::PodMigrationJobStatus& status) {
    for (const api::ProbedCondition& one : status.conditions) {
      const auto* before = conditionOf(job.status.conditions, one.type);
      if (before == nullptr || before->status != one.status)
        conditions.push_back(one.type + "=" + one.status);
    }
    job.status = status;
  }
  void sent() { write(evictionSent(job.status, now, "evicting")); }
  void reserve(std::string phase, std::string node) {
    api::Reservation& made = reservation.emplace();
    made.meta.name = "r";
    made.status.phase = std::move(phase);
    made.status.nodeName = std::move(node);
    if (!made.status.nodeName.empty()) condition("Scheduled", "True", "Scheduled");
    api::ReservationOwner owner;
    owner.controller.emplace().name = "rs";
    made.spec.owners.push_back(owner);
    job.spec.reservationOptions.emplace().reservationRef.emplace().name = "r";
  }
  void condition(std::string type, std::string status, std::string reason) {
    api::ProbedCondition one;
    one.type = std::move(type);
    one.status = std::move(status);
    one.reason = std::move(reason);
    reservation->status.conditions.push_back(one);
  }
  std::string failure() const { return job.status.phase + "/" + job.status.reason; }
};
using Act = Step::Act;

TEST(Migration, EvictDirectly) {  // case 40
  Life life;
  life.job.spec.mode = "EvictDirectly";
  EXPECT_EQ(life.look().act, Act::kEvict);
  EXPECT_EQ(life.job.status.phase, "Running");
  EXPECT_EQ(life.job.spec.podRef->uid, "uid-p");
  life.sent();
  EXPECT_EQ(life.look().act, Act::kNothing) << "its end is an event";
  life.pod = nullptr;
  life.look();
  EXPECT_EQ(life.job.status.phase, "Succeeded");
  EXPECT_EQ(life.job.status.status, "Complete");
  EXPECT_THAT(life.conditions, ElementsAre("Eviction=Unknown", "Eviction=False", "Eviction=True"));
}

// Up to the moment in which the pod is gone.
void moveOut(Life& life) {
  EXPECT_EQ(life.look().act, Act::kCreateReservation);
  life.reserve("Pending", "");
  EXPECT_EQ(life.look().act, Act::kNothing);
  life.reserve("Available", "n2");
  EXPECT_EQ(life.look().act, Act::kEvict);
  life.sent();
  life.pod = nullptr;
}

TEST(Migration, ReservationFirst) {  // case 41
  Life life;
  moveOut(life);
  life.look();
  EXPECT_EQ(life.job.status.nodeName, "n2");
  life.reservation->status.currentOwners.emplace_back().name = "p-new";
  Scene other;
  api::Pod& fresh = other.pod("p-new", "n2");
  fresh.status.conditions[0].status = api::Truth::kFalse;
  life.bound = &fresh;
  life.look();
  EXPECT_EQ(life.job.status.phase, "Running");
  fresh.status.conditions[0].status = api::Truth::kTrue;
  life.look();
  EXPECT_EQ(life.job.status.phase, "Succeeded");
  EXPECT_EQ(life.job.status.podRef->name, "p-new");
  EXPECT_THAT(life.conditions, ElementsAre("ReservationCreated=True", "ReservationScheduled=True",
                                           "Eviction=Unknown", "Eviction=False", "Eviction=True",
                                           "PodBoundReservation=False", "ReservationBound=True",
                                           "BoundPodReady=False",
                                           // in one write, in the order of the list
                                           "PodBoundReservation=True", "BoundPodReady=True"));
}

TEST(Migration, EndsByItsTtlAndGivesTheReservationBack) {  // case 42
  Life life;
  life.look();
  life.reserve("Pending", "");
  EXPECT_EQ(*life.look().lookAt, kNoon + minutes(5));
  life.now = kNoon + minutes(5);
  EXPECT_EQ(life.look().act, Act::kDeleteReservation);
  EXPECT_EQ(life.failure(), "Failed/Timeout");
  EXPECT_FALSE(isScavenged(life.job, kNoon + minutes(9)));
  EXPECT_TRUE(isScavenged(life.job, kNoon + minutes(10)));
}

TEST(Migration, ARefusedEvictionIsTriedAgainUntilTheTtl) {  // case 43
  Life life;
  life.job.spec.mode = "EvictDirectly";
  for (int tries = 0; tries < 3; ++tries) EXPECT_EQ(life.look().act, Act::kEvict);  // 429, 429, 429
  EXPECT_EQ(life.job.status.phase, "Running");
  EXPECT_THAT(life.conditions, ElementsAre("Eviction=Unknown"));
  life.now += minutes(5);
  life.look();
  EXPECT_EQ(life.failure(), "Failed/Timeout");
}

TEST(Migration, NeverOntoItsOwnNode) {  // case 44
  Life life;
  life.look();
  life.reserve("Available", "n1");
  EXPECT_EQ(life.look().act, Act::kDeleteReservation);
  EXPECT_EQ(life.failure(), "Failed/ForbiddenMigratePod");
}

TEST(Migration, AReservationThatAnotherPodTookIsNoReasonToGo) {  // case 45
  Life life;
  life.look();
  life.reserve("Succeeded", "n2");
  life.reservation->status.currentOwners.emplace_back().name = "other";
  EXPECT_EQ(life.look().act, Act::kNothing) << "somebody lives in it";
  EXPECT_EQ(life.failure(), "Failed/ForbiddenMigratePod");
}

TEST(Migration, ANamesakeIsNotThePodThatWasSentAway) {  // case 46
  Life life;
  life.job.spec.mode = "EvictDirectly";
  life.look();
  life.sent();
  life.pod = &life.scene.pod("p", "n2");
  life.pod->meta.uid = api::Uid("another");
  life.limited = true;  // by the eviction of this very pod
  life.look();
  EXPECT_EQ(life.job.status.phase, "Succeeded");
}

TEST(Migration, PausedWaitsForApprovalAndIsScavengedLikeAllOthers) {  // case 47
  Life life;
  life.job.spec.paused = true;
  life.now = kNoon + minutes(9);
  const Step step = life.look();
  EXPECT_EQ(step.act, Act::kNothing);
  EXPECT_FALSE(step.status);
  EXPECT_TRUE(isScavenged(life.job, kNoon + minutes(10)));
}

TEST(Migration, ThePodsWordAboutItsEvictionIsTheLast) {  // case 48
  Life life;
  EXPECT_EQ(evictionPolicyOf(*life.pod, life.job, "Eviction"), "Eviction");
  life.job.meta.labels.set("koordinator.sh/evict-policy", "SoftEviction");
  EXPECT_EQ(evictionPolicyOf(*life.pod, life.job, "Eviction"), "SoftEviction");
  life.pod->meta.labels.set("koordinator.sh/evict-policy", "Delete");
  EXPECT_EQ(evictionPolicyOf(*life.pod, life.job, "Eviction"), "Delete");
  life.pod->meta.labels.set("koordinator.sh/evict-policy", "Nonsense");
  EXPECT_EQ(evictionPolicyOf(*life.pod, life.job, "Eviction"), "Eviction");
}

TEST(Migration, GoesOnFromTheObjectsAfterARestart) {  // case 50
  Life life;
  moveOut(life);
  life.look();
  Life after;  // a new process: the same objects, nothing else
  after.job = life.job;
  after.pod = nullptr;
  after.reservation = life.reservation;
  after.reservation->status.currentOwners.emplace_back().name = "p-new";
  after.look();
  EXPECT_EQ(after.job.status.phase, "Succeeded") << "a new pod that is gone counts as ready";
}

// Ended between the server's answer and the note of it: the intent in the job tells whose deed it was.
TEST(Migration, APodThatLeftWhileNobodyNotedItCountsAsSentAway) {
  Life direct;
  direct.job.spec.mode = "EvictDirectly";
  EXPECT_EQ(direct.look().act, Act::kEvict);
  direct.pod = nullptr;
  direct.look();
  EXPECT_EQ(direct.job.status.phase, "Succeeded");
  Life namesake;
  namesake.look();
  namesake.reserve("Available", "n2");
  EXPECT_EQ(namesake.look().act, Act::kEvict);
  namesake.pod = &namesake.scene.pod("p", "n2");
  namesake.pod->meta.uid = api::Uid("another");
  namesake.limited = true;
  EXPECT_EQ(namesake.look().act, Act::kNothing);
  EXPECT_EQ(namesake.job.status.status, "PodBoundReservation");
}

TEST(Migration, APodThatLeftBeforeTheIntentWasWrittenFailsItsJob) {
  Life life;
  life.look();
  life.reserve("Pending", "");
  life.look();
  life.pod = nullptr;
  life.reserve("Available", "n2");
  life.look();
  EXPECT_EQ(life.failure(), "Failed/MissingPod");
}

TEST(Migration, WaitsForArbitration) {
  Life life;
  const MigrationSight sight{life.job, false, life.pod, nullptr, nullptr, kNoon};
  const Step step = nextStep(sight, {});
  EXPECT_EQ(step.act, Act::kNothing);
  EXPECT_FALSE(step.status);
}

TEST(Migration, NobodyIsEvictedIntoAReservationThatIsNotAvailable) {
  struct Row {
    const char* phase;
    const char* node;
    const char* ends;
  };
  for (const Row& row :
       {Row{"Pending", "", "Running/"}, Row{"", "", "Running/"}, Row{"Waiting", "", "Running/"},
        Row{"Failed", "n2", "Failed/Unschedulable"},
        Row{"Available", "", "Failed/Unschedulable"}}) {
    Life life;
    life.look();
    life.reserve(row.phase, row.node);
    EXPECT_NE(life.look().act, Act::kEvict) << row.phase;
    EXPECT_EQ(life.failure(), row.ends) << row.phase;
  }
}

TEST(Migration, EndsWithAReservationThatEnds) {
  Life expired;
  expired.look();
  expired.reserve("Failed", "n2");
  expired.condition("Ready", "False", "Expired");
  expired.look();
  EXPECT_EQ(expired.failure(), "Failed/ReservationExpired");
  Life missing;
  missing.look();
  missing.reserve("Available", "n2");
  missing.reservation.reset();
  missing.look();
  EXPECT_EQ(missing.failure(), "Failed/MissingReservation");
}

TEST(Migration, SaysWhyAReservationFindsNoNode) {
  Life life;
  life.look();
  life.reserve("Pending", "");
  life.condition("Scheduled", "False", "Unschedulable");
  life.look();
  EXPECT_EQ(conditionOf(life.job.status.conditions, "ReservationScheduled")->reason,
            "Unschedulable");
  EXPECT_EQ(life.job.status.phase, "Running");
}

TEST(Migration, APodThatIsNotThereFailsAtOnce) {
  Life life;
  life.pod = nullptr;
  life.look();
  EXPECT_EQ(life.failure(), "Failed/MissingPod");
  Life nameless;
  nameless.job.spec.podRef->name = "";
  nameless.look();
  EXPECT_EQ(nameless.failure(), "Failed/InvalidPodRef");
}

TEST(Migration, AnAbortedJobGivesItsReservationBack) {
  Life life;
  life.look();
  life.reserve("Available", "n2");
  life.job.status.phase = "Aborted";
  EXPECT_EQ(life.look().act, Act::kDeleteReservation);
}

TEST(Migration, APendingPodIsMovedByItsReservationAlone) {
  Life life;
  life.look();
  life.reserve("Available", "n2");
  life.reservation->spec.owners.clear();
  life.reservation->spec.owners.emplace_back().object.emplace().name = "p";
  life.pod->nodeName = Interned("");
  EXPECT_EQ(life.look().act, Act::kNothing);
  EXPECT_EQ(life.job.status.status, "PodScheduled");
  life.pod->nodeName = Interned("n2");
  life.look();
  EXPECT_EQ(life.job.status.phase, "Succeeded");
}

TEST(Migration, AConditionThatStaysKeepsItsTime) {
  api::PodMigrationJobStatus status;
  setCondition(status, "Eviction", api::Truth::kFalse, "Evicting", "a", kNoon);
  setCondition(status, "Eviction", api::Truth::kFalse, "Evicting", "b", kNoon + seconds(5));
  EXPECT_EQ(status.conditions[0].lastTransitionTime, kNoon);
  EXPECT_EQ(status.message, "b");
  setCondition(status, "Eviction", api::Truth::kTrue, "EvictComplete", "c", kNoon + seconds(9));
  EXPECT_EQ(status.conditions[0].lastTransitionTime, kNoon + seconds(9));
}

}  // namespace
}  // namespace mangrove::descheduler
