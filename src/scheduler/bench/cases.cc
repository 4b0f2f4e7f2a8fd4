#include "scheduler/bench/cases.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace mangrove::scheduler {

namespace {

using enum BenchPod;

constexpr std::array kCases = {
    BenchCase{"SchedulingBasic", kDefault, kDefault, 500, 1000, 1000, 10000, 1, false},
    BenchCase{"SchedulingPodAffinity", kAffinity, kAffinity, 500, 500, 5000, 5000, 1, false},
    BenchCase{"SchedulingPodAntiAffinity", kAntiAffinity, kAntiAffinity, 100, 400, 1000, 2000, 1,
              false},
    BenchCase{"SchedulingPreferredPodAffinity", kPreferredAffinity, kPreferredAffinity, 500, 1000,
              5000, 5000, 1, false},
    BenchCase{"SchedulingPreferredPodAntiAffinity", kPreferredAntiAffinity, kPreferredAntiAffinity,
              500, 1000, 5000, 5000, 1, false},
    BenchCase{"SchedulingNodeAffinity", kNodeAffinity, kNodeAffinity, 500, 1000, 5000, 10000, 1,
              false},
    BenchCase{"TopologySpreading", kDefault, kSpread, 1000, 1000, 5000, 5000, 3, false},
    BenchCase{"PreferredTopologySpreading", kDefault, kPreferredSpread, 1000, 1000, 5000, 5000, 3,
              false},
    BenchCase{"PreemptionBasic", kLowPriority, kHighPriority, 2000, 500, 20000, 5000, 1, false},
    BenchCase{"Unschedulable", kTooLarge, kDefault, 200, 1000, 200, 10000, 1, false},
    BenchCase{"SchedulingWithMixedChurn", kDefault, kDefault, 0, 1000, 0, 10000, 1, true},
    BenchCase{"SchedulingDaemonset", kPinned, kPinned, 0, 500, 0, 15000, 1, false},
    BenchCase{"ManyClasses", kDefault, kManyClasses, 500, 1000, 1000, 10000, 1, false},
    BenchCase{"Reservations", kDefault, kReserved, 500, 1000, 1000, 10000, 1, false, 0, 2},
    BenchCase{"Gangs1000x10", kDefault, kGang10, 0, 1000, 0, 10000, 1, false},
    BenchCase{"Gangs100x100", kDefault, kGang100, 0, 1000, 0, 10000, 1, false},
    BenchCase{"Gangs10x1000", kDefault, kGang1000, 0, 2000, 0, 10000, 1, false},
    BenchCase{"Gangs1x5000", kDefault, kGang5000, 0, 5000, 0, 5000, 1, false},
    BenchCase{"Devices", kDefault, kDevices, 0, 4000, 0, 40000, 1, false},
    BenchCase{"Gangs50x20", kDefault, kGang20, 0, 1000, 0, 1000, 1, false},
    BenchCase{"GangsRefusedBySlots", kDefault, kHugeGang100, 0, 1000, 0, 1000, 1, false},
    BenchCase{"GangsWaiting1000", kHugeGang10, kNobody, 10000, 0, 10000, 0, 1, false, 200},
    BenchCase{"GangsHolding1000", kHeldGang10, kNobody, 10000, 0, 10000, 0, 1, false, 200},
    BenchCase{"IdleTicks", kNobody, kNobody, 0, 0, 0, 0, 1, false, 200},
    // The public benchmark's, by their names.
    BenchCase{"GangScheduling_1000Gangs_3000Pods", kDefault, kGang3, 0, 300, 0, 3000, 1, false},
    BenchCase{"GangScheduling_2000Gangs_6000Pods", kDefault, kGang3, 0, 600, 0, 6000, 1, false},
    BenchCase{"GangScheduling_3000Gangs_9000Pods", kDefault, kGang3, 0, 900, 0, 9000, 1, false},
    BenchCase{"GangScheduling_3Gangs_3000Pods_1000PerGroup", kDefault, kGang1000, 0, 1000, 0, 3000,
              1, false},
    BenchCase{"GangScheduling_6Gangs_6000Pods_1000PerGroup", kDefault, kGang1000, 0, 2000, 0, 6000,
              1, false},
    BenchCase{"GangScheduling_9Gangs_9000Pods_1000PerGroup", kDefault, kGang1000, 0, 3000, 0, 9000,
              1, false},
    BenchCase{"GangScheduling_10Gangs_50000Pods_5000PerGroup", kDefault, kGang5000, 0, 5000, 0,
              50000, 1, false},
    BenchCase{"Gangs10x5000", kDefault, kGang5000, 0, 5000, 0, 50000, 1, false},
    BenchCase{"Quota", kQuotaBlocked, kQuotaOpen, 3500, 1500, 35000, 15000, 1, false},
};

constexpr std::string_view kPlainAmounts = R"({"cpu":"4","memory":"32Gi","pods":"110"})";
constexpr std::string_view kDeviceAmounts =
    R"({"cpu":"128","memory":"1024Gi","pods":"110","nvidia.com/gpu":"8","koordinator.sh/gpu-core":"800","koordinator.sh/gpu-memory":"640Gi","koordinator.sh/gpu-memory-ratio":"800","koordinator.sh/rdma":"400"})";

std::string terms(std::string_view kind, std::string_view color, std::string_view key,
                  bool preferred) {
  const std::string term = fmt::format(
      R"({{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"color":"{}"}}}}}})", key, color);
  if (preferred)
    return fmt::format(
        R"("affinity":{{"{}":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":1,"podAffinityTerm":{}}}]}}}},)",
        kind, term);
  return fmt::format(
      R"("affinity":{{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}},)", kind,
      term);
}

std::string nodeTerm(std::string_view section, std::string_view key, std::string_view values) {
  return fmt::format(
      R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{{"{}":[{{"key":"{}","operator":"In","values":[{}]}}]}}]}}}}}},)",
      section, key, values);
}

std::string spread(bool hard) {
  return fmt::format(
      R"("topologySpreadConstraints":[{{"maxSkew":5,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"{}","labelSelector":{{"matchLabels":{{"color":"blue"}}}}}}],)",
      hard ? "DoNotSchedule" : "ScheduleAnyway");
}

struct Shape {
  std::string spec = {};
  std::string_view color = "";
  std::string_view cpu = "100m";
  std::string_view memory = "500Mi";
  std::string meta = {};      // further members of the metadata, with a leading comma
  std::string requests = {};  // further ones, with a leading comma
};

constexpr std::string_view kNotStrict = R"(,"gang.scheduling.koordinator.sh/mode":"NonStrict")";

Shape gang(size_t number, size_t members, std::string_view cpu = "100m",
           std::string_view more = "") {
  return {
      .cpu = cpu,
      .meta = fmt::format(
          R"(,"annotations":{{"gang.scheduling.koordinator.sh/name":"g-{}","gang.scheduling.koordinator.sh/min-available":"{}"{}}})",
          number / members, members, more)};
}

std::string withPriority(int priority) {
  return fmt::format(R"("priority":{0},"priorityClassName":"bench-{0}",)", priority);
}

constexpr size_t kDevicePodsOfNode = 8;
constexpr int kHighPriorityValue = 10;

// So many cards in turn, after one box of eight for every five nodes; four fifths of the pods share
// cards. Together that is 85 % of the cards; what comes later takes small shares of the rest.
int cardsOf(size_t number, size_t nodes) {
  constexpr std::array kCards = {4, 1, 2, 1, 1, 2, 1};
  if (number >= nodes * kDevicePodsOfNode / 5) return 0;
  return number < nodes / 5 ? 8 : kCards[number % kCards.size()];
}

int percentOf(size_t number, size_t nodes) {
  if (number >= nodes * kDevicePodsOfNode) return static_cast<int>(5 * (1 + number % 4));
  return number % 4 == 0 ? 25 : 50;
}

// Whole boxes have the highest priority: servers hand pods over in the order of their names, and
// shares that are placed first leave no box whole.
Shape sharesOf(size_t number, size_t nodes) {
  constexpr std::string_view kJoint =
      R"(,"annotations":{"scheduling.koordinator.sh/device-joint-allocate":"{\"deviceTypes\":[\"gpu\",\"rdma\"]}"})";
  const int cards = cardsOf(number, nodes);
  if (cards == 0)
    return {.requests = fmt::format(
                R"(,"koordinator.sh/gpu-core":"{0}","koordinator.sh/gpu-memory-ratio":"{0}")",
                percentOf(number, nodes))};
  const std::string gpus = fmt::format(R"(,"nvidia.com/gpu":"{}")", cards);
  if (cards == 1) return {.spec = withPriority(1), .requests = gpus};
  return {.spec = withPriority(cards),
          .meta = std::string(kJoint),
          .requests = gpus + R"(,"koordinator.sh/rdma":"1")"};
}

constexpr size_t kTops = 10, kLeavesOfOne = 10;
constexpr size_t kOpenOfTen = 3;

bool isOpen(size_t leaf) {
  return leaf % 10 >= 10 - kOpenOfTen;
}
// The number-th leaf that is open, or is not, round and round.
size_t leafOf(size_t number, size_t leaves, bool open) {
  const size_t ofTen = open ? kOpenOfTen : 10 - kOpenOfTen;
  const size_t at = number % std::max<size_t>(1, leaves / 10 * ofTen);
  return at / ofTen * 10 + (open ? 10 - kOpenOfTen : 0) + at % ofTen;
}

Shape inQuota(size_t leaf) {
  return {.meta = fmt::format(R"(,"labels":{{"quota.scheduling.koordinator.sh/name":"leaf-{}"}})",
                              leaf)};
}

Shape shapeOf(BenchPod kind, size_t number, size_t nodes, size_t leaves) {
  constexpr std::string_view kZone = "topology.kubernetes.io/zone";
  constexpr std::string_view kHost = "kubernetes.io/hostname";
  switch (kind) {
    case kDefault:
    case kNobody:
      return {};
    case kAffinity:
      return {terms("podAffinity", "blue", kZone, false), "blue"};
    case kAntiAffinity:
      return {terms("podAntiAffinity", "green", kHost, false), "green"};
    case kPreferredAffinity:
      return {terms("podAffinity", "red", kHost, true), "red"};
    case kPreferredAntiAffinity:
      return {terms("podAntiAffinity", "yellow", kHost, true), "yellow"};
    case kNodeAffinity:
      return {nodeTerm("matchExpressions", kZone, R"("zone1","zone2")")};
    case kSpread:
      return {spread(true), "blue"};
    case kPreferredSpread:
      return {spread(false), "blue"};
    case kLowPriority:
      // Nobody waits for a kubelet to end it.
      return {R"("priority":0,"terminationGracePeriodSeconds":0,)", "", "900m"};
    case kHighPriority:
      return {withPriority(kHighPriorityValue), "", "3"};
    case kTooLarge:
      return {"", "", "9"};
    case kPinned:
      return {nodeTerm("matchFields", "metadata.name",
                       fmt::format("\"node-{}\"", number % (nodes == 0 ? 1 : nodes)))};
    case kManyClasses:
      return {.meta = fmt::format(R"(,"labels":{{"job":"job-{}"}})", number / 10)};
    case kReserved:
      return {.meta = number % 10 < 3 ? R"(,"labels":{"app":"reserved"})" : ""};
    case kGang3:
      return gang(number, 3);
    case kGang10:
      return gang(number, 10);
    case kGang20:
      return gang(number, 20);
    case kGang100:
      return gang(number, 100);
    case kGang1000:
      return gang(number, 1000);
    case kGang5000:
      return gang(number, 5000);
    case kDevices:
      return sharesOf(number, nodes);
    case kHugeGang10:
    case kHugeGang100:
      return gang(number, kind == kHugeGang10 ? 10 : 100, "9");
    case kHeldGang10:
      return gang(number, 10, number % 10 == 9 ? "9" : "100m", kNotStrict);
    case kQuotaOpen:
    case kQuotaBlocked:
      return inQuota(leafOf(number, leaves, kind == kQuotaOpen));
  }
  return {};
}

}  // namespace

std::span<const BenchCase> benchCases() {
  return kCases;
}

const BenchCase* findCase(std::string_view name) {
  for (const auto& bench : kCases)
    if (bench.name == name) return &bench;
  return nullptr;
}

std::vector<int> prioritiesOf(const BenchCase& bench) {
  if (bench.measured == kHighPriority) return {kHighPriorityValue};
  if (bench.measured == kDevices) return {8, 4, 2, 1};
  return {};
}

std::string priorityClassJson(int priority) {
  return fmt::format(
      R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"bench-{0}"}},"value":{0}}})",
      priority);
}

std::string nodeJson(const BenchCase& bench, size_t number) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{0}","labels":{{"kubernetes.io/hostname":"node-{0}","topology.kubernetes.io/zone":"zone{1}"}}}},"status":{{"capacity":{2},"allocatable":{2},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      number, 1 + number % static_cast<size_t>(bench.zones),
      hasDevices(bench) ? kDeviceAmounts : kPlainAmounts);
}

std::string deviceJson(size_t number) {
  std::string devices;
  for (int i = 0; i < 8; i++)
    devices += fmt::format(
        R"({0}{{"type":"gpu","id":"GPU-{1}-{2}","minor":{2},"health":true,"resources":{{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory":"80Gi","koordinator.sh/gpu-memory-ratio":"100"}},"topology":{{"socketID":-1,"nodeID":{3},"pcieID":"{4}","busID":"0000:0{2}:00.0"}}}})",
        i ? "," : "", number, i, i / 4, i / 2);
  for (int i = 0; i < 4; i++)
    devices += fmt::format(
        R"(,{{"type":"rdma","id":"NIC-{0}-{1}","minor":{1},"health":true,"resources":{{"koordinator.sh/rdma":"100"}},"topology":{{"socketID":-1,"nodeID":{2},"pcieID":"{1}","busID":"0000:1{1}:00.0"}}}})",
        number, i, i / 2);
  return fmt::format(
      R"({{"apiVersion":"scheduling.koordinator.sh/v1alpha1","kind":"Device","metadata":{{"name":"node-{}"}},"spec":{{"devices":[{}]}}}})",
      number, devices);
}

size_t reservationsOf(const BenchCase& bench, size_t nodes) {
  return bench.nodesPerReservation == 0 ? 0 : nodes / bench.nodesPerReservation * 4 / 5;
}

std::string reservationJson(const BenchCase& bench, size_t number) {
  return fmt::format(
      R"({{"apiVersion":"scheduling.koordinator.sh/v1alpha1","kind":"Reservation","metadata":{{"name":"reservation-{0}"}},"spec":{{"owners":[{{"labelSelector":{{"matchLabels":{{"app":"reserved"}}}}}}],"ttl":"24h","allocateOnce":true,"allocatePolicy":"Aligned","template":{{"spec":{{"schedulerName":"koord-scheduler","containers":[{{"name":"pause","image":"registry.k8s.io/pause:3.10","resources":{{"requests":{{"cpu":"100m","memory":"500Mi"}}}}}}]}}}}}},"status":{{"phase":"Available","nodeName":"node-{1}","allocatable":{{"cpu":"100m","memory":"500Mi"}}}}}})",
      number, number * bench.nodesPerReservation);
}

std::string metricJson(size_t number, std::string_view time) {
  return fmt::format(
      R"({{"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeMetric","metadata":{{"name":"node-{}"}},"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"{}m","memory":"2Gi"}}}}}}}}}})",
      number, time, 200 + number % 300);
}

bool hasQuotas(BenchPod kind) {
  return kind == kQuotaOpen || kind == kQuotaBlocked;
}

size_t quotaCount(size_t leaves) {
  return kTops + leaves / kLeavesOfOne + leaves;
}

std::string quotaObjectName(size_t number, size_t leaves) {
  const size_t middle = leaves / kLeavesOfOne;
  if (number < kTops) return fmt::format("top-{}", number);
  if (number < kTops + middle) return fmt::format("mid-{}", number - kTops);
  return fmt::format("leaf-{}", number - kTops - middle);
}

std::string quotaJson(size_t number, size_t leaves) {
  const size_t middle = leaves / kLeavesOfOne;
  const bool isLeaf = number >= kTops + middle;
  const size_t leaf = isLeaf ? number - kTops - middle : 0;
  std::string parent = "koordinator-root-quota", cpu = "100000";
  if (number >= kTops && !isLeaf) parent = fmt::format("top-{}", (number - kTops) * kTops / middle);
  if (isLeaf) {
    parent = fmt::format("mid-{}", leaf / kLeavesOfOne);
    cpu = isOpen(leaf) ? "200" : "50m";  // a pod asks for 100m
  }
  return fmt::format(
      R"({{"apiVersion":"scheduling.sigs.k8s.io/v1alpha1","kind":"ElasticQuota","metadata":{{"name":"{0}","namespace":"default","labels":{{"quota.scheduling.koordinator.sh/parent":"{1}","quota.scheduling.koordinator.sh/is-parent":"{2}"}}}},"spec":{{"min":{{"cpu":"{3}","memory":"0"}},"max":{{"cpu":"{4}","memory":"1000Ti"}}}}}})",
      quotaObjectName(number, leaves), parent, isLeaf ? "false" : "true", isLeaf ? "10m" : "1",
      cpu);
}

std::string podJson(BenchPod kind, std::string_view name, size_t number, size_t nodes,
                    std::string_view scheduler, std::string_view ns, size_t leaves) {
  const Shape shape = shapeOf(kind, number, nodes, leaves);
  const std::string labels =
      shape.color.empty() ? shape.meta : fmt::format(R"(,"labels":{{"color":"{}"}})", shape.color);
  // What cannot be overcommitted must be limited as well.
  const std::string limits =
      shape.requests.empty() ? "" : fmt::format(R"(,"limits":{{{}}})", shape.requests.substr(1));
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}-{1}","namespace":"{7}"{2}}},"spec":{{{3}"schedulerName":"{6}","containers":[{{"name":"pause","image":"registry.k8s.io/pause:3.10","resources":{{"requests":{{"cpu":"{4}","memory":"{5}"{8}}}{9}}}}}]}}}})",
      name, number, labels, shape.spec, shape.cpu, shape.memory, scheduler, ns, shape.requests,
      limits);
}

}  // namespace mangrove::scheduler
