// The NRI plugin against a stand-in runtime that speaks the protocol over a unix socket, as
// containerd does: registration, configuration, synchronisation, creation, update, a restart.
#include <chrono>
#include <filesystem>
#include <future>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/nri/service.h"
#include "agent/qos/resctrl/classes.h"
#include "base/check.h"
#include "base/os/fd.h"
#include "base/os/files.h"
#include "base/testing/wait.h"
#include "base/text/proto_wire.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kPlugin = "nri.pkg.api.v1alpha1.Plugin";

std::string entry(std::string_view key, std::string_view value) {
  ProtoWriter out;
  return out.text(1, key).text(2, value).bytes();
}

std::string podBytes(const std::vector<std::pair<std::string, std::string>>& labels,
                     const std::vector<std::pair<std::string, std::string>>& annotations,
                     std::string_view parent) {
  ProtoWriter linux, out;
  linux.text(3, parent);
  out.text(1, "sandbox1").text(2, "web").text(3, "uid-1").text(4, "default");
  for (const auto& [key, value] : labels) out.message(5, entry(key, value));
  for (const auto& [key, value] : annotations) out.message(6, entry(key, value));
  return out.message(8, linux.bytes()).bytes();
}

std::string containerBytes(std::string_view name, int64_t quota) {
  ProtoWriter value, cpu, resources, linux, out;
  value.number(1, quota);
  cpu.message(2, value.bytes());
  resources.message(2, cpu.bytes());
  linux.message(3, resources.bytes());
  return out.text(1, "c1").text(2, "sandbox1").text(3, name).message(11, linux.bytes()).bytes();
}

std::string createBytes(const std::string& pod, const std::string& container) {
  ProtoWriter out;
  return out.message(1, pod).message(2, container).bytes();
}

// Field by a path of numbers, e.g. {1, 6, 2, 2, 6}: adjust, linux, resources, cpu, cpus.
std::string at(std::string_view bytes, std::initializer_list<uint32_t> path) {
  for (uint32_t number : path) {
    std::string_view found = "(none)";
    ProtoReader in(bytes);
    while (const auto field = in.next())
      if (field->number == number) found = field->bytes;
    if (found == "(none)") return "(none)";
    bytes = found;
  }
  return std::string(bytes);
}

int64_t numberAt(std::string_view bytes, std::initializer_list<uint32_t> path) {
  const std::string inner = at(bytes, path);
  ProtoReader in(inner);
  const auto field = in.next();
  return inner == "(none)" ? -999 : field ? field->value : 0;
}

std::shared_ptr<HookRules> rulesForTests() {
  auto rules = std::make_shared<HookRules>();
  rules->enabled = true;
  rules->cpuset.emplace();
  rules->cpuset->servicePools = {{0, 0, "1-7"}, {0, 1, "9-15"}};
  rules->batch.emplace();
  rules->ratio = 1.5;
  rules->specQuotas["uid-1/main"] = 200000;
  rules->deviceEnv = true;
  return rules;
}

const std::string kSpec =
    R"({"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"500"},)"
    R"("limits":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"1Gi"}}}})";

// ---- rules -----------------------------------------------------------------------------------

NriPod podOf(api::Labels labels, api::Annotations annotations, std::string parent) {
  return {"s", "p", "u", "d", std::move(labels), std::move(annotations), std::move(parent)};
}

TEST(NriRules, ClassesGetWhatReconcileGivesThem) {
  const auto rules = rulesForTests();
  const std::string burstable = "/kubepods.slice/kubepods-burstable.slice/pod1";
  const auto ls = adjustmentFor(*rules, podOf({{"koordinator.sh/qosClass", "LS"}}, {}, burstable),
                                {"c", "s", "main", 200000});
  EXPECT_EQ(ls.resources.cpus, "1-7,9-15");
  EXPECT_EQ(ls.resources.quota, 133334) << "case 104: 2 CPUs on a machine 1.5 times as fast";
  const auto lsr = adjustmentFor(
      *rules,
      podOf({{"koordinator.sh/qosClass", "LSR"}},
            {{"scheduling.koordinator.sh/resource-status", R"({"cpuset":"4-5"})"}}, burstable),
      {"c", "s", "main", 200000});
  EXPECT_EQ(lsr.resources.cpus, "4-5");
  EXPECT_EQ(lsr.resources.quota, -1) << "CPUs of its own";
  const auto be = adjustmentFor(*rules,
                                podOf({{"koordinator.sh/qosClass", "BE"}},
                                      {{"node.koordinator.sh/extended-resource-spec", kSpec}},
                                      "/kubepods.slice/kubepods-besteffort.slice/pod2"),
                                {"c", "s", "main", {}});
  EXPECT_EQ(be.resources.shares, 512);
  EXPECT_EQ(be.resources.quota, 100000);
  EXPECT_EQ(be.resources.memory, 1073741824);
  EXPECT_EQ(be.resources.cpus, "");
  const auto gpu = adjustmentFor(*rules,
                                 podOf({},
                                       {{"scheduling.koordinator.sh/device-allocated",
                                         R"({"gpu":[{"minor":2},{"minor":5}]})"}},
                                       burstable),
                                 {"c", "s", "main", {}});
  EXPECT_EQ(gpu.env.at("NVIDIA_VISIBLE_DEVICES"), "2,5");
  EXPECT_EQ(adjustmentFor({}, podOf({{"koordinator.sh/qosClass", "LS"}}, {}, burstable), {}),
            NriAdjustment())
      << "switched off";
}

// A runtime refuses a container whose class is not there.
TEST(NriRules, AnRdtClassOnlyWhereItsGroupWasMade) {
  HookRules rules = *rulesForTests();
  const NriPod pod = podOf({{"koordinator.sh/qosClass", "LS"}},
                           {{"node.koordinator.sh/resctrl", R"({"llc":{"schemata":{}}})"}},
                           "/kubepods.slice/kubepods-burstable.slice/pod1");
  const auto classOf = [&] {
    return adjustmentFor(rules, pod, {"c", "s", "main", {}}).resources.rdtClass;
  };
  EXPECT_EQ(classOf(), "");
  rules.resctrlGroups = {podGroup("other")};
  EXPECT_EQ(classOf(), "");
  rules.resctrlGroups.insert(podGroup("u"));
  EXPECT_EQ(classOf(), podGroup("u"));
}

// The connection manager and the verbs of each function: of virtual ones where the pod has some.
TEST(NriRules, RdmaDevicesByTheSchedulersDecision) {
  const std::string verbs = "sys/class/infiniband_verbs/";
  kernel::FakeRoot fs{kernel::file("sys/class/misc/rdma_cm/dev", "10:58\n"),
                      kernel::file(verbs + "uverbs0/dev", "231:192\n"),
                      kernel::link(verbs + "uverbs0/device", "../../../0000:1f:00.0"),
                      kernel::file(verbs + "uverbs3/dev", "231:195\n"),
                      kernel::link(verbs + "uverbs3/device", "../../../0000:1f:00.2"),
                      kernel::file(verbs + "abi_version", "6\n")};
  HookRules rules;
  rules.enabled = true;
  rules.rdma = rdmaNodes(fs.root(), {});
  const auto of = [&](const char* allocated) {
    return adjustmentFor(rules,
                         podOf({}, {{"scheduling.koordinator.sh/device-allocated", allocated}}, ""),
                         {"c", "s", "main", {}})
        .devices;
  };
  const NriDevice manager{"/dev/infiniband/rdma_cm", 10, 58};
  EXPECT_EQ(of(R"({"rdma":[{"minor":0,"id":"0000:1f:00.0"}]})"),
            (std::vector<NriDevice>{manager, {"/dev/infiniband/uverbs0", 231, 192}}));
  EXPECT_EQ(of(R"({"rdma":[{"minor":0,"id":"0000:1f:00.0","extension":{"vfs":[{"minor":1,)"
               R"("busID":"0000:1f:00.2"}]}}]})"),
            (std::vector<NriDevice>{manager, {"/dev/infiniband/uverbs3", 231, 195}}));
  EXPECT_TRUE(of(R"({"rdma":[{"minor":0,"id":"0000:99:00.0"}]})").empty()) << "not here";
  EXPECT_TRUE(of(R"({"gpu":[{"minor":0}]})").empty());
  NriAdjustment out;
  out.devices = {{"/dev/infiniband/uverbs3", 231, 195}};
  const std::string bytes = writeCreated(out);
  EXPECT_EQ(at(bytes, {1, 6, 1, 1}), "/dev/infiniband/uverbs3");
  EXPECT_EQ(at(bytes, {1, 6, 1, 2}), "c");
  EXPECT_EQ(numberAt(bytes, {1, 6, 1, 5}), 0666);
}

// ---- frames ----------------------------------------------------------------------------------

TEST(NriFrames, MessagesSurviveAnyCut) {
  const std::string long1(10000, 'x');
  const std::string bytes = carry(1, ttrpcRequest(3, "s", "m", long1)) +
                            carry(2, ttrpcResponse(5, "ok")) + carry(2, ttrpcRefusal(7, 12, "no"));
  for (size_t step : {size_t{1}, size_t{7}, size_t{4096}, bytes.size()}) {
    FrameReader in;
    std::vector<Call> calls;
    for (size_t i = 0; i < bytes.size(); i += step) {
      auto some = in.feed(std::string_view(bytes).substr(i, step));
      ASSERT_TRUE(some);
      for (Call& one : *some) calls.push_back(std::move(one));
    }
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].payload, long1);
    EXPECT_EQ(calls[1].payload, "ok");
    EXPECT_EQ(calls[2].status, 12);
    EXPECT_EQ(calls[2].message, "no");
  }
  FrameReader wrong;
  EXPECT_FALSE(wrong.feed("HTTP/1.1 400 Bad Request\r\n\r\n")) << "not our protocol";
}

// ---- a runtime -------------------------------------------------------------------------------

// Speaks from the other side of the socket, in the test's own thread.
class FakeRuntime {
 public:
  explicit FakeRuntime(const std::string& path) : path_(path) { listen(); }

  void listen() {
    std::filesystem::remove(path_);
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
          "bind");
    CHECK(::listen(listener_.get(), 1) == 0, "listen");
  }
  // Takes the plugin's registration and answers it.
  Call accept() {
    peer_ = UniqueFd(::accept(listener_.get(), nullptr, nullptr));
    const timeval limit{20, 0};
    ::setsockopt(peer_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    reader_ = {};
    Call hello = next();
    send(carry(kRuntimeConnection, ttrpcResponse(hello.stream, "")));
    return hello;
  }
  Call call(std::string_view method, std::string_view payload) {
    stream_ += 2;
    send(carry(kPluginConnection, ttrpcRequest(stream_, kPlugin, method, payload)));
    Call answer = next();
    EXPECT_EQ(answer.stream, stream_);
    EXPECT_EQ(answer.connection, kPluginConnection);
    return answer;
  }
  void die() {
    peer_ = {};
    listener_ = {};
  }

 private:
  void send(const std::string& bytes) {
    CHECK(::write(peer_.get(), bytes.data(), bytes.size()) == ssize_t(bytes.size()), "write");
  }
  Call next() {
    while (waiting_.empty()) {
      char buffer[512];
      const ssize_t got = ::read(peer_.get(), buffer, sizeof buffer);
      CHECK(got > 0, "the plugin said nothing");
      auto calls = reader_.feed({buffer, size_t(got)});
      CHECK(calls, "{}", calls.error().text());
      waiting_ = *std::move(calls);
    }
    Call first = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return first;
  }
  std::string path_;
  UniqueFd listener_, peer_;
  FrameReader reader_;
  std::vector<Call> waiting_;
  uint32_t stream_ = 1;
};

// Runs posted work until the condition holds.
template <class F>
bool until(Mailbox& owner, F&& done) {
  return runUntil(owner, std::forward<F>(done));
}

TEST(NriService, SpeaksToARuntimeAndComesBackAfterItsRestart) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("nri" + std::to_string(::getpid()))).string();
  FakeRuntime runtime(path);
  net::Loop loop(1);
  Mailbox owner;
  std::vector<std::string> began;
  NriService service({loop, realClock(), owner},
                     {.socket = path,
                      .firstWait = std::chrono::milliseconds(20),
                      .onPod = [&](const NriPod& one) { began.push_back(one.cgroupParent); },
                      .onContainer =
                          [&](const NriPod& one, const NriContainer& container) {
                            began.push_back(one.cgroupParent + " " + container.id);
                          }});
  service.publish(rulesForTests());
  const Call hello = runtime.accept();
  EXPECT_EQ(hello.connection, kRuntimeConnection);
  EXPECT_EQ(hello.service, "nri.pkg.api.v1alpha1.Runtime");
  EXPECT_EQ(hello.method, "RegisterPlugin");
  EXPECT_EQ(at(hello.payload, {1}), "koordlet_nri");
  EXPECT_EQ(at(hello.payload, {2}), "00");

  ProtoWriter config;
  const Call configured =
      runtime.call("Configure", config.text(2, "containerd").text(3, "v2.4.2").bytes());
  ProtoReader mask(configured.payload);
  EXPECT_EQ(mask.next()->value, 0b10101101) << "run, remove, create, start, update";

  const std::string pod = podBytes({{"koordinator.sh/qosClass", "LS"}}, {},
                                   "/kubepods.slice/kubepods-burstable.slice/pod1");
  ProtoWriter sync;
  const Call synced = runtime.call(
      "Synchronize", sync.message(1, pod).message(2, containerBytes("main", 100000)).bytes());
  EXPECT_EQ(at(synced.payload, {1, 1}), "c1");
  EXPECT_EQ(at(synced.payload, {1, 2, 1, 2, 6}), "1-7,9-15");
  EXPECT_EQ(numberAt(synced.payload, {1, 2, 1, 2, 2}), 133334) << "of its spec, not of what it has";

  const Call created =
      runtime.call("CreateContainer", createBytes(pod, containerBytes("main", 200000)));
  EXPECT_EQ(at(created.payload, {1, 6, 2, 2, 6}), "1-7,9-15");
  EXPECT_EQ(numberAt(created.payload, {1, 6, 2, 2, 2}), 133334);

  const std::string batch = podBytes({{"koordinator.sh/qosClass", "BE"}},
                                     {{"node.koordinator.sh/extended-resource-spec", kSpec}},
                                     "/kubepods.slice/kubepods-besteffort.slice/pod2");
  const Call limited =
      runtime.call("CreateContainer", createBytes(batch, containerBytes("main", 0)));
  EXPECT_EQ(numberAt(limited.payload, {1, 6, 2, 2, 1}), 512);
  EXPECT_EQ(numberAt(limited.payload, {1, 6, 2, 1, 1}), 1073741824);

  const Call updated =
      runtime.call("UpdateContainer", createBytes(pod, containerBytes("main", 133334)));
  EXPECT_EQ(at(updated.payload, {1, 1}), "c1") << "names its container";
  EXPECT_EQ(numberAt(updated.payload, {1, 2, 1, 2, 2}), 133334) << "not divided twice";
  const Call unknown =
      runtime.call("UpdateContainer", createBytes(pod, containerBytes("other", 133334)));
  EXPECT_EQ(numberAt(unknown.payload, {1, 2, 1, 2, 2}), -999) << "nobody knows what it was";

  ProtoWriter event;
  EXPECT_EQ(runtime.call("StateChange", event.number(1, 1).message(2, pod).bytes()).status, 0);
  EXPECT_TRUE(until(owner, [&] { return began.size() == 1; })) << "a pod begins";
  EXPECT_EQ(began.at(0), "/kubepods.slice/kubepods-burstable.slice/pod1");
  ProtoWriter start;
  start.number(1, 6).message(2, pod).message(3, containerBytes("main", 0));
  EXPECT_EQ(runtime.call("StateChange", start.bytes()).status, 0);
  // Runtimes that have a call for it.
  EXPECT_EQ(runtime.call("StartContainer", createBytes(pod, containerBytes("main", 0))).status, 0);
  EXPECT_TRUE(until(owner, [&] { return began.size() == 3; })) << "a container begins";
  EXPECT_EQ(began.at(1), "/kubepods.slice/kubepods-burstable.slice/pod1 c1");
  EXPECT_EQ(began.at(2), began.at(1));
  EXPECT_EQ(runtime.call("CreateContainer", "\xff\xff").status, 3) << "nonsense is refused";
  EXPECT_EQ(runtime.call("Unheard", "").status, 12);
  EXPECT_TRUE(until(owner, [&] { return service.isRegistered(); }));

  runtime.die();
  EXPECT_TRUE(until(owner, [&] { return !service.isRegistered(); }));
  runtime.listen();
  auto again = std::async(std::launch::async, [&] { return runtime.accept(); });
  EXPECT_TRUE(until(owner, [&] { return service.connections() == 2; }));
  EXPECT_EQ(again.get().method, "RegisterPlugin");
}

}  // namespace
}  // namespace mangrove::agent
