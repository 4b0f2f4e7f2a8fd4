// The proxy between a stand-in kubelet and a client, over real unix sockets.
#include "agent/pod_resources/proxy.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/wire/decode.h"
#include "json/view.h"
#include "kernel/testing/fake_root.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

std::string containerOf(const std::string& name) {
  std::string out;
  appendField(out, 1, name);
  appendField(out, 9, "a field of tomorrow");
  return out;
}

std::string podOf(const std::string& name, std::initializer_list<const char*> containers) {
  std::string out;
  appendField(out, 1, name);
  appendField(out, 2, "default");
  for (const char* one : containers) appendField(out, 3, containerOf(one));
  return out;
}

std::string listOf(std::initializer_list<std::string> pods) {
  std::string out;
  for (const std::string& pod : pods) appendField(out, 1, pod);
  return out;
}

PodPtr allocated(const std::string& name, const std::string& devices) {
  json::Doc doc;
  auto pod = api::decode<api::Pod>(*doc.parse(fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"default","uid":"u-{}","annotations":)"
      R"({{"scheduling.koordinator.sh/device-allocated":{}}}}},"spec":{{"containers":[]}}}})",
      name, name, json::write(json::Value(devices)))));
  return std::make_shared<const api::Pod>(*std::move(pod));
}

TEST(PodResources, DevicesGoToTheFirstContainerAndTheRestStays) {
  const std::string answer = listOf({podOf("gpu", {"a", "b"}), podOf("plain", {"c"})});
  const auto fuller = withDevices(answer, [](std::string_view ns, std::string_view name) {
    EXPECT_EQ(ns, "default");
    return PodDevices(name == "gpu" ? AddedDevices{{"nvidia.com/gpu", {"GPU-1", "GPU-2"}}}
                                    : AddedDevices{});
  });
  ASSERT_TRUE(fuller);
  std::string devices;
  appendField(devices, 1, "nvidia.com/gpu");
  appendField(devices, 2, "GPU-1");
  appendField(devices, 2, "GPU-2");
  std::string first = containerOf("a");
  appendField(first, 2, devices);
  std::string pod;
  appendField(pod, 1, "gpu");
  appendField(pod, 2, "default");
  appendField(pod, 3, first);
  appendField(pod, 3, containerOf("b"));
  EXPECT_EQ(*fuller, listOf({pod, podOf("plain", {"c"})}));
}

TEST(PodResources, DevicesGoToTheContainerThatAsksForThem) {
  const auto answer = listOf({podOf("gpu", {"a", "b"})});
  const auto to = [&](const char* container) {
    return *withDevices(answer, [&](std::string_view, std::string_view) {
      return PodDevices(AddedDevices{{"nvidia.com/gpu", {"GPU-1"}}}, container);
    });
  };
  EXPECT_GT(to("b").find("GPU-1"), to("a").find("GPU-1"));
  EXPECT_EQ(to("c"), to("a")) << "nobody of that name: the first";
  const auto asks = [](const char* first, const char* second) {
    json::Doc doc;
    const auto pod = api::decode<api::Pod>(*doc.parse(
        fmt::format(R"({{"spec":{{"containers":[{{"name":"a","resources":{{"limits":{{{}}}}}}},)"
                    R"({{"name":"b","resources":{{"limits":{{{}}}}}}}]}}}})",
                    first, second)));
    return deviceContainer(*pod->spec);
  };
  const char* const gpu = R"("koordinator.sh/gpu-core":"50")";
  EXPECT_EQ(asks("", gpu), "b");
  EXPECT_EQ(asks(R"("cpu":"1")", R"("koordinator.sh/rdma":"1")"), "b");
  EXPECT_EQ(asks(gpu, gpu), "") << "which one is not said";
  EXPECT_EQ(asks("", ""), "");
}

TEST(PodResources, NonsenseIsRefused) {
  const FindDevices none = [](std::string_view, std::string_view) { return PodDevices(); };
  for (const std::string& bad :
       {std::string("\x0a\x7f"), std::string("\x0a\x02\x0a\x7f", 4), std::string("\xff\xff"),
        std::string(11, '\x80'), std::string("\x0b")})
    EXPECT_FALSE(withDevices(bad, none));
  EXPECT_EQ(*withDevices("", none), "");
}

TEST(PodResources, AllocationsBecomeDevicesOfPlugins) {
  const auto pod = allocated(
      "p", R"({"gpu":[{"minor":0,"id":"GPU-1"}],"rdma":[{"minor":1,"id":"x","extension":)"
           R"({"vfs":[{"minor":0,"busID":"0000:1f:00.2"}]}}],"fpga":[{"minor":0,"id":"f"}]})");
  const auto given = api::parseDeviceAllocations(pod->meta.annotations);
  ASSERT_TRUE(given && *given);
  EXPECT_EQ(devicesOf(**given), (AddedDevices{{"koordinator.sh/rdma", {"0000:1f:00.2"}},
                                              {"nvidia.com/gpu", {"GPU-1"}}}));
}

// Answers every method with what it was told to.
class Kubelet {
 public:
  explicit Kubelet(const std::string& path) : end_(::eventfd(0, 0)) {
    auto listener = net::listenGrpc(path);
    EXPECT_TRUE(listener) << listener.error().text();
    listener_ = *std::move(listener);
    thread_ = std::thread([this] {
      for (;;) {
        UniqueFd socket(::accept(listener_.get(), nullptr, nullptr));
        if (!socket) return;
        net::grpcServe(
            std::move(socket),
            [&](const std::string& method, const std::string& message) -> net::GrpcReply {
              if (method.ends_with("Boom")) return {{}, false, 12, "no such method"};
              return {.message = method.ends_with("Echo") ? message : list};
            },
            end_.get());
      }
    });
  }
  ~Kubelet() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string list;

 private:
  UniqueFd listener_, end_;
  std::thread thread_;
};

TEST(PodResources, TheProxyAddsToListAndGetAndPassesTheRest) {
  const kernel::FakeRoot place;
  Kubelet kubelet(place.path() / "k.sock");
  // Larger than one window of HTTP/2.
  kubelet.list = listOf({podOf("gpu", {"a"}), podOf(std::string(300'000, 'x'), {"b"})});
  auto proxy = PodResourcesProxy::start(
      {.dir = place.path() / "proxy", .kubelet = place.path() / "k.sock", .timeout = 5s});
  ASSERT_TRUE(proxy) << proxy.error().text();
  PodBook book;
  book.put(allocated("gpu", R"({"gpu":[{"minor":0,"id":"GPU-1"}]})"));
  (*proxy)->follow(book);
  const std::string socket = place.path() / "proxy/kubelet.sock";
  const auto call = [&](const char* method, const std::string& message) {
    return net::grpcCall(socket, std::string("/v1.PodResourcesLister/") + method, message, 5s);
  };
  for (const char* method : {"List", "Get"}) {
    const auto reply = call(method, "");
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->status, 0) << reply->text;
    EXPECT_NE(reply->message.find("GPU-1"), std::string::npos);
    EXPECT_GT(reply->message.size(), 300'000u);
  }
  EXPECT_EQ(call("GetAllocatableResources", "")->message, kubelet.list);
  EXPECT_EQ(call("Echo", std::string(200'000, 'y'))->message.size(), 200'000u);
  EXPECT_EQ(call("Boom", "")->status, 12) << "refusals are passed on";
}

TEST(PodResources, WithoutAKubeletCallersAreTold) {
  const kernel::FakeRoot place;
  auto proxy = PodResourcesProxy::start(
      {.dir = place.path() / "proxy", .kubelet = place.path() / "none.sock", .timeout = 1s});
  ASSERT_TRUE(proxy);
  const auto reply =
      net::grpcCall(place.path() / "proxy/kubelet.sock", "/v1.PodResourcesLister/List", "", 5s);
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->status, 14);
  EXPECT_FALSE(net::grpcCall(place.path() / "none.sock", "/x/Y", "", 1s));
}

}  // namespace
}  // namespace mangrove::agent
