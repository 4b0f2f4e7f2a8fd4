#include "base/text/proto_wire.h"
#include "runtime/cri/messages.h"

namespace mangrove::runtime::cri {

namespace {

void addTexts(ProtoWriter& out, uint32_t field, const Texts& map) {
  for (const auto& [key, value] : map)
    out.message(field, ProtoWriter().text(1, key).text(2, value).bytes());
}

void addList(ProtoWriter& out, uint32_t field, const std::vector<std::string>& list) {
  for (const auto& one : list) out.message(field, one);  // "" is an argument too
}

void addNumbers(ProtoWriter& out, uint32_t field, const std::vector<int64_t>& list) {
  for (const int64_t one : list) out.numberAlways(field, one);
}

// A number that may be absent is a message of its own.
void addOptional(ProtoWriter& out, uint32_t field, const std::optional<int64_t>& value) {
  if (value) out.message(field, ProtoWriter().number(1, *value).bytes());
}

std::string written(const Namespaces& n) {
  return ProtoWriter()
      .number(1, static_cast<int>(n.network))
      .number(2, static_cast<int>(n.pid))
      .number(3, static_cast<int>(n.ipc))
      .text(4, n.target)
      .bytes();
}

std::string written(const SeccompProfile& profile) {
  return ProtoWriter().number(1, static_cast<int>(profile.type)).text(2, profile.file).bytes();
}

std::string imageSpec(std::string_view image, std::string_view wanted = {}) {
  return ProtoWriter().text(1, image).text(18, wanted).bytes();
}

std::string sandboxSecurity(const SandboxConfig& c) {
  ProtoWriter out;
  out.message(1, written(c.namespaces));
  addOptional(out, 3, c.user);
  addOptional(out, 8, c.group);
  addNumbers(out, 5, c.groups);
  out.number(6, c.privileged);
  out.message(9, written(SeccompProfile{}));
  return out.bytes();
}

std::string containerSecurity(const ContainerConfig& c) {
  ProtoWriter capabilities;
  addList(capabilities, 1, c.addCapabilities);
  addList(capabilities, 2, c.dropCapabilities);
  ProtoWriter out;
  out.message(1, capabilities.bytes());
  out.number(2, c.privileged);
  out.message(3, written(c.namespaces));
  addOptional(out, 5, c.user);
  addOptional(out, 12, c.group);
  out.number(7, c.readOnlyRoot);
  addNumbers(out, 8, c.groups);
  out.number(11, c.noNewPrivileges);
  addList(out, 13, c.maskedPaths);
  addList(out, 14, c.readOnlyPaths);
  out.message(15, written(c.seccomp));
  return out.bytes();
}

std::string written(const Resources& r) {
  return ProtoWriter()
      .number(1, r.period)
      .number(2, r.quota)
      .number(3, r.shares)
      .number(4, r.memory)
      .number(5, r.oomScoreAdj)
      .bytes();
}

std::string written(const ContainerConfig& c) {
  ProtoWriter out;
  out.message(1, ProtoWriter().text(1, c.name).number(2, c.attempt).bytes());
  out.message(2, imageSpec(c.image, c.wantedImage));
  addList(out, 3, c.command);
  addList(out, 4, c.args);
  out.text(5, c.workingDir);
  for (const auto& [name, value] : c.env)
    out.message(6, ProtoWriter().text(1, name).text(2, value).bytes());
  for (const auto& mount : c.mounts)
    out.message(7, ProtoWriter()
                       .text(1, mount.target)
                       .text(2, mount.source)
                       .number(3, mount.readOnly)
                       .bytes());
  for (const auto& device : c.devices)
    out.message(8, ProtoWriter().text(1, device.path).text(2, device.path).text(3, "rwm").bytes());
  addTexts(out, 9, c.labels);
  addTexts(out, 10, c.annotations);
  out.text(11, c.logPath);
  out.number(12, c.openStdin).number(13, c.stdinOnce).number(14, c.tty);
  out.message(
      15, ProtoWriter().message(1, written(c.resources)).message(2, containerSecurity(c)).bytes());
  return out.bytes();
}

// Not where they are for: runtimes take that for an address of its own and refuse what is none.
std::string written(const Credentials& c) {
  return ProtoWriter()
      .text(1, c.username)
      .text(2, c.password)
      .text(3, c.auth)
      .text(5, c.identityToken)
      .text(6, c.registryToken)
      .bytes();
}

}  // namespace

std::string writeSandboxConfig(const SandboxConfig& c) {
  ProtoWriter out;
  out.message(
      1, ProtoWriter().text(1, c.name).text(2, c.uid).text(3, c.ns).number(4, c.attempt).bytes());
  out.text(2, c.hostname).text(3, c.logDirectory);
  addTexts(out, 6, c.labels);
  addTexts(out, 7, c.annotations);
  ProtoWriter linux;
  linux.text(1, c.cgroupParent).message(2, sandboxSecurity(c));
  addTexts(linux, 3, c.sysctls);
  out.message(8, linux.bytes());
  return out.bytes();
}

std::string writeRunSandbox(const SandboxConfig& config, std::string_view handler) {
  return ProtoWriter().message(1, writeSandboxConfig(config)).text(2, handler).bytes();
}

std::string writeId(std::string_view id) {
  return ProtoWriter().text(1, id).bytes();
}

std::string writeIdVerbose(std::string_view id) {
  return ProtoWriter().text(1, id).number(2, 1).bytes();
}

std::string writeListSandboxes(const Texts& labels) {
  ProtoWriter filter;
  addTexts(filter, 3, labels);
  return ProtoWriter().message(1, filter.bytes()).bytes();
}

std::string writeListContainers(std::string_view sandbox) {
  return ProtoWriter().message(1, ProtoWriter().text(3, sandbox).bytes()).bytes();
}

std::string writeCreateContainer(std::string_view sandbox, const ContainerConfig& config,
                                 const SandboxConfig& pod) {
  return ProtoWriter()
      .text(1, sandbox)
      .message(2, written(config))
      .message(3, writeSandboxConfig(pod))
      .bytes();
}

std::string writeStopContainer(std::string_view id, int64_t seconds) {
  return ProtoWriter().text(1, id).number(2, seconds).bytes();
}

std::string writeExecSync(const ExecOrder& order, int64_t seconds) {
  ProtoWriter out;
  out.text(1, order.container);
  addList(out, 2, order.command);
  return out.number(3, seconds).bytes();
}

std::string writeExec(const ExecOrder& order) {
  ProtoWriter out;
  out.text(1, order.container);
  addList(out, 2, order.command);
  // A terminal has one stream for both.
  return out.number(3, order.tty)
      .number(4, order.in)
      .number(5, order.out)
      .number(6, order.err && !order.tty)
      .bytes();
}

std::string writeAttach(const ExecOrder& order) {
  return ProtoWriter()
      .text(1, order.container)
      .number(2, order.in)
      .number(3, order.tty)
      .number(4, order.out)
      .number(5, order.err && !order.tty)
      .bytes();
}

std::string writeImage(std::string_view image) {
  return ProtoWriter().message(1, imageSpec(image)).bytes();
}

std::string writePull(std::string_view image, const std::optional<Credentials>& credentials,
                      const SandboxConfig* pod) {
  ProtoWriter out;
  out.message(1, imageSpec(image));
  if (credentials) out.message(2, written(*credentials));
  if (pod) out.message(3, writeSandboxConfig(*pod));
  return out.bytes();
}

std::string writeStatus(bool verbose) {
  return ProtoWriter().number(1, verbose).bytes();
}

}  // namespace mangrove::runtime::cri
