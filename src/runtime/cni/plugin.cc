#include "runtime/cni/plugin.h"

#include <bit>
#include <cerrno>
#include <filesystem>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>

#include "base/os/fd.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "json/value.h"
#include "runtime/node/network/network.h"
#include "runtime/shim/pod_net.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kLoopbackType = "loopback";

std::string word(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

// "IgnoreUnknown=1;K8S_POD_NAME=web;K8S_POD_UID=…"
std::string argument(std::string_view all, std::string_view name) {
  for (auto part : split(all, ';'))
    if (const auto halves = cut(part, '='); halves.before == name) return std::string(halves.after);
  return "";
}

int prefixOf(const std::string& mask) {
  in_addr bits{};
  return ::inet_pton(AF_INET, mask.c_str(), &bits) == 1 ? std::popcount(bits.s_addr) : 32;
}

// Before 1.0.0 an address says which family it is of.
bool saysFamily(std::string_view version) {
  return version.starts_with("0.");
}

Result<UniqueFd> openNamespace(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failErrno(errno, "network namespace " + path);
  return fd;
}

Result<> enter(int netns) {
  if (::setns(netns, CLONE_NEWNET) < 0) return failErrno(errno, "entering a network namespace");
  return {};
}

Result<std::string> addLoopback(const CniCall& call) {
  auto netns = openNamespace(call.netns);
  if (!netns) return pass(netns.error());
  if (auto ok = enter(netns->get()); !ok) return pass(ok.error());
  if (auto ok = bringUpLoopback(); !ok) return pass(ok.error());
  return cniLoopback(call);
}

Result<std::string> addPod(const CniCall& call) {
  if (call.interface != "eth0")
    return invalid("CNI_IFNAME '{}': want eth0, the one interface a pod has here", call.interface);
  auto address = leaseOf(call.leases, call.podUid);
  if (!address) return address.error().in("pod {}", call.podName);
  in_addr bits{};
  if (::inet_pton(AF_INET, address->c_str(), &bits) != 1)
    return invalid("address '{}' of pod {} is none", *address, call.podName);
  auto netns = openNamespace(call.netns);
  if (!netns) return pass(netns.error());
  const HardwareAddress hardware = hardwareAddressOf(ntohl(bits.s_addr));
  auto made = makeVeth(podInterface(call.podUid), call.bridge, {.fd = netns->get()}, hardware);
  if (!made) return pass(made.error());
  if (auto ok = enter(netns->get()); !ok) return pass(ok.error());
  if (auto ok = configureInterface({call.interface, *address, call.mask, call.gateway}); !ok)
    return pass(ok.error());
  return cniAdded(call, *address,
                  fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", hardware[0], hardware[1],
                              hardware[2], hardware[3], hardware[4], hardware[5]));
}

Result<std::string> answerTo(const CniCall& call) {
  if (call.command == "VERSION") return cniVersions(call);
  const bool loopback = call.type == kLoopbackType;
  if (call.command == "ADD") return loopback ? addLoopback(call) : addPod(call);
  // The interfaces go with the namespace, the address when the runner has seen the pod's end.
  if (call.command == "DEL" && !loopback && !call.podUid.empty())
    (void)removeLink(podInterface(call.podUid));
  for (const char* known : {"DEL", "CHECK", "GC", "STATUS"})
    if (call.command == known) return std::string();
  return invalid("CNI_COMMAND '{}': want ADD, DEL, CHECK, GC, STATUS or VERSION", call.command);
}

int codeOf(const Error& error) {
  switch (error.code()) {
    case Code::kInvalid:
      return 4;  // a variable or the configuration is wrong
    case Code::kUnsupported:
      return 2;
    case Code::kIo:
      return 5;
    default:
      return 100;
  }
}

}  // namespace

Result<CniCall> readCni(const GetVariable& variable, std::string_view configuration) {
  CniCall out;
  out.command = variable("CNI_COMMAND");
  out.netns = variable("CNI_NETNS");
  out.interface = variable("CNI_IFNAME");
  const std::string arguments = variable("CNI_ARGS");
  out.podUid = argument(arguments, "K8S_POD_UID");
  out.podName =
      argument(arguments, "K8S_POD_NAMESPACE") + "/" + argument(arguments, "K8S_POD_NAME");
  if (out.command.empty())
    return invalid("CNI_COMMAND is not set: a container runtime calls this, not people");
  if (trim(configuration).empty() && out.command == "VERSION") return out;
  auto parsed = json::parse(configuration);
  if (!parsed || !parsed->is_object())
    return invalid("the configuration on standard input is no JSON object");
  const json::Object& body = parsed->get_object();
  if (auto version = word(body, "cniVersion"); !version.empty()) out.version = version;
  out.type = word(body, "type");
  out.bridge = word(body, "bridge");
  out.leases = word(body, "leases");
  out.mask = word(body, "mask");
  out.gateway = word(body, "gateway");
  const bool adds = out.command == "ADD" && out.type != kLoopbackType;
  if (adds && (out.bridge.empty() || out.leases.empty()))
    return invalid("the configuration names no {}: want one that mangrove up has written",
                   out.bridge.empty() ? "bridge" : "leases");
  if (adds && out.podUid.empty())
    return invalid("CNI_ARGS '{}' names no K8S_POD_UID: this network is for pods", arguments);
  return out;
}

Result<std::string> leaseOf(const std::string& dir, std::string_view uid) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error))
    if (auto holder = readFile(entry.path()); holder && trim(*holder) == uid)
      return entry.path().filename().string();
  return fail(Code::kNotFound,
              "no address was given to {}: only pods of the mangrove up that keeps {} are on this "
              "network",
              uid, dir);
}

std::string cniAdded(const CniCall& call, const std::string& address, const std::string& hardware) {
  json::Object ip{{"interface", 0},
                  {"address", fmt::format("{}/{}", address, prefixOf(call.mask))},
                  {"gateway", call.gateway}};
  if (saysFamily(call.version)) ip["version"] = "4";
  return json::write(json::Object{
      {"cniVersion", call.version},
      {"interfaces", json::Array{json::Object{
                         {"name", call.interface}, {"mac", hardware}, {"sandbox", call.netns}}}},
      {"ips", json::Array{std::move(ip)}},
      {"routes", json::Array{json::Object{{"dst", "0.0.0.0/0"}, {"gw", call.gateway}}}}});
}

std::string cniLoopback(const CniCall& call) {
  json::Object ip{{"interface", 0}, {"address", "127.0.0.1/8"}};
  if (saysFamily(call.version)) ip["version"] = "4";
  return json::write(json::Object{
      {"cniVersion", call.version},
      {"interfaces", json::Array{json::Object{
                         {"name", "lo"}, {"mac", "00:00:00:00:00:00"}, {"sandbox", call.netns}}}},
      {"ips", json::Array{std::move(ip)}}});
}

std::string cniVersions(const CniCall& call) {
  return json::write(
      json::Object{{"cniVersion", call.version},
                   {"supportedVersions", json::Array{"0.3.0", "0.3.1", "0.4.0", "1.0.0"}}});
}

std::string cniError(const CniCall& call, const Error& error) {
  return json::write(
      json::Object{{"cniVersion", call.version}, {"code", codeOf(error)}, {"msg", error.text()}});
}

int runCni(const GetVariable& variable, std::string_view configuration, std::string& answer) {
  auto call = readCni(variable, configuration);
  auto said = call ? answerTo(*call) : Result<std::string>(pass(call.error()));
  answer = said ? *said : cniError(call ? *call : CniCall{}, said.error());
  return said ? 0 : 1;
}

std::string cniConfiguration(const CniOptions& options) {
  return json::write(
      json::Object{{"cniVersion", "0.4.0"},
                   {"name", "mangrove"},
                   {"plugins", json::Array{json::Object{{"type", kCniType},
                                                        {"bridge", options.bridge},
                                                        {"leases", options.leases},
                                                        {"mask", options.mask},
                                                        {"gateway", options.gateway}}}}});
}

}  // namespace mangrove::runtime
