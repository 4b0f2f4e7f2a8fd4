#include "agent/nri/plugin.h"

#include <fmt/format.h>

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("nri");

constexpr std::string_view kRuntimeService = "nri.pkg.api.v1alpha1.Runtime";
constexpr std::string_view kPluginService = "nri.pkg.api.v1alpha1.Plugin";
constexpr uint32_t kFirstStream = 1;
constexpr int32_t kInvalidArgument = 3, kUnimplemented = 12;

}  // namespace

std::string NriPlugin::hello() {
  return carry(kRuntimeConnection, ttrpcRequest(kFirstStream, kRuntimeService, "RegisterPlugin",
                                                writeRegister(setup_.name, setup_.index)));
}

Result<std::string> NriPlugin::receive(std::string_view bytes) {
  auto calls = reader_.feed(bytes);
  if (!calls) return pass(calls.error());
  std::string out;
  for (const Call& call : *calls) {
    auto one = answer(call);
    if (!one) return one;
    out += *one;
  }
  return out;
}

Result<std::string> NriPlugin::answer(const Call& call) {
  if (call.kind == Call::Kind::kResponse) {
    if (call.status != 0)
      return fail(Code::kDenied, "the runtime refused the plugin: {} (status {})", call.message,
                  call.status);
    stats_.registered = true;
    return std::string();
  }
  if (call.kind != Call::Kind::kRequest) return std::string();
  ++stats_.requests;
  auto payload = timed(call);
  if (!payload) {
    ++stats_.refused;
    log.warn("{}: {}", call.method, payload.error().text());
    const int32_t status =
        payload.error().code() == Code::kUnsupported ? kUnimplemented : kInvalidArgument;
    return carry(call.connection, ttrpcRefusal(call.stream, status, payload.error().text()));
  }
  return carry(call.connection, ttrpcResponse(call.stream, *payload));
}

Result<std::string> NriPlugin::timed(const Call& call) {
  const char* stage = call.method == "CreateContainer"   ? "PreCreateContainer"
                      : call.method == "UpdateContainer" ? "PreUpdateContainerResources"
                                                         : nullptr;
  if (stage == nullptr || !setup_.invoked || setup_.clock == nullptr) return dispatch(call);
  const MonoTime begun = setup_.clock->mono();
  auto payload = dispatch(call);
  setup_.invoked(stage, payload.has_value(), setup_.clock->mono() - begun);
  return payload;
}

Result<std::string> NriPlugin::dispatch(const Call& call) {
  if (call.service != kPluginService)
    return fail(Code::kUnsupported, "service '{}': want {}", call.service, kPluginService);
  if (call.method == "Configure") return configure(call);
  if (call.method == "Synchronize") return synchronize(call);
  if (call.method == "CreateContainer") return create(call);
  if (call.method == "UpdateContainer") return update(call);
  if (call.method == "StateChange") return stateChange(call);
  if (call.method == "RunPodSandbox") return runPod(call);
  if (call.method == "StartContainer") return startContainer(call);
  // Events of runtimes that know them as calls; none of them needs an answer.
  for (std::string_view known :
       {"Shutdown", "StopContainer", "UpdatePodSandbox", "RemovePodSandbox", "StopPodSandbox"})
    if (call.method == known) return std::string();
  return fail(Code::kUnsupported, "method '{}' is not known", call.method);
}

Result<std::string> NriPlugin::configure(const Call& call) {
  auto request = readConfigure(call.payload);
  if (!request) return pass(request.error());
  stats_.runtime = fmt::format("{} {}", request->runtime, request->version);
  log.info("registered with {}", stats_.runtime);
  return writeConfigured(eventMask({nri_event::kRunPodSandbox, nri_event::kRemovePodSandbox,
                                    nri_event::kCreateContainer, nri_event::kStartContainer,
                                    nri_event::kUpdateContainer}));
}

NriAdjustment NriPlugin::adjust(const NriPod& pod, const NriContainer& container) {
  const auto rules = setup_.rules ? setup_.rules() : nullptr;
  NriAdjustment out = rules ? adjustmentFor(*rules, pod, container) : NriAdjustment();
  if (out != NriAdjustment()) ++stats_.adjusted;
  return out;
}

// Its quota may be what we made of it, so it is no beginning; a class of resctrl is for the beginning.
NriResources NriPlugin::adjustRunning(const NriPod& pod, NriContainer container) {
  container.quota.reset();
  NriResources out = adjust(pod, container).resources;
  out.rdtClass.clear();
  return out;
}

// Containers that were there before us get what they would have got.
Result<std::string> NriPlugin::synchronize(const Call& call) {
  auto request = readSynchronize(call.payload);
  if (!request) return pass(request.error());
  for (NriPod& pod : request->pods) pods_.push_back(std::move(pod));
  std::vector<std::pair<std::string, NriResources>> updates;
  for (const NriContainer& container : request->containers)
    for (const NriPod& pod : pods_) {
      if (pod.id != container.podId) continue;
      NriResources resources = adjustRunning(pod, container);
      if (!resources.empty()) updates.emplace_back(container.id, std::move(resources));
    }
  if (!request->more) pods_.clear();
  return writeSynchronized(updates, request->more);
}

Result<std::string> NriPlugin::create(const Call& call) {
  auto request = readCreate(call.payload);
  if (!request) return pass(request.error());
  NriAdjustment wanted = adjust(request->pod, request->container);
  if (const std::string trouble = makeSources(wanted); !trouble.empty())
    log.warn("{}/{} starts without its folder: {}", request->pod.ns, request->pod.name, trouble);
  return writeCreated(wanted);
}

Result<std::string> NriPlugin::update(const Call& call) {
  auto request = readCreate(call.payload);
  if (!request) return pass(request.error());
  return writeUpdated(request->container.id, adjustRunning(request->pod, request->container));
}

// As a call of its own the pod is its first field, as it is a container's.
Result<std::string> NriPlugin::runPod(const Call& call) {
  auto request = readCreate(call.payload);
  if (!request) return pass(request.error());
  if (setup_.onPod) setup_.onPod(request->pod);
  return std::string();
}

Result<std::string> NriPlugin::startContainer(const Call& call) {
  auto request = readCreate(call.payload);
  if (!request) return pass(request.error());
  if (setup_.onContainer) setup_.onContainer(request->pod, request->container);
  return std::string();
}

Result<std::string> NriPlugin::stateChange(const Call& call) {
  auto request = readStateChange(call.payload);
  if (!request) return pass(request.error());
  if (request->event == nri_event::kRunPodSandbox && setup_.onPod) setup_.onPod(request->pod);
  if (request->event == nri_event::kStartContainer && setup_.onContainer)
    setup_.onContainer(request->pod, request->container);
  return std::string();
}

}  // namespace mangrove::agent
