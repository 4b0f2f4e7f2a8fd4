#include "runtime/node/runtime_stay.h"

#include <filesystem>
#include <set>
#include <thread>

#include <fmt/core.h>

#include "base/os/log.h"
#include "base/text/strings.h"
#include "json/value.h"

namespace mangrove::runtime {

namespace {

const Logger logger("runtime");
constexpr const char* kUsualSockets[] = {"/run/containerd/containerd.sock",
                                         "/var/run/crio/crio.sock"};
constexpr Duration kAnswer = std::chrono::seconds(10);
constexpr int kLooks = 100;  // for the network that we brought, every 100 ms

// Where a member is found below others; null when a step is missing.
const json::Value* inside(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* at = &value;
  for (auto step : path) {
    if (!at || !at->is_object()) return nullptr;
    at = at->get_object().if_contains(step);
  }
  return at;
}

Result<FoundRuntime> tryRuntime(const std::string& socket) {
  auto greeting = cri::greet(socket, kAnswer);
  if (!greeting) return pass(greeting.error());
  if (auto why = runtimeTrouble(greeting->status); !why.empty())
    return fail(Code::kUnsupported, "container runtime at {}: {}", socket, why);
  return FoundRuntime{socket, std::move(*greeting)};
}

}  // namespace

std::string FoundRuntime::versionText() const {
  std::string version = greeting.version.runtimeVersion;
  if (version.starts_with('v')) version.erase(0, 1);
  return greeting.version.runtime + "://" + version;
}

std::string runtimeTrouble(const cri::RuntimeStatus& status) {
  if (!status.ready) return "it is not ready: " + status.trouble;
  const auto config = status.info.find("config");
  if (config == status.info.end()) return "";
  const auto parsed = json::parse(config->second);
  if (!parsed) return "";
  const json::Value* name = inside(*parsed, {"containerd", "defaultRuntimeName"});
  const std::string used = name && name->is_string() ? std::string(name->get_string()) : "runc";
  const json::Value* systemd =
      inside(*parsed, {"containerd", "runtimes", used, "options", "SystemdCgroup"});
  if (systemd && systemd->is_bool() && systemd->get_bool())
    return "it makes cgroups through systemd; pods of mangrove up need SystemdCgroup = false in "
           "the "
           "options of runtime " +
           used;
  return "";
}

Result<std::optional<FoundRuntime>> findRuntime(const std::string& endpoint) {
  if (endpoint == kNoRuntime) return std::nullopt;
  std::error_code error;
  if (!endpoint.empty()) {
    std::string_view path = endpoint;
    if (path.starts_with("unix://")) path.remove_prefix(7);
    if (!path.starts_with('/'))
      return invalid("--container-runtime-endpoint '{}': want a path, unix:///PATH or none",
                     endpoint);
    auto found = tryRuntime(std::string(path));
    if (!found) return found.error().in("--container-runtime-endpoint");
    return std::optional(std::move(*found));
  }
  for (const char* socket : kUsualSockets) {
    if (!std::filesystem::exists(socket, error)) continue;
    auto found = tryRuntime(socket);
    if (found) return std::optional(std::move(*found));
    logger.warn("pods are processes of this machine: {}", found.error().text());
  }
  return std::nullopt;
}

RuntimeStay::RuntimeStay(const FoundRuntime& found, const Places& places,
                         const std::string& dataDir)
    : runtime_(places.loop, places.clock, places.owner, found.socket),
      images_(runtime_, places.clock, places.owner),
      house_{{runtime_, places.owner, places.clock, places.loop, places.io},
             images_,
             found.greeting.version.runtime,
             dataDir,
             false} {}

Result<std::unique_ptr<RuntimeStay>> RuntimeStay::make(const FoundRuntime& found,
                                                       const Places& places,
                                                       const CniOptions& network,
                                                       const std::string& dataDir,
                                                       const std::string& program) {
  std::unique_ptr<RuntimeStay> stay(new RuntimeStay(found, places, dataDir));
  if (auto ok = stay->bringNetwork(found, network, program); !ok) return pass(ok.error());
  logger.info("pods are run by {} at {}, {}", found.versionText(), found.socket,
              stay->house_.ownNetwork ? "on our bridge" : "on its own network");
  return stay;
}

Result<> RuntimeStay::bringNetwork(const FoundRuntime& found, const CniOptions& network,
                                   const std::string& program) {
  const CniFolders folders = cniFoldersIn(found.greeting.status.info);
  if (!network.bridge.empty()) {
    auto ours = installCni(folders, network, program);
    if (!ours) return ours.error().in("network of the container runtime");
    house_.ownNetwork = *ours;
    if (*ours) folders_ = folders;
  }
  std::string trouble = found.greeting.status.trouble;
  for (int i = 0; i < kLooks; ++i) {
    auto again = cri::greet(found.socket, kAnswer);
    if (again && again->status.networkReady) return {};
    trouble = again ? again->status.trouble : again.error().text();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(Code::kUnavailable, "the container runtime at {} has no network: {}", found.socket,
              trouble);
}

void RuntimeStay::begin(std::function<bool(const std::string& uid)> isKnown) {
  runtime_.sandboxes({{cri::kRunner, house_.runner}}, [this, isKnown = std::move(isKnown)](
                                                          Result<std::vector<cri::Sandbox>> all) {
    if (!all) return logger.warn("sandboxes: {}", all.error().text());
    std::set<std::string> strays;
    for (const auto& one : *all)
      if (!isKnown(one.uid)) strays.insert(one.uid);
    for (const auto& uid : strays) {
      logger.info("removing what is left of pod {}", uid);
      cri::removeSandboxes(runtime_, {{cri::kPodUid, uid}, {cri::kRunner, house_.runner}}, [] {});
    }
  });
  images_.collectGarbage();
}

void RuntimeStay::moveOut() {
  if (folders_) removeCni(*folders_);
  folders_.reset();
}

}  // namespace mangrove::runtime
