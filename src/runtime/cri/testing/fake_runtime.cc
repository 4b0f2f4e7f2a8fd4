#include "runtime/cri/testing/fake_runtime.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text/proto_wire.h"

namespace mangrove::runtime::cri {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kNotFound = 5, kUnknown = 2;

// The bytes of a field in a path of nested messages; "" when it is not there.
std::string at(std::string_view bytes, std::initializer_list<uint32_t> path) {
  std::string found(bytes);
  for (uint32_t number : path) {
    std::string inner;
    ProtoReader in(found);
    while (const auto field = in.next())
      if (field->number == number) inner = field->bytes;
    found = std::move(inner);
  }
  return found;
}

// A label of a config or a filter whose labels are field `number`.
std::string label(std::string_view bytes, uint32_t number, std::string_view key) {
  ProtoReader in(bytes);
  while (const auto field = in.next())
    if (field->number == number && at(field->bytes, {1}) == key) return at(field->bytes, {2});
  return "";
}

void copyFields(std::string_view from, uint32_t number, uint32_t to, ProtoWriter& out) {
  ProtoReader in(from);
  while (const auto field = in.next())
    if (field->number == number) out.message(to, field->bytes);
}

net::GrpcReply text(std::string value) {
  return {ProtoWriter().text(1, value).bytes()};
}

std::string shortName(const std::string& method) {
  return method.substr(method.rfind('/') + 1);
}

}  // namespace

FakeRuntime::FakeRuntime(std::string socket) : stop_(::eventfd(0, EFD_CLOEXEC)) {
  auto listener = net::listenGrpc(socket);
  CHECK(listener.has_value(), "a socket for the fake runtime");
  listener_ = std::move(*listener);
  accepting_ = std::thread([this] {
    for (;;) {
      pollfd fds[2] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      ::poll(fds, 2, -1);
      if (fds[1].revents != 0) return;
      UniqueFd one(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!one) return;
      connections_.emplace_back([this, fd = one.release()] {
        net::grpcServe(
            UniqueFd(fd),
            [this](const std::string& method, const std::string& message) {
              return answer(method, message);
            },
            stop_.get());
      });
    }
  });
}

FakeRuntime::~FakeRuntime() {
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  accepting_.join();
  for (auto& thread : connections_) thread.join();
}

void FakeRuntime::addImage(const std::string& name) {
  std::lock_guard lock(mutex_);
  images_[name] = "sha256:" + name;
}
void FakeRuntime::refusePull(const std::string& image, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (why.empty())
    noPulls_.erase(image);
  else
    noPulls_[image] = why;
}
void FakeRuntime::refuse(const std::string& method, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (why.empty())
    refusals_.erase(method);
  else
    refusals_[method] = why;
}
void FakeRuntime::end(const std::string& container, int exitCode) {
  std::lock_guard lock(mutex_);
  for (auto& [id, one] : containers_)
    if (one.name == container && one.state == 1) {
      one.state = 2;
      one.exitCode = exitCode;
      one.finishedAt = 9 * kSecond;
    }
}
std::vector<std::string> FakeRuntime::calls() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [method, message] : calls_) out.push_back(method);
  return out;
}
std::string FakeRuntime::said(const std::string& method) const {
  std::lock_guard lock(mutex_);
  for (auto it = calls_.rbegin(); it != calls_.rend(); ++it)
    if (it->first == method) return it->second;
  return "";
}
size_t FakeRuntime::sandboxes() const {
  std::lock_guard lock(mutex_);
  return sandboxes_.size();
}
size_t FakeRuntime::containers() const {
  std::lock_guard lock(mutex_);
  return containers_.size();
}

net::GrpcReply FakeRuntime::answer(const std::string& path, const std::string& message) {
  std::lock_guard lock(mutex_);
  const std::string method = shortName(path);
  calls_.emplace_back(method, message);
  if (auto found = refusals_.find(method); found != refusals_.end())
    return {{}, false, kUnknown, found->second};
  if (method == "Version") return {ProtoWriter().text(2, "fake").text(3, "v1.0").bytes()};
  if (method == "Status") {
    ProtoWriter conditions;
    for (const char* type : {"RuntimeReady", "NetworkReady"})
      conditions.message(1, ProtoWriter().text(1, type).number(2, 1).bytes());
    return {ProtoWriter().message(1, conditions.bytes()).bytes()};
  }
  if (path.find("ImageService") != std::string::npos) return imageCall(method, message);
  if (method.find("Sandbox") != std::string::npos) return sandboxCall(method, message);
  return containerCall(method, message);
}

net::GrpcReply FakeRuntime::sandboxCall(const std::string& method, const std::string& message) {
  if (method == "RunPodSandbox") {
    const std::string config = at(message, {1}), id = "sandbox-" + std::to_string(next_++);
    ProtoWriter labels;
    copyFields(config, 6, 5, labels);
    sandboxes_[id] = {at(config, {1}), labels.bytes(), label(config, 6, "io.kubernetes.pod.uid"),
                      label(config, 6, "mangrove.io/runner")};
    return text(id);
  }
  if (method == "ListPodSandbox") {
    const std::string filter = at(message, {1});
    const std::string uid = label(filter, 3, "io.kubernetes.pod.uid");
    const std::string runner = label(filter, 3, "mangrove.io/runner");
    ProtoWriter out;
    for (const auto& [id, one] : sandboxes_)
      if ((uid.empty() || uid == one.uid) && (runner.empty() || runner == one.runner))
        out.message(
            1, ProtoWriter().text(1, id).message(2, one.metadata).number(3, !one.ready).bytes() +
                   one.labels);
    return {out.bytes()};
  }
  const auto found = sandboxes_.find(at(message, {1}));
  if (found == sandboxes_.end()) return {{}, false, kNotFound, "no such sandbox"};
  if (method == "StopPodSandbox") found->second.ready = false;
  if (method == "RemovePodSandbox") {
    std::erase_if(containers_, [&](const auto& one) { return one.second.sandbox == found->first; });
    sandboxes_.erase(found);
    return {};
  }
  if (method != "PodSandboxStatus") return {};
  const std::string network = ProtoWriter().text(1, "10.1.2.3").bytes();
  return {ProtoWriter()
              .message(1, ProtoWriter()
                              .text(1, found->first)
                              .message(2, found->second.metadata)
                              .message(5, network)
                              .bytes())
              .bytes()};
}

std::string FakeRuntime::statusOf(const std::string& id, const FakeContainer& one) const {
  return ProtoWriter()
      .text(1, id)
      .message(2, one.metadata)
      .number(3, one.state)
      .number(5, one.startedAt)
      .number(6, one.finishedAt)
      .number(7, one.exitCode)
      .text(9, one.image)
      .bytes();
}

net::GrpcReply FakeRuntime::containerCall(const std::string& method, const std::string& message) {
  if (method == "CreateContainer") {
    const std::string id = "container-" + std::to_string(next_++), config = at(message, {2});
    containers_[id] = {at(message, {1}), at(config, {1, 1}), at(config, {1}), at(config, {2, 1})};
    return text(id);
  }
  if (method == "ListContainers") {
    const std::string sandbox = at(message, {1, 3});
    ProtoWriter out;
    for (const auto& [id, one] : containers_)
      if (sandbox.empty() || sandbox == one.sandbox)
        out.message(1, ProtoWriter()
                           .text(1, id)
                           .text(2, one.sandbox)
                           .message(3, one.metadata)
                           .text(5, one.image)
                           .number(6, one.state)
                           .bytes());
    return {out.bytes()};
  }
  const auto found = containers_.find(at(message, {1}));
  if (found == containers_.end()) return {{}, false, kNotFound, "no such container"};
  FakeContainer& one = found->second;
  if (method == "StartContainer") {
    one.state = 1;
    one.startedAt = 5 * kSecond;
  }
  if (method == "StopContainer" && one.state == 1) {
    one.state = 2;
    one.exitCode = 143;
    one.finishedAt = 8 * kSecond;
  }
  if (method == "ExecSync")
    return {ProtoWriter().text(1, "out").text(2, "err").number(3, 7).bytes()};
  if (method == "ContainerStatus")
    return {ProtoWriter().message(1, statusOf(found->first, one)).bytes()};
  if (method == "RemoveContainer") containers_.erase(found);
  return {};
}

net::GrpcReply FakeRuntime::imageCall(const std::string& method, const std::string& message) {
  const std::string name = at(message, {1, 1});
  if (method == "PullImage") {
    if (auto found = noPulls_.find(name); found != noPulls_.end())
      return {{}, false, kUnknown, found->second};
    images_[name] = "sha256:" + name;
    return text(images_[name]);
  }
  if (method != "ImageStatus") return {};
  for (const auto& [tag, id] : images_)
    if (tag == name || id == name)
      return {ProtoWriter().message(1, ProtoWriter().text(1, id).text(2, tag).bytes()).bytes()};
  return {};
}

}  // namespace mangrove::runtime::cri
