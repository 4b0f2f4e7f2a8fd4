// Resources of a running pod that change, and signals that are sent to it through the API.
#include <algorithm>
#include <csignal>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "runtime/core/resize.h"
#include "runtime/node/pods/pod_worker.h"
#include "runtime/node/pods/slow.h"

namespace mangrove::runtime {

namespace {

const Logger log("runtime");
constexpr Duration kRetryResize = std::chrono::seconds(5);

// A pod may not have less than its containers, nor they more than it: the pod first where it grows,
// again at the end where it shrinks.
Result<> writeResources(const Cgroups& cgroups, const RunPod& pod,
                        const std::vector<std::pair<std::string, std::string>>& runs) {
  const std::string path = cgroups.podPath(api::kubeQos(pod.pod), pod.uid());
  (void)cgroups.resize(path, podValues(*pod.pod.spec));
  for (const auto& container : containersOf(pod)) {
    for (const auto& [name, id] : runs) {
      if (name != container.name()) continue;
      const CgroupValues values = containerValues(*container.spec);
      const auto used = cgroups.memoryUsage(path + "/" + id);
      if (values.memory && used && *used > *values.memory)
        return fail(Code::kUnavailable,
                    "container {} uses {} bytes of memory, more than the new limit of {}", name,
                    used->v, values.memory->v);
      if (auto ok = cgroups.resize(path + "/" + id, values); !ok) return ok;
    }
  }
  return cgroups.resize(path, podValues(*pod.pod.spec));
}

}  // namespace

bool PodWorker::resizeIfAsked() {
  if (!record_.sandbox || pod_->pod.meta.isDeleting() || !record_.failReason.empty()) return false;
  const Resize next = resizeOf(*pod_, record_, {parts_.node.cpu, parts_.node.memory});
  if (!next.needed()) {
    record_.resizeReason.clear();
    record_.resizeMessage.clear();
    return false;
  }
  if (!next.infeasible.empty()) {
    record_.resizeReason = "Infeasible";
    record_.resizeMessage = next.infeasible;
    return false;
  }
  for (const auto& name : next.restart) {
    parts_.events.normal(ref(), "ResizeRestart",
                         fmt::format("Container {} is restarted for its new resources", name));
    stopContainer(name);
  }
  if (next.apply.empty()) return false;
  std::vector<std::pair<std::string, std::string>> runs;
  for (const auto& name : next.apply) {
    const std::string& id = recordOf(name).id;
    runs.emplace_back(name, id.substr(id.rfind('/') + 1));
  }
  inBackground<Result<>>(
      *this,
      [&cgroups = parts_.cgroups, pod = pod_, runs] { return writeResources(cgroups, *pod, runs); },
      [runs, pod = pod_](PodWorker& self, Result<> done) {
        self.onResized(*pod, runs, std::move(done));
      });
  return true;
}

void PodWorker::onResized(const RunPod& pod,
                          const std::vector<std::pair<std::string, std::string>>& runs,
                          Result<> done) {
  if (!done) {
    record_.resizeReason = "Deferred";
    record_.resizeMessage = done.error().text();
    parts_.events.warning(ref(), "ResizeDeferred", record_.resizeMessage);
    publish();
    return wakeIn(kRetryResize);
  }
  record_.resizeReason.clear();
  record_.resizeMessage.clear();
  for (const auto& container : containersOf(pod))
    for (const auto& [name, id] : runs)
      if (name == container.name()) recordOf(name).grant = grantOf(*container.spec);
  parts_.events.normal(ref(), "ResizeCompleted", "The pod's new resources are in force");
  sync();
}

// "NUMBER.COUNT": a new text is a new signal. Only `mangrove run` writes it, for its own pod.
void PodWorker::signalIfAsked(const RunPod& before, const RunPod& after) {
  constexpr std::string_view kSignal = "mangrove.io/signal";
  const auto old = before.pod.meta.annotations.get(kSignal).value_or("");
  const auto now = after.pod.meta.annotations.get(kSignal).value_or("");
  const auto number = parseInt<int>(cut(now, '.').before);
  if (now == old || !number || *number <= 0 || *number >= NSIG || !link_) return;
  for (const auto& r : record_.containers)
    if (r.running) link_->signal(r.name, *number, graceOf());
  log.debug("pod {}/{}: signal {}", pod_->ns(), pod_->name(), *number);
}

}  // namespace mangrove::runtime
