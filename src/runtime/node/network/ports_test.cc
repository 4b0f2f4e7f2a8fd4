// Ports that stand for pods, on the loopback: connections, datagrams, host ports; the way out.
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/wire/decode.h"
#include "runtime/node/network/host_ports.h"
#include "runtime/node/network/port_listener.h"
#include "runtime/node/network/relay_room.h"
#include "runtime/node/network/way_out.h"

namespace mangrove::runtime {
namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

// A socket of ours on a free port.
struct Server {
  explicit Server(int type) : fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = loopback(0);
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    if (type == SOCK_STREAM) (void)::listen(fd.get(), 5);
    socklen_t size = sizeof at;
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
    port = ntohs(at.sin_port);
  }
  UniqueFd fd;
  uint16_t port = 0;
};

// A port that was free a moment ago.
uint16_t freePort(int type) {
  return Server(type).port;
}

UniqueFd connectTo(uint16_t port, int type) {
  UniqueFd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  timeval limit{10, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in at = loopback(port);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  return fd;
}

std::string receive(int fd) {
  char buffer[100];
  const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

TEST(PortListener, CarriesDatagramsBothWays) {
  FdLoop loop;
  Server pod(SOCK_DGRAM);
  const uint16_t port = freePort(SOCK_DGRAM);
  auto listener = PortListener::open(loop, "UDP", "127.0.0.1", port);
  ASSERT_TRUE(listener) << listener.error().text();
  (*listener)->setBackends({{"127.0.0.1", pod.port}});
  UniqueFd one = connectTo(port, SOCK_DGRAM), two = connectTo(port, SOCK_DGRAM);
  for (auto& [fd, word] : {std::pair(one.get(), "one"), std::pair(two.get(), "two")}) {
    ASSERT_EQ(::send(fd, word, 3, 0), 3);
    char buffer[100];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t n = ::recvfrom(pod.fd.get(), buffer, sizeof buffer, 0,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    ASSERT_EQ(std::string(buffer, static_cast<size_t>(n)), word);
    ::sendto(pod.fd.get(), "re", 2, 0, reinterpret_cast<sockaddr*>(&from), size);
    EXPECT_EQ(receive(fd), "re") << "each sender gets its own answers";
  }
  (*listener)->close();
}

TEST(PortListener, CarriesConnectionsInTurn) {
  FdLoop loop;
  Server a(SOCK_STREAM), b(SOCK_STREAM);
  const uint16_t port = freePort(SOCK_STREAM);
  auto listener = PortListener::open(loop, "TCP", "127.0.0.1", port);
  ASSERT_TRUE(listener) << listener.error().text();
  (*listener)->setBackends({{"127.0.0.1", a.port}, {"127.0.0.1", b.port}});
  for (Server* pod : {&a, &b, &a}) {
    UniqueFd client = connectTo(port, SOCK_STREAM);
    UniqueFd served(::accept(pod->fd.get(), nullptr, nullptr));
    ASSERT_EQ(::send(client.get(), "hi", 2, 0), 2);
    EXPECT_EQ(receive(served.get()), "hi");
  }
  EXPECT_FALSE(PortListener::open(loop, "TCP", "127.0.0.1", port)) << "it is taken";
  EXPECT_FALSE(PortListener::open(loop, "SCTP", "127.0.0.1", 1)) << "nobody carries it";
  (*listener)->close();
}

TEST(RelayRoom, OneClientCannotTakeAll) {
  RelayRoom room(3, 2);
  auto first = room.take(1), second = room.take(1);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(room.take(1)) << "it has its share";
  auto other = room.take(2);
  EXPECT_TRUE(other);
  EXPECT_FALSE(room.take(3)) << "nothing is left";
  second.reset();
  auto third = room.take(3);
  EXPECT_TRUE(third);
  other.reset();
  EXPECT_TRUE(room.take(1)) << "what is given back is free again";
}

TEST(RelayRoom, IsGivenBackWhenAConnectionEnds) {
  FdLoop loop;
  Server pod(SOCK_STREAM);
  const uint16_t port = freePort(SOCK_STREAM);
  auto listener = PortListener::open(loop, "TCP", "127.0.0.1", port);
  ASSERT_TRUE(listener) << listener.error().text();
  (*listener)->setBackends({{"127.0.0.1", pod.port}});
  UniqueFd client = connectTo(port, SOCK_STREAM);
  UniqueFd served(::accept(pod.fd.get(), nullptr, nullptr));
  std::vector<RelayRoom::Place> rest;
  const uint32_t us = htonl(INADDR_LOOPBACK);
  while (auto place = RelayRoom::ofProcess().take(us)) rest.push_back(std::move(place));
  UniqueFd late = connectTo(port, SOCK_STREAM);
  EXPECT_EQ(receive(late.get()), "") << "closed at once";
  client.reset();
  EXPECT_EQ(receive(served.get()), "");
  served.reset();
  RelayRoom::Place freed;  // a moment later, when the loop has heard of both ends
  while (!(freed = RelayRoom::ofProcess().take(us))) std::this_thread::yield();
  (*listener)->close();
}

TEST(HostPorts, AreThoseOfPodsWithAnAddress) {
  auto read = [](std::string_view spec) {
    auto pod = api::decodeText<RunPod>(
        R"({"metadata":{"name":"a","namespace":"d","uid":"u"},"spec":)" + std::string(spec) + "}");
    EXPECT_TRUE(pod) << pod.error().text();
    return *pod;
  };
  const char* ports =
      R"("containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":8080},
         {"containerPort":53,"hostPort":53,"protocol":"UDP","hostIP":"127.0.0.1"},
         {"containerPort":9}]}])";
  const auto pod = read("{" + std::string(ports) + "}");
  EXPECT_EQ(hostPortsOf(*pod.pod.spec),
            (std::vector<HostPort>{{"TCP", "0.0.0.0", 8080, 80}, {"UDP", "127.0.0.1", 53, 53}}));
  const auto host = read("{\"hostNetwork\":true," + std::string(ports) + "}");
  EXPECT_TRUE(hostPortsOf(*host.pod.spec).empty()) << "its ports are the machine's already";
}

TEST(WayOut, CommandsCloseWhatTheyOpen) {
  const WayOutOptions options{"mangrove0", "10.88.0.0/16"};
  EXPECT_EQ(openCommands("nft", options).back(),
            (Words{"add", "rule", "ip", "mangrove_mangrove0", "out", "ip", "saddr", "10.88.0.0/16",
                   "ip", "daddr", "!=", "10.88.0.0/16", "masquerade"}));
  EXPECT_EQ(openCommands("iptables", options).size(), closeCommands("iptables", options).size());
  EXPECT_FALSE(runProgram("/no/such/program", {}));
  EXPECT_TRUE(runProgram("/bin/true", {}));
  auto failed = runProgram("/bin/sh", {"-c", "echo sorry >&2; exit 3"});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text().find("sorry"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::runtime
