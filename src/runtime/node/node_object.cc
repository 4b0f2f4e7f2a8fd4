#include "runtime/node/node_object.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::runtime {

namespace {

constexpr int64_t kLeaseSeconds = 40;  // as a kubelet's

std::string readText(const kernel::SysRoot& root, const std::string& path) {
  std::string buffer(64 * 1024, '\0');
  auto n = root.read(path, buffer);
  if (!n || !*n) return "";
  buffer.resize(**n);
  return std::string(trim(buffer));
}

Bytes memoryOf(const std::string& meminfo) {
  for (auto line : split(meminfo, '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    const auto words = splitTrimmed(line.substr(9), ' ');
    return words.empty() ? Bytes{0} : Bytes{parseInt<int64_t>(words[0]).value_or(0) * 1024};
  }
  return Bytes{0};
}

std::string osImage(const std::string& release) {
  for (auto line : split(release, '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string name(line.substr(12));
    std::erase(name, '"');
    return name;
  }
  return "Linux";
}

std::string goArch(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return std::string(machine);
}

json::Object condition(const char* type, bool holds, const char* reason, const char* message,
                       WallTime now, WallTime since) {
  return {{"type", type},
          {"status", holds ? "True" : "False"},
          {"reason", reason},
          {"message", message},
          {"lastHeartbeatTime", formatTime(now)},
          {"lastTransitionTime", formatTime(since)}};
}

json::Object amounts(const MachineFacts& facts, Bytes memory) {
  return {{"cpu", fmt::format("{}", facts.cpu.v / 1000)},
          {"memory", fmt::format("{}Ki", memory.v / 1024)},
          {"ephemeral-storage", fmt::format("{}Ki", facts.disk.v / 1024)},
          {"hugepages-1Gi", "0"},
          {"hugepages-2Mi", "0"},
          {"pods", std::to_string(facts.pods)}};
}

}  // namespace

std::string machineAddress() {
  ifaddrs* all = nullptr;
  std::string found = "127.0.0.1";
  if (::getifaddrs(&all) != 0) return found;
  for (ifaddrs* one = all; one; one = one->ifa_next) {
    const bool fits = one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
                      (one->ifa_flags & IFF_UP) && !(one->ifa_flags & IFF_LOOPBACK);
    if (!fits || std::string_view(one->ifa_name).starts_with("mangrove")) continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<sockaddr_in*>(one->ifa_addr);
    found = ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    break;
  }
  ::freeifaddrs(all);
  return found;
}

Result<MachineFacts> readMachine(const kernel::SysRoot& root, const std::string& dataDir,
                                 std::string nodeName, std::string version) {
  MachineFacts facts;
  utsname name{};
  ::uname(&name);
  facts.hostname = name.nodename;
  facts.nodeName = nodeName.empty() ? lower(facts.hostname) : std::move(nodeName);
  facts.address = machineAddress();
  facts.cpu = MilliCpu{::sysconf(_SC_NPROCESSORS_ONLN) * 1000};
  facts.memory = memoryOf(readText(root, "proc/meminfo"));
  if (facts.memory.v == 0) return invalid("proc/meminfo has no MemTotal");
  struct statvfs disk {};
  if (::statvfs(dataDir.c_str(), &disk) == 0)
    facts.disk = Bytes{static_cast<int64_t>(disk.f_blocks) * static_cast<int64_t>(disk.f_frsize)};
  facts.maxPids = parseInt<int64_t>(readText(root, "proc/sys/kernel/pid_max")).value_or(32'768);
  facts.kernelVersion = name.release;
  facts.osImage = osImage(readText(root, "etc/os-release"));
  facts.machineId = readText(root, "etc/machine-id");
  facts.bootId = readText(root, "proc/sys/kernel/random/boot_id");
  facts.architecture = goArch(name.machine);
  facts.version = std::move(version);
  return facts;
}

json::Object nodeObject(const MachineFacts& facts) {
  json::Object labels{{"kubernetes.io/hostname", facts.nodeName},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", facts.architecture},
                      {"beta.kubernetes.io/os", "linux"},
                      {"beta.kubernetes.io/arch", facts.architecture}};
  json::Object out{
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", json::Object{{"name", facts.nodeName}, {"labels", std::move(labels)}}}};
  if (!facts.observed) return out;
  json::Object closed = observedPatch(true);
  out["spec"] = closed["spec"];
  out["metadata"].get_object()["annotations"] = closed["metadata"].get_object()["annotations"];
  return out;
}

json::Object observedPatch(bool observed) {
  const json::Value mark = observed ? json::Value("true") : json::Value(nullptr);
  const json::Value closed = observed ? json::Value(true) : json::Value(nullptr);
  return {{"metadata", json::Object{{"annotations", json::Object{{kObserved, mark}}}}},
          {"spec", json::Object{{"unschedulable", closed}}}};
}

json::Object nodeStatus(const MachineFacts& facts, WallTime now, WallTime readySince) {
  json::Array conditions{condition("MemoryPressure", false, "KubeletHasSufficientMemory",
                                   "kubelet has sufficient memory available", now, readySince),
                         condition("DiskPressure", false, "KubeletHasNoDiskPressure",
                                   "kubelet has no disk pressure", now, readySince),
                         condition("PIDPressure", false, "KubeletHasSufficientPID",
                                   "kubelet has sufficient PID available", now, readySince),
                         condition("Ready", true, "KubeletReady",
                                   "the node runner is posting ready status", now, readySince)};
  json::Array addresses{json::Object{{"type", "InternalIP"}, {"address", facts.address}},
                        json::Object{{"type", "Hostname"}, {"address", facts.hostname}}};
  json::Object info{
      {"kernelVersion", facts.kernelVersion},
      {"osImage", facts.osImage},
      {"machineID", facts.machineId},
      {"systemUUID", facts.machineId},
      {"bootID", facts.bootId},
      {"architecture", facts.architecture},
      {"operatingSystem", "linux"},
      {"containerRuntimeVersion",
       facts.containerRuntime.empty() ? "mangrove://" + facts.version : facts.containerRuntime},
      {"kubeletVersion", "v1.35.0-mangrove." + facts.version},
      {"kubeProxyVersion", ""}};
  return {{"status", json::Object{{"capacity", amounts(facts, facts.memory)},
                                  {"allocatable", amounts(facts, facts.allocatableMemory())},
                                  {"conditions", std::move(conditions)},
                                  {"addresses", std::move(addresses)},
                                  {"nodeInfo", std::move(info)}}}};
}

json::Object leaseObject(const std::string& node, const std::string& nodeUid, WallTime now) {
  json::Object meta{{"name", node}, {"namespace", "kube-node-lease"}};
  if (!nodeUid.empty())
    meta["ownerReferences"] = json::Array{
        json::Object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", nodeUid}}};
  return {{"apiVersion", "coordination.k8s.io/v1"},
          {"kind", "Lease"},
          {"metadata", std::move(meta)},
          {"spec", json::Object{{"holderIdentity", node},
                                {"leaseDurationSeconds", kLeaseSeconds},
                                {"renewTime", formatMicroTime(now)}}}};
}

}  // namespace mangrove::runtime
