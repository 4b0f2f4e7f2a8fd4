// Two name servers on loopback: one that pods ask, and one that it asks for what it does not know.
#include "runtime/node/network/name_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "api/wire/decode.h"

namespace mangrove::runtime {
namespace {

std::shared_ptr<const ServiceView> service(std::string_view text) {
  return std::make_shared<const ServiceView>(*api::decodeText<ServiceView>(text));
}

// Sends the bytes and waits for an answer; "" when none comes.
std::string heardFrom(uint16_t port, const std::string& bytes) {
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  pollfd wait{fd.get(), POLLIN, 0};
  if (::poll(&wait, 1, 5000) != 1) return "";
  char buffer[4096];
  const ssize_t n = ::recv(fd.get(), buffer, sizeof buffer, 0);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

std::string addressOf(uint16_t port, const std::string& name) {
  const std::string bytes = heardFrom(port, dns::writeQuestion({9, true, name, dns::kTypeA, 512}));
  const auto reply = dns::readAnswer(bytes);
  if (!reply) return "no answer";
  if (reply->code != dns::Code::kNoError)
    return "code " + std::to_string(static_cast<int>(reply->code));
  return reply->records.empty() ? "nothing" : reply->records.back().data;
}

struct TwoServers : ::testing::Test {
  TwoServers() {
    near.put("d/web", service(R"({"spec":{"clusterIP":"10.96.0.7"}})"), nullptr);
    near.put("d/near", service(R"({"spec":{"externalName":"web.d.svc.cluster.local"}})"), nullptr);
    near.put("d/out", service(R"({"spec":{"externalName":"far.example"}})"), nullptr);
    outside = *NameServer::open(loop, "127.0.0.1", 0, far, {});
    inside = *NameServer::open(loop, "127.0.0.1", 0, near, {"127.0.0.1"}, outside->port());
  }
  ~TwoServers() override {
    inside->close();
    outside->close();
  }
  NameBook near, far;  // the one outside knows nothing
  FdLoop loop;
  std::shared_ptr<NameServer> outside, inside;
};

TEST_F(TwoServers, AnswersItsOwnAndFollowsAliases) {
  EXPECT_EQ(addressOf(inside->port(), "web.d.svc.cluster.local"), "10.96.0.7");
  EXPECT_EQ(addressOf(inside->port(), "near.d.svc.cluster.local"), "10.96.0.7");
  EXPECT_EQ(addressOf(inside->port(), "out.d.svc.cluster.local"), "code 5")
      << "as the one outside said";
  EXPECT_EQ(addressOf(inside->port(), "none.d.svc.cluster.local"), "code 3");
}

TEST_F(TwoServers, PassesTheAnswerOfOthersOn) {
  EXPECT_EQ(addressOf(inside->port(), "example.org"), "code 5") << "refused by the one outside";
  EXPECT_EQ(addressOf(outside->port(), "example.org"), "code 5") << "there is nobody it could ask";
}

TEST_F(TwoServers, AnswersOverTcpToo) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(inside->port());
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  // Two questions, the first in two pieces; the second is answered by the one outside.
  for (const char* name : {"web.d.svc.cluster.local", "example.org"}) {
    const std::string question = dns::writeQuestion({9, true, name, dns::kTypeA, 512});
    const std::string framed = std::string{'\0', static_cast<char>(question.size())} + question;
    ASSERT_EQ(::send(fd.get(), framed.data(), 5, 0), 5);
    ASSERT_GT(::send(fd.get(), framed.data() + 5, framed.size() - 5, 0), 0);
    unsigned char head[2];
    ASSERT_EQ(::recv(fd.get(), head, 2, MSG_WAITALL), 2);
    std::string answer(size_t{head[0]} << 8 | head[1], '\0');
    ASSERT_GT(::recv(fd.get(), answer.data(), answer.size(), MSG_WAITALL), 0);
    const auto reply = dns::readAnswer(answer);
    ASSERT_TRUE(reply);
    if (std::string_view(name) == "example.org")
      EXPECT_EQ(reply->code, dns::Code::kRefused);
    else
      EXPECT_EQ(reply->records.at(0).data, "10.96.0.7");
  }
}

TEST_F(TwoServers, GoesOnAfterNonsense) {
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(inside->port());
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  for (const std::string bytes : {"", "x", "0123456789abcdefghij"})
    ::sendto(fd.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
  EXPECT_EQ(addressOf(inside->port(), "web.d.svc.cluster.local"), "10.96.0.7");
}

}  // namespace
}  // namespace mangrove::runtime
