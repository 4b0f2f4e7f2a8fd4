// SparkApplication (sparkoperator.k8s.io/v1beta2): the sizes that Spark gives its pods.
#include <algorithm>
#include <cmath>

#include "api/wire/names.h"
#include "api/workload/components.h"
#include "api/workload/memory_text.h"
#include "base/text/strings.h"

namespace mangrove::api {
namespace {

constexpr int64_t kLeastOverhead = 384;  // MiB
constexpr double kFactorOfJvm = 0.1;
constexpr double kFactorOfOthers = 0.4;  // Python and R run beside the JVM
constexpr std::string_view kDefaultMemory = "1g";

struct SparkGpu {
  std::string name;
  int64_t quantity = 0;
};
struct SparkPart {
  int32_t cores = 1;
  std::string coreRequest, coreLimit, memory, memoryLimit, memoryOverhead;
  std::optional<SparkGpu> gpu;
  std::optional<int32_t> instances;
  NodeClaim claim;
};
struct SparkDynamic {
  bool enabled = false;
  std::optional<int32_t> initial, least, most;
};
struct SparkJob {
  std::string type;
  std::string overheadFactor;
  Settings conf;
  std::map<std::string, std::string> nodeSelector;
  SparkDynamic dynamic;
  SparkPart driver, executor;

  bool isPython() const { return type == "Python"; }
  std::string_view setting(const char* key) const {
    const auto found = conf.find(key);
    return found == conf.end() ? std::string_view() : std::string_view(found->second);
  }
};

}  // namespace

static bool read(const In& in, SparkGpu& out) {
  static constexpr Fields fields{field<&SparkGpu::name>("name"),
                                 field<&SparkGpu::quantity>("quantity")};
  return fields.read(in, out);
}
static bool read(const In& in, SparkPart& out) {
  static constexpr Fields fields{
      field<&SparkPart::cores>("cores"),
      field<&SparkPart::coreRequest>("coreRequest"),
      field<&SparkPart::coreLimit>("coreLimit"),
      field<&SparkPart::memory>("memory"),
      field<&SparkPart::memoryLimit>("memoryLimit"),
      field<&SparkPart::memoryOverhead>("memoryOverhead"),
      field<&SparkPart::gpu>("gpu"),
      field<&SparkPart::instances>("instances"),
  };
  return fields.read(in, out) && read(in, out.claim);
}
static bool read(const In& in, SparkDynamic& out) {
  static constexpr Fields fields{
      field<&SparkDynamic::enabled>("enabled"),
      field<&SparkDynamic::initial>("initialExecutors"),
      field<&SparkDynamic::least>("minExecutors"),
      field<&SparkDynamic::most>("maxExecutors"),
  };
  return fields.read(in, out);
}
static bool readSparkConf(const In& in, SparkJob& out) {
  return readSettings(in, out.conf);
}
static bool readSparkSpec(const In& in, SparkJob& out) {
  static constexpr Fields fields{
      field<&SparkJob::type>("type"),
      field<&SparkJob::overheadFactor>("memoryOverheadFactor"),
      via<readSparkConf>("sparkConf"),
      field<&SparkJob::nodeSelector>("nodeSelector"),
      field<&SparkJob::dynamic>("dynamicAllocation"),
      field<&SparkJob::driver>("driver"),
      field<&SparkJob::executor>("executor"),
  };
  return fields.read(in, out);
}
static bool read(const In& in, SparkJob& out) {
  static constexpr Fields fields{via<readSparkSpec>("spec")};
  return fields.read(in, out);
}

namespace {

int64_t wholeMib(Bytes bytes) {
  return bytes.v / kMiB.v;
}

Result<double> overheadFactorOf(const SparkJob& application) {
  if (application.overheadFactor.empty())
    return application.isPython() || application.type == "R" ? kFactorOfOthers : kFactorOfJvm;
  const char* text = application.overheadFactor.c_str();
  char* end = nullptr;
  const double factor = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(factor >= 0) || !(factor <= 100))
    return invalid("spec.memoryOverheadFactor: '{}', want a number from 0 to 100",
                   application.overheadFactor);
  return factor;
}

// In MiB, cut as Spark cuts it.
Result<int64_t> overheadOf(const SparkJob& application, const SparkPart& part, int64_t memory) {
  if (!part.memoryOverhead.empty()) {
    const auto said = parseJavaMemory(part.memoryOverhead, kMiB.v);
    if (!said) return said.error().in("memoryOverhead");
    return wholeMib(*said);
  }
  const auto factor = overheadFactorOf(application);
  if (!factor) return pass(factor.error());
  return std::max(kLeastOverhead, static_cast<int64_t>(static_cast<double>(memory) * *factor));
}

// What executors have besides heap and overhead: Python's workers and memory outside of the heap.
Result<int64_t> besides(const SparkJob& application) {
  int64_t sum = 0;
  const std::string_view python = application.setting("spark.executor.pyspark.memory");
  if (application.isPython() && !python.empty()) {
    const auto said = parseJavaMemory(python, kMiB.v);
    if (!said) return said.error().in("sparkConf spark.executor.pyspark.memory");
    sum += wholeMib(*said);
  }
  if (lower(application.setting("spark.memory.offHeap.enabled")) == "true") {
    const auto said = parseJavaMemory(application.setting("spark.memory.offHeap.size"), 1);
    if (!said) return said.error().in("sparkConf spark.memory.offHeap.size");
    sum += wholeMib(*said);
  }
  return sum;
}

Result<> setSparkCpu(const SparkPart& part, Component& out) {
  auto cores = part.coreRequest.empty() ? Result<Quantity>(Quantity::of(part.cores))
                                        : Quantity::parse(part.coreRequest);
  if (!cores) return cores.error().in("coreRequest");
  out.requests.set(resource::kCpu, *cores);
  if (part.coreLimit.empty()) return {};
  auto limit = Quantity::parse(part.coreLimit);
  if (!limit) return limit.error().in("coreLimit");
  out.limits.set(resource::kCpu, *limit);
  return {};
}

Result<> setSparkMemory(const SparkJob& application, const SparkPart& part, int64_t more,
                        Component& out) {
  const auto heap = parseJavaMemory(part.memory.empty() ? kDefaultMemory : part.memory, kMiB.v);
  if (!heap) return heap.error().in("memory");
  const auto overhead = overheadOf(application, part, wholeMib(*heap));
  if (!overhead) return pass(overhead.error());
  const Bytes request{(wholeMib(*heap) + *overhead + more) * kMiB.v};
  const auto limit =
      part.memoryLimit.empty() ? Result<Bytes>(request) : parseJavaMemory(part.memoryLimit, kMiB.v);
  if (!limit) return limit.error().in("memoryLimit");
  out.requests.set(resource::kMemory, Quantity::of(request));
  out.limits.set(resource::kMemory, Quantity::of(*limit));
  return {};
}

Result<Component> sparkComponent(const SparkJob& application, const SparkPart& part,
                                 std::string_view name, int64_t moreMemory) {
  Component out{.name = std::string(name)};
  if (auto ok = setSparkCpu(part, out); !ok) return ok.error().in("spec.{}", name);
  if (auto ok = setSparkMemory(application, part, moreMemory, out); !ok)
    return ok.error().in("spec.{}", name);
  if (part.gpu && !part.gpu->name.empty())
    for (ResourceList* list : {&out.requests, &out.limits})
      list->set(part.gpu->name, Quantity::of(part.gpu->quantity));
  out.claim = part.claim;
  if (out.claim.nodeSelector.empty()) out.claim.nodeSelector = application.nodeSelector;
  return out;
}

void countExecutors(const SparkJob& application, Component& out) {
  const int64_t fixed = std::max(application.executor.instances.value_or(1), 1);
  out.replicas = out.minReplicas = out.maxReplicas = fixed;
  const SparkDynamic& dynamic = application.dynamic;
  if (!dynamic.enabled) return;
  out.minReplicas = std::max(dynamic.least.value_or(1), 1);
  out.replicas = std::max<int64_t>(dynamic.initial.value_or(1), out.minReplicas);
  out.maxReplicas = std::max<int64_t>(dynamic.most.value_or(1), out.replicas);
}

}  // namespace

Result<std::vector<Component>> sparkComponents(json::View object) {
  const auto application = decode<SparkJob>(object);
  if (!application) return pass(application.error());
  const auto more = besides(*application);
  if (!more) return pass(more.error());
  auto driver = sparkComponent(*application, application->driver, "driver", 0);
  if (!driver) return pass(driver.error());
  driver->critical = true;
  auto executor = sparkComponent(*application, application->executor, "executor", *more);
  if (!executor) return pass(executor.error());
  countExecutors(*application, *executor);
  return std::vector{std::move(*driver), std::move(*executor)};
}

}  // namespace mangrove::api
