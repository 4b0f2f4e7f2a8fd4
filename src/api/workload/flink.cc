// FlinkDeployment (flink.apache.org/v1beta1): job managers and task managers.
#include <algorithm>

#include "api/wire/names.h"
#include "api/workload/components.h"
#include "api/workload/memory_text.h"
#include "base/text/strings.h"

namespace mangrove::api {
namespace {

struct FlinkRole {
  std::optional<int64_t> replicas;
  std::optional<double> cpu;
  std::string memory;
  NodeClaim claim;
};
struct FlinkJob {
  FlinkRole manager, worker;
  int64_t parallelism = 1;
  Settings settings;
  NodeClaim claim;  // of podTemplate, the ground of both

  std::string_view setting(const char* key) const {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string_view() : std::string_view(found->second);
  }
};

bool readFlinkResource(const In& in, FlinkRole& out) {
  static constexpr Fields fields{field<&FlinkRole::cpu>("cpu"),
                                 field<&FlinkRole::memory>("memory")};
  return fields.read(in, out);
}
template <class T>
bool readFlinkTemplate(const In& in, T& out) {
  const json::View spec = in.view["spec"];
  return !spec.isObject() || read(in.member("spec", spec), out.claim);
}

}  // namespace

static bool read(const In& in, FlinkRole& out) {
  static constexpr Fields fields{
      field<&FlinkRole::replicas>("replicas"),
      via<readFlinkResource>("resource"),
      via<readFlinkTemplate<FlinkRole>>("podTemplate"),
  };
  return fields.read(in, out);
}

namespace {

bool readFlinkJob(const In& in, FlinkJob& out) {
  static constexpr Fields fields{field<&FlinkJob::parallelism>("parallelism")};
  return fields.read(in, out);
}
bool readFlinkSettings(const In& in, FlinkJob& out) {
  return readSettings(in, out.settings);
}
bool readFlinkSpec(const In& in, FlinkJob& out) {
  static constexpr Fields fields{
      field<&FlinkJob::manager>("jobManager"),         field<&FlinkJob::worker>("taskManager"),
      via<readFlinkSettings>("flinkConfiguration"),    via<readFlinkJob>("job"),
      via<readFlinkTemplate<FlinkJob>>("podTemplate"),
  };
  return fields.read(in, out);
}

}  // namespace

static bool read(const In& in, FlinkJob& out) {
  static constexpr Fields fields{via<readFlinkSpec>("spec")};
  return fields.read(in, out);
}

namespace {

// As many as are said, else as many as the job's parallelism fills.
int64_t flinkWorkersOf(const FlinkJob& deployment) {
  if (deployment.worker.replicas) return std::max<int64_t>(*deployment.worker.replicas, 1);
  const int64_t slots = std::max<int64_t>(
      parseInt<int64_t>(deployment.setting("taskmanager.numberOfTaskSlots")).value_or(1), 1);
  const int64_t parallelism = std::max<int64_t>(deployment.parallelism, 1);
  return parallelism / slots + (parallelism % slots > 0 ? 1 : 0);
}

// A component lays its own claim over that of all pods.
NodeClaim laidOver(NodeClaim ground, const NodeClaim& own) {
  for (const auto& [key, value] : own.nodeSelector) ground.nodeSelector[key] = value;
  if (!own.tolerations.text.empty()) ground.tolerations = own.tolerations;
  if (!own.affinity.text.empty()) ground.affinity = own.affinity;
  if (!own.priorityClassName.empty()) ground.priorityClassName = own.priorityClassName;
  if (!own.schedulerName.empty()) ground.schedulerName = own.schedulerName;
  return ground;
}

struct FlinkRoleFacts {
  std::string_view name;
  const char* sizeKey;
  std::string_view usual;  // what Flink ships
};

Result<Component> flinkComponent(const FlinkJob& deployment, const FlinkRole& role,
                                 const FlinkRoleFacts& facts) {
  std::string_view text = role.memory;
  if (text.empty()) text = deployment.setting(facts.sizeKey);
  const auto memory = parseFlinkMemory(text.empty() ? facts.usual : text);
  if (!memory) return memory.error().in("memory of the {}", facts.name);
  const double cores = role.cpu.value_or(1);
  if (!(cores >= 0) || cores > 1e6)
    return invalid("cpu of the {}: {}, want a number of cores", facts.name, cores);
  Component out{.name = std::string(facts.name)};
  out.requests.set(resource::kCpu, Quantity::ofMilli(static_cast<int64_t>(cores * 1000 + 0.5)));
  out.requests.set(resource::kMemory, Quantity::of(*memory));
  out.limits = out.requests;
  out.claim = laidOver(deployment.claim, role.claim);
  return out;
}

}  // namespace

Result<std::vector<Component>> flinkComponents(json::View object) {
  const auto deployment = decode<FlinkJob>(object);
  if (!deployment) return pass(deployment.error());
  auto manager = flinkComponent(*deployment, deployment->manager,
                                {"jobmanager", "jobmanager.memory.process.size", "1600m"});
  if (!manager) return pass(manager.error());
  auto worker = flinkComponent(*deployment, deployment->worker,
                               {"taskmanager", "taskmanager.memory.process.size", "1728m"});
  if (!worker) return pass(worker.error());
  manager->critical = true;
  const int64_t managers = std::max<int64_t>(deployment->manager.replicas.value_or(1), 1);
  manager->replicas = manager->minReplicas = manager->maxReplicas = managers;
  worker->replicas = worker->minReplicas = worker->maxReplicas = flinkWorkersOf(*deployment);
  if (deployment->setting("scheduler-mode") == "reactive") worker->minReplicas = 1;
  return std::vector{std::move(*manager), std::move(*worker)};
}

}  // namespace mangrove::api
