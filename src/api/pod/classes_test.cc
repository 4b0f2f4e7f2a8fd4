// Every rule of QoS and priority classes, as tables.
#include "api/pod/classes.h"

#include <gtest/gtest.h>

#include "api/wire/names.h"

namespace mangrove::api {
namespace {

Pod podOf(const std::string& json) {
  auto pod = decodeText<Pod>(json);
  EXPECT_TRUE(pod) << pod.error().text();
  return pod ? *std::move(pod) : Pod();
}

Pod labelled(std::string_view key, std::string_view value) {
  Pod pod;
  pod.meta.labels.set(key, value);
  return pod;
}

// ---- 3.1 QoS ----

TEST(Qos, OnlyTheFiveNamesCount) {
  struct Row {
    const char* label;
    Qos qos;
  };
  const Row table[] = {{"LSE", Qos::kLse}, {"LSR", Qos::kLsr},         {"LS", Qos::kLs},
                       {"BE", Qos::kBe},   {"SYSTEM", Qos::kSystem},   {"", Qos::kNone},
                       {"be", Qos::kNone}, {"Guaranteed", Qos::kNone}, {" LS", Qos::kNone}};
  for (const Row& row : table) {
    EXPECT_EQ(rawQos(labelled(label::kQosClass, row.label).meta.labels), row.qos) << row.label;
    EXPECT_EQ(qosName(row.qos), row.qos == Qos::kNone ? "" : row.label);
  }
  EXPECT_EQ(rawQos({}), Qos::kNone);
  EXPECT_EQ(qosName(Qos::kNone), "");
}

TEST(Qos, DefaultComesFromKubernetes) {
  struct Row {
    const char* label;  // nullptr: none
    const char* kube;
    Qos qos;
  };
  const Row table[] = {{nullptr, "Guaranteed", Qos::kLsr},    {nullptr, "Burstable", Qos::kLs},
                       {nullptr, "BestEffort", Qos::kBe},     {"LSE", "BestEffort", Qos::kLse},
                       {"SYSTEM", "Burstable", Qos::kSystem}, {"BE", "Guaranteed", Qos::kBe},
                       {"nonsense", "Guaranteed", Qos::kLsr}, {"", "BestEffort", Qos::kBe}};
  for (const Row& row : table) {
    Pod pod = podOf(R"({"status":{"qosClass":")" + std::string(row.kube) + R"("}})");
    if (row.label) pod.meta.labels.set(label::kQosClass, row.label);
    EXPECT_EQ(qosWithDefault(pod), row.qos) << row.kube;
  }
}

TEST(KubeQos, IsComputedFromCpuAndMemoryOfAllContainers) {
  struct Row {
    const char* spec;
    KubeQos qos;
  };
  const std::string full =
      R"({"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}})";
  const std::string guaranteed = R"({"containers":[)" + full + "]}";
  const std::string withInit =
      R"({"containers":[)" + full + R"(],"initContainers":[)" + full + "]}";
  const std::string loneInit = R"({"containers":[)" + full + R"(],"initContainers":[{}]})";
  const std::string initOnly = R"({"containers":[{}],"initContainers":[)" + full + "]}";
  const std::string podLevel =
      R"({"containers":[{}],"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}})";
  const Row table[] = {
      {"{}", KubeQos::kBestEffort},
      {R"({"containers":[{"name":"a"}]})", KubeQos::kBestEffort},
      {R"({"containers":[{"resources":{"requests":{"cpu":"0","memory":"0"}}}]})",
       KubeQos::kBestEffort},
      {R"({"containers":[{"resources":{"requests":{"kubernetes.io/batch-cpu":"500"}}}]})",
       KubeQos::kBestEffort},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})", KubeQos::kBurstable},
      {R"({"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})",
       KubeQos::kBurstable},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}}}]})",
       KubeQos::kBurstable},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1000m","memory":"1024Mi"},"limits":{"cpu":"1","memory":"1Gi"}}}]})",
       KubeQos::kGuaranteed},
      {guaranteed.c_str(), KubeQos::kGuaranteed},
      {withInit.c_str(), KubeQos::kGuaranteed},
      {loneInit.c_str(), KubeQos::kBurstable},
      {initOnly.c_str(), KubeQos::kBurstable},
      {podLevel.c_str(), KubeQos::kGuaranteed},
  };
  for (const Row& row : table) {
    const Pod pod = podOf(R"({"spec":)" + std::string(row.spec) + "}");
    EXPECT_EQ(kubeQos(pod), row.qos) << row.spec;
  }
  EXPECT_EQ(kubeQos(podOf(R"({"status":{"qosClass":"Guaranteed"}})")), KubeQos::kGuaranteed);
}

// ---- 3.2 priority ----

TEST(PriorityBand, RangesIncludeBothEnds) {
  struct Row {
    int32_t value;
    PriorityBand band;
  };
  using B = PriorityBand;
  const Row table[] = {
      {9000, B::kProd},  {9999, B::kProd},  {10000, B::kNone},     {8999, B::kNone},
      {7000, B::kMid},   {7999, B::kMid},   {8000, B::kNone},      {6999, B::kNone},
      {5000, B::kBatch}, {5999, B::kBatch}, {6000, B::kNone},      {4999, B::kNone},
      {3000, B::kFree},  {3999, B::kFree},  {4000, B::kNone},      {2999, B::kNone},
      {0, B::kNone},     {-1, B::kNone},    {2000000000, B::kNone}};
  for (const Row& row : table) EXPECT_EQ(bandOf(row.value), row.band) << row.value;
  struct Defaults {
    PriorityBand band;
    const char* name;
    int32_t value, shipped;
  };
  const Defaults defaults[] = {{B::kProd, "koord-prod", 9500, 9000},
                               {B::kMid, "koord-mid", 7500, 7000},
                               {B::kBatch, "koord-batch", 5500, 5000},
                               {B::kFree, "koord-free", 3500, 3000},
                               {B::kNone, "", 0, 0}};
  for (const Defaults& row : defaults) {
    EXPECT_EQ(rangeOf(row.band).defaultValue, row.value);
    EXPECT_EQ(rangeOf(row.band).shipped, row.shipped);
    EXPECT_EQ(bandName(row.band), row.name);
    EXPECT_EQ(parseBand(row.name), row.band);
  }
}

struct BandCase {
  const char* label;  // nullptr: none
  const char* priority;
  const char* qosLabel;
  PriorityBand raw, withDefault;
  int32_t value;
};

TEST(PriorityBand, LabelThenRangeThenQos) {
  using B = PriorityBand;
  const BandCase table[] = {
      {nullptr, "9500", "BE", B::kProd, B::kProd, 9500},
      {nullptr, "7000", "", B::kMid, B::kMid, 7000},
      {"koord-batch", "9500", "LS", B::kBatch, B::kBatch, 9500},
      {"koord-mid", "null", "LS", B::kMid, B::kMid, 7500},
      {"koord-free", "0", "LS", B::kFree, B::kFree, 3500},
      // A label that is nonsense never falls back to the number.
      {"koord-none", "9500", "BE", B::kNone, B::kBatch, 9500},
      {"", "7500", "LS", B::kNone, B::kProd, 7500},
      {nullptr, "null", "LSE", B::kNone, B::kProd, 9500},
      {nullptr, "null", "LSR", B::kNone, B::kProd, 9500},
      {nullptr, "null", "LS", B::kNone, B::kProd, 9500},
      {nullptr, "null", "SYSTEM", B::kNone, B::kProd, 9500},
      {nullptr, "null", "BE", B::kNone, B::kBatch, 5500},
      {nullptr, "null", "", B::kNone, B::kBatch, 5500},  // no containers: BestEffort
      {nullptr, "100", "BE", B::kNone, B::kBatch, 100},
      {nullptr, "0", "BE", B::kNone, B::kBatch, 5500},
  };
  for (const BandCase& row : table) {
    Pod pod = podOf(R"({"spec":{"priority":)" + std::string(row.priority) + "}}");
    if (row.label) pod.meta.labels.set(label::kPriorityClass, row.label);
    if (*row.qosLabel) pod.meta.labels.set(label::kQosClass, row.qosLabel);
    EXPECT_EQ(rawBand(pod), row.raw) << row.priority;
    EXPECT_EQ(bandWithDefault(pod), row.withDefault) << row.priority;
    EXPECT_EQ(priorityWithDefault(pod), row.value) << row.priority;
  }
}

struct SubCase {
  const char* label;
  int64_t value;  // kRefused: an error
};
constexpr int64_t kRefused = INT64_MIN;

TEST(SubPriority, ReadsGoNotation) {
  const SubCase table[] = {{"", 0},
                           {"0", 0},
                           {"100", 100},
                           {"-5", -5},
                           {"+5", 5},
                           {"0x10", 16},
                           {"0X1f", 31},
                           {"010", 8},
                           {"0o17", 15},
                           {"0b101", 5},
                           {"1_000", 1000},
                           {"0_7", 7},
                           {"0x_1", 1},
                           {"-0x10", -16},
                           {"2147483647", 2147483647},
                           {"-2147483648", -2147483648LL},
                           {"2147483648", kRefused},
                           {"99999999999", kRefused},
                           {"abc", kRefused},
                           {"1.5", kRefused},
                           {" 1", kRefused},
                           {"08", kRefused},
                           {"0x", kRefused},
                           {"1__0", kRefused},
                           {"_1", kRefused},
                           {"1_", kRefused},
                           {"+-1", kRefused},
                           {"-", kRefused}};
  for (const SubCase& row : table) {
    auto value = subPriority(labelled(label::kPriority, row.label).meta.labels);
    EXPECT_EQ(value ? *value : kRefused, row.value) << row.label;
  }
  EXPECT_EQ(*subPriority({}), 0);
  EXPECT_EQ(subPriority(Labels{{label::kPriority, "x"}}).error().text(),
            "label koordinator.sh/priority='x' must be an integer of 32 bits");
}

// ---- 3.3 the matrix ----

TEST(Matrix, OnlyLsrAndBeAreRestricted) {
  using B = PriorityBand;
  struct Row {
    Qos qos;
    bool prod, mid, batch, free, none;
  };
  const Row table[] = {
      {Qos::kLse, true, true, true, true, true},    {Qos::kLsr, true, false, false, false, false},
      {Qos::kLs, true, true, true, true, true},     {Qos::kBe, false, true, true, true, false},
      {Qos::kSystem, true, true, true, true, true}, {Qos::kNone, true, true, true, true, true}};
  for (const Row& row : table) {
    EXPECT_EQ(isAllowed(row.qos, B::kProd), row.prod) << qosName(row.qos);
    EXPECT_EQ(isAllowed(row.qos, B::kMid), row.mid) << qosName(row.qos);
    EXPECT_EQ(isAllowed(row.qos, B::kBatch), row.batch) << qosName(row.qos);
    EXPECT_EQ(isAllowed(row.qos, B::kFree), row.free) << qosName(row.qos);
    EXPECT_EQ(isAllowed(row.qos, B::kNone), row.none) << qosName(row.qos);
  }
}

// ---- 3.4 and 4.1 resource names ----

TEST(Translation, ByBand) {
  using B = PriorityBand;
  struct Row {
    B band;
    const char *cpu, *memory;
  };
  const Row table[] = {{B::kProd, "cpu", "memory"},
                       {B::kNone, "cpu", "memory"},
                       {B::kBatch, "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"},
                       {B::kMid, "kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"},
                       {B::kFree, "", ""}};
  for (const Row& row : table) {
    EXPECT_EQ(translated("cpu", row.band), row.cpu);
    EXPECT_EQ(translated("memory", row.band), row.memory);
    EXPECT_EQ(translated("pods", row.band), "pods");
  }
}

TEST(Translation, DeprecatedNames) {
  const std::pair<const char*, const char*> table[] = {
      {"koordinator.sh/batch-cpu", "kubernetes.io/batch-cpu"},
      {"koordinator.sh/batch-memory", "kubernetes.io/batch-memory"},
      {"kubernetes.io/rdma", "koordinator.sh/rdma"},
      {"kubernetes.io/fpga", "koordinator.sh/fpga"},
      {"kubernetes.io/gpu", "koordinator.sh/gpu"},
      {"kubernetes.io/gpu-core", "koordinator.sh/gpu-core"},
      {"kubernetes.io/gpu-memory", "koordinator.sh/gpu-memory"},
      {"kubernetes.io/gpu-memory-ratio", "koordinator.sh/gpu-memory-ratio"},
      {"cpu", ""},
      {"koordinator.sh/gpu", ""}};
  for (auto [old, current] : table) EXPECT_EQ(currentResource(old), current) << old;
}

}  // namespace
}  // namespace mangrove::api
