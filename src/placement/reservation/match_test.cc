#include "placement/reservation/match.h"

#include <gtest/gtest.h>

namespace mangrove::placement {
namespace {

constexpr std::string_view kWebPod = R"({"metadata":{"name":"p","namespace":"shop","uid":"u1",
  "labels":{"app":"web"},
  "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"rs1",
    "controller":true}]}})";

api::Reservation ofOwners(std::string_view owners) {
  return *api::decodeText<api::Reservation>(fmt::format(R"({{"spec":{{"owners":{}}}}})", owners));
}

TEST(OwnerTerms, MatchByEveryKindOfTerm) {
  struct Row {
    const char* what;
    const char* owners;
    bool match;
  };
  const Row rows[] = {
      {"no term, no pod", "[]", false},
      {"an empty term is everybody", "[{}]", true},
      {"by name and namespace", R"([{"object":{"name":"p","namespace":"shop"}}])", true},
      {"by uid", R"([{"object":{"uid":"u2"}}])", false},
      {"the kind does not count", R"([{"object":{"kind":"Job","name":"p"}}])", true},
      {"pods are of v1", R"([{"object":{"apiVersion":"v1"}}])", true},
      {"and of nothing else", R"([{"object":{"apiVersion":"apps/v1"}}])", false},
      {"by controller", R"([{"controller":{"kind":"ReplicaSet","name":"web-1"}}])", true},
      {"of another namespace", R"([{"controller":{"name":"web-1","namespace":"x"}}])", false},
      {"an owner that is no controller", R"([{"controller":{"controller":false}}])", false},
      {"by labels", R"([{"labelSelector":{"matchLabels":{"app":"web"}}}])", true},
      {"an empty selector is everybody", R"([{"labelSelector":{}}])", true},
      {"all parts of a term",
       R"([{"object":{"name":"p"},"labelSelector":{"matchLabels":{"app":"db"}}}])", false},
      {"any of the terms", R"([{"object":{"name":"q"}},{"object":{"name":"p"}}])", true},
  };
  const auto pod = *api::decodeText<api::Pod>(kWebPod);
  for (const Row& row : rows)
    EXPECT_EQ(OwnerTerms::compile(ofOwners(row.owners).spec.owners)->match(pod), row.match)
        << row.what;
}

TEST(OwnerTerms, ABrokenSelectorIsNamed) {
  const auto owners = OwnerTerms::compile(
      ofOwners(R"([{},{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}])")
          .spec.owners);
  ASSERT_FALSE(owners);
  EXPECT_NE(owners.error().text().find("owners[1].labelSelector"), std::string::npos);
}

TEST(OwnerTerms, TakenOverPodsAreSelectedByLabelsOnly) {
  const api::Labels web{{"app", "web"}};
  EXPECT_FALSE(OwnerTerms::compile(ofOwners("[{}]").spec.owners)->selects(web));
  EXPECT_TRUE(OwnerTerms::compile(ofOwners(R"([{"labelSelector":{}}])").spec.owners)->selects(web));
}

api::Pod claiming(std::string_view affinity, std::string_view exactly = "") {
  api::Pod pod = *api::decodeText<api::Pod>(R"({"metadata":{"name":"p","labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})");
  if (affinity != "none") pod.meta.annotations.set(api::annotation::kReservationAffinity, affinity);
  if (!exactly.empty()) pod.meta.annotations.set(api::annotation::kExactMatchReservation, exactly);
  return pod;
}

// Available on a node of zone a, for everybody, 2 cpus.
api::Reservation openReservation() {
  auto out = *api::decodeText<api::Reservation>(R"({"metadata":{"name":"r1",
    "labels":{"pool":"x"}},"spec":{"owners":[{}],"allocateOnce":false},
    "status":{"phase":"Available","nodeName":"n","allocatable":{"cpu":"2000m"}}})");
  return out;
}

Meeting meeting(const api::Pod& pod, const api::Reservation& reservation, size_t owners = 0) {
  const api::Labels node{{"pool", "y"}, {"zone", "a"}};
  return meet(*ReservationClaim::of(pod), *ReservationOffer::of(reservation), node, owners);
}

TEST(Meet, LabelsOfTheReservationOverrideItsNodes) {
  const auto open = openReservation();
  const auto byPool = [&](std::string_view pool) {
    return meeting(claiming(fmt::format(R"({{"reservationSelector":{{"pool":"{}"}}}})", pool)),
                   open);
  };
  EXPECT_EQ(byPool("x"), Meeting::kMatched);
  EXPECT_EQ(byPool("y"), Meeting::kOtherLabels);
  EXPECT_EQ(meeting(claiming(R"({"reservationSelector":{"zone":"a"}})"), open), Meeting::kMatched);
  EXPECT_EQ(meeting(claiming(""), open), Meeting::kMatched);
}

TEST(Meet, TaintsKeepOutWhoDoesNotTolerateThem) {
  auto tainted = openReservation();
  tainted.spec.taints = {{Interned("k"), Interned("v"), api::TaintEffect::kNoSchedule, {}}};
  EXPECT_EQ(meeting(claiming("none"), tainted), Meeting::kUntoleratedTaint);
  EXPECT_EQ(meeting(claiming("{}"), tainted), Meeting::kUntoleratedTaint);
  EXPECT_EQ(meeting(claiming(R"({"tolerations":[{"key":"k","value":"v"}]})"), tainted),
            Meeting::kMatched);
  tainted.spec.taints[0].effect = api::TaintEffect::kPreferNoSchedule;
  EXPECT_EQ(meeting(claiming("none"), tainted), Meeting::kMatched);
}

TEST(Meet, ANameIsStrongerThanWhatIsSaidAgainstIt) {
  auto closed = openReservation();
  closed.spec.unschedulable = true;
  closed.spec.taints = {{Interned("k"), Interned("v"), api::TaintEffect::kNoExecute, {}}};
  EXPECT_EQ(meeting(claiming("{}"), closed), Meeting::kClosed);
  EXPECT_EQ(meeting(claiming(R"({"name":"r1","reservationSelector":{"no":"where"}})"), closed),
            Meeting::kMatched);
  EXPECT_EQ(meeting(claiming(R"({"name":"r2"})"), closed), Meeting::kOtherName);
  EXPECT_EQ(meeting(claiming(R"({"name":"r1"})", R"({"resourceNames":["memory","cpu"]})"), closed),
            Meeting::kMatched);
}

TEST(Meet, ExactAmountsAreComparedNameByName) {
  auto larger = openReservation();
  larger.status.allocatable = {{"cpu", "3"}};
  // memory is on neither side; the check goes on behind it.
  const auto pod = claiming("none", R"({"resourceNames":["memory","cpu"]})");
  EXPECT_EQ(meeting(pod, larger), Meeting::kNotExact);
  EXPECT_EQ(meeting(pod, openReservation()), Meeting::kMatched);
  larger.status.allocatable = {{"cpu", "2"}, {"memory", "1Gi"}};
  EXPECT_EQ(meeting(pod, larger), Meeting::kNotExact);
}

TEST(Meet, OneOwnerAndNoMore) {
  auto once = openReservation();
  once.spec.allocateOnce = true;
  EXPECT_EQ(meeting(claiming("none"), once, 0), Meeting::kMatched);
  EXPECT_EQ(meeting(claiming("none"), once, 1), Meeting::kNotMatchable);
  EXPECT_EQ(meeting(claiming("none"), openReservation(), 1), Meeting::kMatched);
  once.status.phase = "Pending";
  EXPECT_EQ(meeting(claiming("none"), once, 0), Meeting::kNotMatchable);
}

TEST(Meet, WhoIgnoresReservationsOwnsNone) {
  auto pod = claiming("none");
  pod.meta.labels.set(api::label::kReservationIgnored, "true");
  auto foreign = openReservation();
  foreign.spec.owners.clear();
  EXPECT_EQ(meeting(pod, foreign), Meeting::kIgnored);
  EXPECT_FALSE(
      mayTakeOver(*ReservationClaim::of(pod), *ReservationOffer::of(openReservation()), {}));
}

TEST(Offer, OptionsAreReadUnderTheirPolicyOnly) {
  auto reservation = openReservation();
  reservation.meta.annotations.set(api::annotation::kReservationRestrictedOptions, "{");
  EXPECT_TRUE(ReservationOffer::of(reservation));
  reservation.spec.allocatePolicy = "Restricted";
  EXPECT_FALSE(ReservationOffer::of(reservation));
}

TEST(Claim, ABrokenWishRefusesThePod) {
  EXPECT_FALSE(ReservationClaim::of(claiming("{")));
  EXPECT_FALSE(ReservationClaim::of(claiming(
      R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[
          {"matchExpressions":[{"key":"a","operator":"Near"}]}]}})")));
}

}  // namespace
}  // namespace mangrove::placement
