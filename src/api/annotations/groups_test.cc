// Annotations and labels that tie pods to reservations, gangs and quotas.
#include <gtest/gtest.h>

#include "api/annotations/gang.h"
#include "api/annotations/quota.h"
#include "api/annotations/reservation.h"

namespace mangrove::api {
namespace {

using namespace std::chrono_literals;

Annotations with(std::string_view key, std::string_view value) {
  return Annotations{{key, value}};
}

TEST(ReservationAffinity, EmptyTextIsAnAffinity) {
  const auto parse = [](std::string_view value) {
    return parseReservationAffinity(with(annotation::kReservationAffinity, value));
  };
  EXPECT_EQ(parseReservationAffinity({}).value(), std::nullopt);
  EXPECT_EQ(parse("").value(), ReservationAffinity{});
  EXPECT_EQ(parse("{}").value(), ReservationAffinity{});
  const char* text =
      R"({"name":"r1","requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":)"
      R"([{"matchExpressions":[{"key":"a","operator":"In","values":["x","y"]}]}]},)"
      R"("reservationSelector":{"k":"v"},"tolerations":[{"key":"t","operator":"Exists",)"
      R"("effect":"NoSchedule"}]})";
  EXPECT_EQ(annotationText(*parse(text).value()), text);
  EXPECT_FALSE(parse(R"({"reservationSelector":{"k":1}})"));
  EXPECT_FALSE(parse("x"));
}

TEST(Reservations, SmallCodecs) {
  const Annotations allocated =
      with(annotation::kReservationAllocated, R"({"name":"r","uid":"u"})");
  EXPECT_EQ(*parseReservationAllocated(allocated).value(), (ReservationAllocated{"r", "u"}));
  EXPECT_EQ(annotationText(ReservationAllocated{"r", "u"}), R"({"name":"r","uid":"u"})");
  EXPECT_FALSE(parseReservationAllocated(with(annotation::kReservationAllocated, "")));

  const auto options = parseReservationRestrictedOptions(
      with(annotation::kReservationRestrictedOptions, R"({"resources":["cpu"]})"));
  EXPECT_EQ((*options)->resources, std::vector<std::string>{"cpu"});
  EXPECT_EQ(parseReservationRestrictedOptions(with(annotation::kReservationRestrictedOptions, ""))
                .value(),
            std::nullopt);

  const auto exact = parseExactMatchReservation(
      with(annotation::kExactMatchReservation, R"({"resourceNames":["cpu","memory"]})"));
  EXPECT_EQ((*exact)->resourceNames.size(), 2u);
  EXPECT_FALSE(parseExactMatchReservation(with(annotation::kExactMatchReservation, "x")));
}

TEST(Reservations, PodAsReservation) {
  const char* owners =
      R"([{"object":{"namespace":"default","name":"p"}},{"controller":{"kind":"ReplicaSet",)"
      R"("name":"rs","namespace":"d"},"labelSelector":{"matchLabels":{"app":"x"}}}])";
  const auto parsed = parseReservationOwners(with(annotation::kReservationOwners, owners));
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ(annotationText(**parsed), owners);
  EXPECT_EQ(parseReservationOwners(with(annotation::kReservationOwners, "")).value(), std::nullopt);
  EXPECT_FALSE(parseReservationOwners(with(annotation::kReservationOwners, "{}")));

  const auto owner = parseReservationCurrentOwner(
      with(annotation::kReservationCurrentOwner, R"({"name":"p","uid":"u"})"));
  EXPECT_EQ((*owner)->name, "p");
  EXPECT_TRUE(isReservationPod({{label::kOperatingMode, "Reservation"}}));
  EXPECT_FALSE(isReservationPod({{label::kOperatingMode, "Runnable"}}));
}

TEST(Reservations, Switches) {
  EXPECT_TRUE(ignoresReservations({{label::kReservationIgnored, "true"}}));
  EXPECT_FALSE(ignoresReservations({{label::kReservationIgnored, "TRUE"}}));
  EXPECT_TRUE(requiresPreAllocation({{label::kPreAllocationRequired, "true"}}));
  EXPECT_TRUE(isPreAllocatable({{label::kPreAllocatable, "true"}}));
  EXPECT_FALSE(isPreAllocatable({}));
  EXPECT_EQ(parseReservationOrder({{label::kReservationOrder, "7"}}).value(), 7);
  EXPECT_EQ(parseReservationOrder({}).value(), 0);
  EXPECT_FALSE(parseReservationOrder({{label::kReservationOrder, "first"}}));
  EXPECT_EQ(parsePreAllocatablePriority(with(annotation::kPreAllocatablePriority, "-3")).value(),
            -3);
  EXPECT_FALSE(parsePreAllocatablePriority(with(annotation::kPreAllocatablePriority, "high")));
}

TEST(Gang, NamePrecedence) {
  const Annotations named = with(annotation::kGangName, "c");
  EXPECT_EQ(gangNameOf({}, {}), "");
  EXPECT_EQ(gangNameOf({}, named), "c");
  EXPECT_EQ(gangNameOf({{label::kOldPodGroupName, "b"}}, named), "b");
  EXPECT_EQ(gangNameOf({{label::kOldPodGroupName, "b"}, {label::kPodGroup, "a"}}, named), "a");
}

TEST(Gang, Numbers) {
  struct Row {
    const char* value;
    std::string minimum;
    std::string total;
  };
  const auto show = [](const Result<std::optional<int32_t>>& r) {
    return !r ? "error" : *r ? std::to_string(**r) : "absent";
  };
  for (const auto& [value, minimum, total] : {Row{"3", "3", "3"},
                                              {"", "error", "absent"},
                                              {"x", "error", "error"},
                                              {"-1", "-1", "-1"},
                                              {"2147483648", "error", "error"},
                                              {"3.0", "error", "error"}}) {
    EXPECT_EQ(show(parseGangMinAvailable(with(annotation::kGangMinAvailable, value))), minimum);
    EXPECT_EQ(show(parseGangTotalNumber(with(annotation::kGangTotalNumber, value))), total);
  }
  EXPECT_EQ(show(parseGangMinAvailable({})), "absent");
}

TEST(Gang, WaitingTimeGroupsAndTimeout) {
  EXPECT_EQ(parseGangWaitingTime(with(annotation::kGangWaitingTime, "1m30s")).value(), 90s);
  EXPECT_EQ(parseGangWaitingTime(with(annotation::kGangWaitingTime, "")).value(), std::nullopt);
  EXPECT_FALSE(parseGangWaitingTime(with(annotation::kGangWaitingTime, "90")));
  EXPECT_EQ(parseGangGroups(with(annotation::kGangGroups, R"(["d/a","d/b"])")).value(),
            (std::vector<std::string>{"d/a", "d/b"}));
  EXPECT_FALSE(parseGangGroups(with(annotation::kGangGroups, "d/a,d/b")));
  EXPECT_TRUE(isGangTimedOut(with(annotation::kGangTimeout, "true")));
  EXPECT_FALSE(isGangTimedOut({}));
}

TEST(Gang, ModeAndMatchPolicy) {
  EXPECT_EQ(gangModeOf({}), GangMode::kStrict);
  EXPECT_EQ(gangModeOf(with(annotation::kGangMode, "NonStrict")), GangMode::kNonStrict);
  EXPECT_EQ(gangModeOf(with(annotation::kGangMode, "loose")), GangMode::kStrict);
  EXPECT_EQ(gangMatchPolicyOf({}), GangMatchPolicy::kOnceSatisfied);
  EXPECT_EQ(gangMatchPolicyOf(with(annotation::kGangMatchPolicy, "only-waiting")),
            GangMatchPolicy::kOnlyWaiting);
  EXPECT_EQ(gangMatchPolicyOf(with(annotation::kOldGangMatchPolicy, "waiting-and-running")),
            GangMatchPolicy::kWaitingAndRunning);
  EXPECT_EQ(gangMatchPolicyOf({{annotation::kGangMatchPolicy, "only-waiting"},
                               {annotation::kOldGangMatchPolicy, "waiting-and-running"}}),
            GangMatchPolicy::kOnlyWaiting);
  EXPECT_EQ(gangMatchPolicyOf(with(annotation::kGangMatchPolicy, "odd")),
            GangMatchPolicy::kOnceSatisfied);
}

TEST(Gang, NetworkTopology) {
  const char* text =
      R"({"gatherStrategy":[{"layer":"spineLayer","strategy":"PreferGather"},)"
      R"({"layer":"acceleratorLayer","strategy":"MustGather","podCountMultiple":4}]})";
  const auto spec = parseNetworkTopologySpec(with(annotation::kGangNetworkTopologySpec, text));
  ASSERT_TRUE(spec && *spec);
  EXPECT_EQ(annotationText(**spec), text);
  EXPECT_EQ(parseNetworkTopologySpec(with(annotation::kGangNetworkTopologySpec, "")).value(),
            std::nullopt);
  for (auto [value, index] : {std::pair("3", 3), {"0", 0}, {"", -1}, {"x", -1}})
    EXPECT_EQ(networkTopologyIndexOf(with(annotation::kGangNetworkTopologyIndex, value)), index);
  EXPECT_EQ(networkTopologyIndexOf({}), -1);
  EXPECT_EQ(networkTopologySelectorOf(with(annotation::kNetworkTopologySelector, "a=b")), "a=b");
}

TEST(Gang, BindingMarks) {
  EXPECT_EQ(bindGangGroupIdOf(with(annotation::kOldBindGangGroupId, "old")), "old");
  EXPECT_EQ(bindGangGroupIdOf(
                {{annotation::kBindGangGroupId, "new"}, {annotation::kOldBindGangGroupId, "old"}}),
            "new");
  EXPECT_EQ(parseBindGangMemberCount(with(annotation::kBindGangMemberCount, "8")).value(), 8);
  EXPECT_EQ(parseBindGangMemberCount({}).value(), std::nullopt);
  EXPECT_FALSE(parseBindGangMemberCount(with(annotation::kBindGangMemberCount, "many")));
}

TEST(Quota, LabelsOfTheTree) {
  EXPECT_TRUE(isParentQuota({{label::kQuotaIsParent, "true"}}));
  EXPECT_FALSE(isParentQuota({{label::kQuotaIsParent, "yes"}}));
  EXPECT_TRUE(isRootQuota({{label::kQuotaIsRoot, "true"}}));
  EXPECT_TRUE(allowsLending({}));
  EXPECT_FALSE(allowsLending({{label::kQuotaAllowLentResource, "false"}}));
  EXPECT_TRUE(allowsLending({{label::kQuotaAllowLentResource, "no"}}));
  EXPECT_FALSE(allowsForceUpdate({}));
  EXPECT_TRUE(ignoresDefaultTree({{label::kQuotaIgnoreDefaultTree, "true"}}));
  EXPECT_EQ(quotaTreeIdOf({{label::kQuotaTreeId, "t"}}), "t");
  EXPECT_EQ(quotaProfileOf({{label::kQuotaProfile, "p"}}), "p");
  EXPECT_EQ(quotaNameOf({{label::kQuotaName, "q"}}), "q");
  EXPECT_TRUE(isPreemptibleInQuota({}));
  EXPECT_FALSE(isPreemptibleInQuota({{label::kQuotaPreemptible, "false"}}));
}

TEST(Quota, ParentFallsBackToTheRoot) {
  ObjectMeta quota;
  quota.name = "team";
  EXPECT_EQ(parentQuotaOf(quota), object::kRootQuota);
  quota.labels.set(label::kQuotaParent, "company");
  EXPECT_EQ(parentQuotaOf(quota), "company");
  ObjectMeta root;
  root.name = object::kRootQuota;
  EXPECT_EQ(parentQuotaOf(root), "");
  EXPECT_TRUE(isReservedQuota(object::kRootQuota));
  EXPECT_TRUE(isReservedQuota(object::kSystemQuota));
  EXPECT_FALSE(isReservedQuota(object::kDefaultQuota));
}

TEST(Quota, ResourceAnnotations) {
  const char* text = R"({"cpu":"10","memory":"20Gi"})";
  for (std::string_view key :
       {annotation::kQuotaRuntime, annotation::kQuotaRequest, annotation::kQuotaChildRequest,
        annotation::kQuotaTotalResource, annotation::kQuotaUnschedulableResource,
        annotation::kQuotaGuaranteed, annotation::kQuotaAllocated,
        annotation::kQuotaNonPreemptibleRequest, annotation::kQuotaNonPreemptibleUsed,
        annotation::kQuotaAdmission}) {
    EXPECT_EQ(annotationText(*parseQuotaResources(with(key, text), key).value()), text);
    EXPECT_EQ(parseQuotaResources(with(key, ""), key).value(), std::nullopt);
    EXPECT_FALSE(parseQuotaResources(with(key, "[]"), key));
  }
  const auto key = annotation::kQuotaNamespaces;
  EXPECT_EQ(parseQuotaList(with(key, R"(["a","b"])"), key).value(),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(parseQuotaList(with(key, R"({"a":1})"), key));
}

TEST(Quota, SharedWeightFallsBackToMax) {
  ElasticQuota quota;
  quota.spec.max = {{"cpu", "100"}};
  for (const char* value : {"", "x", "{}", R"({"cpu":"0"})"}) {
    quota.meta.annotations = with(annotation::kQuotaSharedWeight, value);
    EXPECT_EQ(sharedWeightOf(quota), quota.spec.max) << value;
  }
  quota.meta.annotations = with(annotation::kQuotaSharedWeight, R"({"cpu":"5"})");
  EXPECT_EQ(sharedWeightOf(quota), (ResourceList{{"cpu", "5"}}));
}

}  // namespace
}  // namespace mangrove::api
