// What the containers of a pod share: namespaces in a shim, the volumes, the address.
#include <fmt/core.h>

#include "base/os/log.h"
#include "runtime/core/admission.h"
#include "runtime/core/containment.h"
#include "runtime/node/pods/pod_worker.h"
#include "runtime/node/pods/slow.h"

namespace mangrove::runtime {

namespace {

const Logger log("runtime");

}  // namespace

void PodWorker::makeSandbox() {
  const bool bridged = !inRuntime_ || parts_.runtime->ownNetwork;
  const bool own = bridged && !pod_->pod.spec->hostNetwork && parts_.network.available();
  if (own && record_.ip.empty()) {
    auto lease = parts_.network.allocate(pod_->uid());
    if (!lease) return sandboxFailed("FailedCreatePodSandBox", lease.error());
    record_.ip = lease->address;
  }
  inBackground<Result<std::string>>(
      *this,
      [&prep = parts_.prep, pod = pod_, ip = record_.ip,
       inRuntime = inRuntime_]() -> Result<std::string> {
        auto made = prep.makeSandbox(*pod, ip);
        if (!made) return pass(made.error());
        const std::string name(pod->pod.spec->runtimeClassName.view());
        return inRuntime ? prep.runtimeHandler(name) : std::string();
      },
      [](PodWorker& self, Result<std::string> handler) {
        if (!handler) return self.sandboxFailed("FailedMount", handler.error());
        if (self.inRuntime_) return self.runInRuntime(*handler);
        self.startShim();
      });
}

void PodWorker::sandboxFailed(const std::string& reason, const Error& error) {
  parts_.events.warning(ref(), reason, error.text());
  log.warn("pod {}/{}: {}", pod_->ns(), pod_->name(), error.text());
  publish();
  wakeIn(kRetryPrepare);
}

// What a pod sets is its own only where its namespaces are.
std::optional<Error> PodWorker::sysctlTrouble(const ShimStart& start) const {
  if (auto why = sysctlRefusal(*pod_)) return Error(Code::kUnsupported, why->message);
  for (const auto& one : start.sysctls)
    if (!(one.name.starts_with("net.") ? start.ownNetwork : start.ownIpc))
      return Error(Code::kUnsupported,
                   fmt::format("sysctl {} would be the machine's: the pod shares that namespace "
                               "with it",
                               one.name));
  return std::nullopt;
}

void PodWorker::startShim() {
  const Isolation& can = parts_.node.isolation;
  const bool wantsNetwork = !pod_->pod.spec->hostNetwork;
  ShimStart start;
  start.dir = parts_.node.podDir(pod_->uid());
  start.program = parts_.node.program;
  start.hostname = hostnameOf(*pod_);
  start.ownNetwork = wantsNetwork && can.network && parts_.network.available();
  start.ownUser = can.user;
  start.firstUser = firstUserOf(*pod_, can.mapUsers, withoutOf(*pod_, parts_.node.testProtections));
  start.ownIpc = can.ipc && !pod_->pod.spec->hostIpc && wantsNetwork;
  if (wantsNetwork && !start.ownNetwork)
    parts_.events.warning(
        ref(), "NoPodNetwork",
        "this machine permits no network of its own for the pod, so it uses the "
        "machine's: " +
            (parts_.network.trouble().empty() ? std::string("network namespaces are not permitted")
                                              : parts_.network.trouble()));
  if (!can.missing().empty())
    parts_.events.warning(
        ref(), "IsolationMissing",
        fmt::format("this machine does not permit these namespaces: {}", can.missing()));
  start.sysctls = pod_->run.security.sysctls;
  if (auto why = sysctlTrouble(start)) return sandboxFailed("FailedCreatePodSandBox", *why);
  if (!start.ownNetwork) record_.ip = parts_.node.hostIp;
  networkAsked_ = start.ownNetwork;
  auto link = ShimLink::spawn(parts_.loop, parts_.owner, start, hearing());
  if (!link) return sandboxFailed("FailedCreatePodSandBox", link.error());
  shim_ = link->get();
  link_ = std::move(*link);
  busy_ = true;  // until its first state has come
}

// Nothing runs in it yet.
void PodWorker::dropSandbox(const Error& error) {
  busy_ = false;
  if (shim_) (void)shim_->send({{"do", "quit"}});
  shim_ = nullptr;
  link_.reset();
  sandboxFailed("FailedCreatePodSandBox", error);
}

void PodWorker::setUpNetwork() {
  networkAsked_ = false;
  auto lease = parts_.network.allocate(pod_->uid());
  auto joined = lease ? parts_.network.connect(pod_->uid(), shimPid_) : pass(lease.error());
  if (!joined) return dropSandbox(joined.error());
  (void)shim_->send({{"do", "network"},
                     {"address", lease->address},
                     {"mask", lease->mask},
                     {"gateway", lease->gateway}});
}

void PodWorker::openHostPorts() {
  if (pod_->pod.spec->hostNetwork || !parts_.network.available()) return;
  for (const auto& trouble : parts_.ports.open(*pod_, record_.ip))
    parts_.events.warning(ref(), "HostPortConflict", trouble);
}

void PodWorker::sandboxReady() {
  record_.sandbox = true;
  openHostPorts();
  const auto& run = pod_->run;
  if (!run.hostname.empty() && !run.subdomain.empty())
    parts_.names.putHost(pod_->uid(), pod_->ns() + "/" + run.subdomain, run.hostname, record_.ip);
  busy_ = false;
  sync();
}

}  // namespace mangrove::runtime
