#include "runtime/node/network/name_server.h"

#include <cerrno>
#include <map>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "runtime/node/network/address.h"

namespace mangrove::runtime {
namespace {

constexpr size_t kDatagram = 4096;
constexpr size_t kMostOpen = 256;  // questions that others have not answered yet
constexpr Duration kPatience = std::chrono::seconds(5);
constexpr int kAtATime = 64;  // then others of the loop have their turn

const sockaddr* plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// An answer about another name, with the alias in front by which it was asked.
dns::Reply aliased(const std::string& alias, const std::string& name, dns::Reply about) {
  about.records.insert(about.records.begin(), {alias, dns::kTypeCname, 5, name});
  return about;
}

class Server final : public NameServer, public std::enable_shared_from_this<Server> {
 public:
  Server(FdLoop& loop, UniqueFd fd, uint16_t port, const NameBook& book,
         std::vector<sockaddr_in> others)
      : loop_(loop), fd_(std::move(fd)), port_(port), book_(book), others_(std::move(others)) {}
  void begin() {
    loop_.post([self = shared_from_this()] {
      self->loop_.watch(self->fd_.get(), EPOLLIN, [self](uint32_t) { self->ready(); });
    });
  }
  uint16_t port() const override { return port_; }
  void close() override {
    loop_.post([self = shared_from_this()] { self->end(); });
  }

 private:
  // Asked of somebody else. `alias`: the asker's own name for what was asked; "": none.
  struct Asked {
    UniqueFd fd;
    sockaddr_in from{};
    dns::Question question;
    std::string alias;
    MonoTime at;
  };

  void ready() {
    char buffer[kDatagram];
    for (int i = 0; i < kAtATime; ++i) {
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t n = ::recvfrom(fd_.get(), buffer, sizeof buffer, 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
      if (n < 0) return;
      if (auto question = dns::readQuestion({buffer, static_cast<size_t>(n)}))
        answer(*question, from);
    }
  }

  void answer(const dns::Question& question, const sockaddr_in& from) {
    const auto own = book_.answer(question);
    if (!own) return ask(question, from, "");
    const auto alias = book_.aliasOf(question);
    if (!alias) return reply(question, *own, from);
    dns::Question other = question;
    other.name = *alias;
    const auto known = book_.answer(other);
    if (!known) return ask(other, from, question.name);
    reply(question, aliased(question.name, other.name, *known), from);
  }

  void reply(const dns::Question& question, const dns::Reply& what, const sockaddr_in& to) {
    const std::string bytes = dns::writeAnswer(question, what);
    (void)!::sendto(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL, plain(to), sizeof to);
  }

  void ask(const dns::Question& question, const sockaddr_in& from, std::string alias) {
    forgetOld();
    if (others_.empty() || asked_.size() >= kMostOpen)
      return reply(question, {dns::Code::kRefused, false, {}}, from);
    const sockaddr_in& other = others_[turn_ % others_.size()];
    UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const std::string bytes = dns::writeQuestion(question);
    const bool sent = fd && ::connect(fd.get(), plain(other), sizeof other) == 0 &&
                      ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
    if (!sent) return reply(question, {dns::Code::kServerFailure, false, {}}, from);
    const int number = fd.get();
    asked_.emplace(number,
                   Asked{std::move(fd), from, question, std::move(alias), realClock().mono()});
    loop_.watch(number, EPOLLIN,
                [self = shared_from_this(), number](uint32_t) { self->heard(number); });
  }

  void heard(int number) {
    const auto found = asked_.find(number);
    if (found == asked_.end()) return;
    char buffer[kDatagram];
    const ssize_t n = ::recv(number, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) ++turn_;  // nobody listens there: the next question goes to the next one
    if (n > 0) passOn(found->second, {buffer, static_cast<size_t>(n)});
    forget(found);
  }

  // As it came, unless it was asked by another name.
  void passOn(const Asked& asked, std::string_view bytes) {
    if (asked.alias.empty()) {
      (void)!::sendto(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL, plain(asked.from),
                      sizeof asked.from);
      return;
    }
    auto told = dns::readAnswer(bytes);
    if (!told) return;
    dns::Question question = asked.question;
    question.name = asked.alias;
    reply(question, aliased(asked.alias, asked.question.name, *told), asked.from);
  }

  void forget(std::map<int, Asked>::iterator asked) {
    loop_.forget(asked->first);
    asked_.erase(asked);
  }
  void forgetOld() {
    const MonoTime now = realClock().mono();
    for (auto at = asked_.begin(); at != asked_.end();) {
      const auto next = std::next(at);
      if (now - at->second.at > kPatience) {
        ++turn_;
        forget(at);
      }
      at = next;
    }
  }
  void end() {
    while (!asked_.empty()) forget(asked_.begin());
    if (!fd_) return;
    loop_.forget(fd_.get());
    fd_.reset();
  }

  FdLoop& loop_;
  UniqueFd fd_;
  const uint16_t port_;
  const NameBook& book_;
  const std::vector<sockaddr_in> others_;
  size_t turn_ = 0;
  std::map<int, Asked> asked_;
};

}  // namespace

Result<std::shared_ptr<NameServer>> NameServer::open(FdLoop& loop, const std::string& ip,
                                                     uint16_t port, const NameBook& book,
                                                     std::vector<std::string> others,
                                                     uint16_t othersPort) {
  auto address = placeOf(ip, port);
  if (!address) return pass(address.error());
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), plain(*address), sizeof *address) != 0)
    return failErrno(errno, fmt::format("names on {}:{}", ip, port));
  socklen_t size = sizeof *address;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&*address), &size);
  std::vector<sockaddr_in> places;
  for (const std::string& one : others) {
    if (auto place = placeOf(one, othersPort); place && one != ip) places.push_back(*place);
  }
  auto made = std::make_shared<Server>(loop, std::move(fd), ntohs(address->sin_port), book,
                                       std::move(places));
  made->begin();
  return std::shared_ptr<NameServer>(made);
}

}  // namespace mangrove::runtime
