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
constexpr size_t kTcpRoom = 65'535;
constexpr size_t kMostCallers = 128;
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

Result<UniqueFd> bound(int kind, const sockaddr_in& address) {
  UniqueFd fd(::socket(AF_INET, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!fd || ::bind(fd.get(), plain(address), sizeof address) != 0) return failErrno(errno, "bind");
  return fd;
}

struct Sockets {
  UniqueFd datagrams, listener;
  uint16_t port = 0;
};

// Both on one port.
Result<Sockets> openSockets(sockaddr_in address) {
  auto datagrams = bound(SOCK_DGRAM, address);
  if (!datagrams) return pass(datagrams.error());
  socklen_t size = sizeof address;
  ::getsockname(datagrams->get(), reinterpret_cast<sockaddr*>(&address), &size);
  auto listener = bound(SOCK_STREAM, address);
  if (!listener) return listener.error().in("over TCP");
  if (::listen(listener->get(), 16) != 0) return failErrno(errno, "listen");
  return Sockets{std::move(*datagrams), std::move(*listener), ntohs(address.sin_port)};
}

// A port that is free for datagrams may be taken for connections: another one, where any will do.
Result<Sockets> openSomewhere(const sockaddr_in& address) {
  constexpr int kTries = 20;
  auto made = openSockets(address);
  for (int i = 1; i < kTries && !made && address.sin_port == 0; ++i) made = openSockets(address);
  return made;
}

// Somebody who asks over TCP: each message behind its length. Loop thread.
struct Caller {
  UniqueFd fd;
  std::string in;
  MonoTime at;
};

// Where an answer goes: a datagram's sender, or a connection.
struct Asker {
  sockaddr_in from{};
  std::shared_ptr<Caller> caller = nullptr;
};

class Server final : public NameServer, public std::enable_shared_from_this<Server> {
 public:
  Server(FdLoop& loop, UniqueFd fd, UniqueFd listener, uint16_t port, const NameBook& book,
         std::vector<sockaddr_in> others)
      : loop_(loop),
        fd_(std::move(fd)),
        listener_(std::move(listener)),
        port_(port),
        book_(book),
        others_(std::move(others)) {}
  void begin() {
    loop_.post([self = shared_from_this()] {
      self->loop_.watch(self->fd_.get(), EPOLLIN, [self](uint32_t) { self->ready(); });
      self->loop_.watch(self->listener_.get(), EPOLLIN, [self](uint32_t) { self->accept(); });
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
    Asker from;
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
        answer(*question, {from});
    }
  }

  void accept() {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    forgetOld();
    if (!fd || callers_.size() >= kMostCallers) return;
    const int number = fd.get();
    callers_[number] = std::make_shared<Caller>(Caller{std::move(fd), {}, realClock().mono()});
    loop_.watch(number, EPOLLIN,
                [self = shared_from_this(), number](uint32_t) { self->hear(number); });
  }

  void hear(int number) {
    const auto caller = callers_[number];
    char buffer[kDatagram];
    const ssize_t n = ::recv(number, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return hangUp(number);
    caller->at = realClock().mono();
    caller->in.append(buffer, static_cast<size_t>(n));
    for (;;) {
      const std::string& in = caller->in;
      if (in.size() < 2) return;
      const size_t size =
          size_t{static_cast<unsigned char>(in[0])} << 8 | static_cast<unsigned char>(in[1]);
      if (in.size() < 2 + size) return;
      auto question = dns::readQuestion(std::string_view(in).substr(2, size));
      caller->in.erase(0, 2 + size);
      if (!question) return hangUp(number);
      question->room = kTcpRoom;
      answer(*question, {{}, caller});
    }
  }

  void hangUp(int number) {
    loop_.forget(number);
    callers_.erase(number);
  }

  // An answer is a few hundred bytes: who does not take that has gone.
  void send(const Asker& to, std::string_view bytes) {
    if (!to.caller) {
      (void)!::sendto(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL, plain(to.from),
                      sizeof to.from);
      return;
    }
    std::string framed{static_cast<char>(bytes.size() >> 8), static_cast<char>(bytes.size())};
    framed += bytes;
    if (to.caller->fd)
      (void)!::send(to.caller->fd.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
  }

  void answer(const dns::Question& question, const Asker& from) {
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

  void reply(const dns::Question& question, const dns::Reply& what, const Asker& to) {
    send(to, dns::writeAnswer(question, what));
  }

  void ask(const dns::Question& question, const Asker& from, std::string alias) {
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
    if (asked.alias.empty()) return send(asked.from, bytes);
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
    for (auto at = callers_.begin(); at != callers_.end();) {
      const auto next = std::next(at);
      if (now - at->second->at > kPatience * 2) hangUp(at->first);
      at = next;
    }
  }
  void end() {
    while (!asked_.empty()) forget(asked_.begin());
    while (!callers_.empty()) hangUp(callers_.begin()->first);
    for (UniqueFd* fd : {&fd_, &listener_}) {
      if (!*fd) continue;
      loop_.forget(fd->get());
      fd->reset();
    }
  }

  FdLoop& loop_;
  UniqueFd fd_, listener_;
  const uint16_t port_;
  const NameBook& book_;
  const std::vector<sockaddr_in> others_;
  size_t turn_ = 0;
  std::map<int, Asked> asked_;
  std::map<int, std::shared_ptr<Caller>> callers_;
};

}  // namespace

Result<std::shared_ptr<NameServer>> NameServer::open(FdLoop& loop, const std::string& ip,
                                                     uint16_t port, const NameBook& book,
                                                     std::vector<std::string> others,
                                                     uint16_t othersPort) {
  auto address = placeOf(ip, port);
  if (!address) return pass(address.error());
  auto sockets = openSomewhere(*address);
  if (!sockets) return sockets.error().in("names on {}:{}", ip, port);
  std::vector<sockaddr_in> places;
  for (const std::string& one : others) {
    if (auto place = placeOf(one, othersPort); place && one != ip) places.push_back(*place);
  }
  auto made =
      std::make_shared<Server>(loop, std::move(sockets->datagrams), std::move(sockets->listener),
                               sockets->port, book, std::move(places));
  made->begin();
  return std::shared_ptr<NameServer>(made);
}

}  // namespace mangrove::runtime
