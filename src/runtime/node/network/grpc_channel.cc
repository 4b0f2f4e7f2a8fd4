#include "runtime/node/network/grpc_channel.h"

#include <cerrno>

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace mangrove::runtime {

namespace {

constexpr size_t kRead = 16 * 1024;

}  // namespace

std::shared_ptr<GrpcChannel> GrpcChannel::make(FdLoop& loop, Clock& clock, std::string authority,
                                               Connect connect) {
  return std::shared_ptr<GrpcChannel>(
      new GrpcChannel(loop, clock, std::move(authority), std::move(connect)));
}

void GrpcChannel::call(std::string method, std::string message, Duration timeout, Done done) {
  loop_.post([self = shared_from_this(), method = std::move(method), message = std::move(message),
              timeout, done = std::move(done)]() mutable {
    self->begin(method, std::move(message), timeout, std::move(done));
  });
}

void GrpcChannel::close() {
  loop_.post([self = shared_from_this()] {
    self->calls_.clear();
    self->lost(Error(Code::kCancelled, "closed"));
  });
}

void GrpcChannel::begin(const std::string& method, std::string message, Duration timeout,
                        Done done) {
  if (auto ok = socket_ ? Result<>() : open(); !ok) return done(pass(ok.error()));
  const int32_t id = wire_->request(authority_, method, std::move(message));
  if (id < 0) return done(fail(Code::kUnavailable, "{}: the peer takes no calls", method));
  Timer limit = clock_.after(timeout, [weak = weak_from_this(), connection = connection_, id] {
    auto self = weak.lock();
    if (self) self->loop_.post([self, connection, id] { self->expire(connection, id); });
  });
  calls_[id] = {method, std::move(done), std::move(limit)};
  out_ += wire_->take();
  // Not sent here: a connection that is refused would tell that to the first who writes.
  loop_.change(socket_.get(), EPOLLIN | EPOLLOUT);
}

Result<> GrpcChannel::open() {
  auto socket = connect_();
  if (!socket) return pass(socket.error());
  socket_ = std::move(*socket);
  wire_ = std::make_unique<net::GrpcWire>(net::GrpcWire::Side::kClient);
  out_.clear();
  ++connection_;
  loop_.watch(socket_.get(), EPOLLIN | EPOLLOUT,
              [self = shared_from_this()](uint32_t) { self->ready(); });
  return {};
}

void GrpcChannel::ready() {
  auto keep = shared_from_this();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return lost(failErrno(error, "connect").value());
  const bool open = receive();
  settle();
  if (!socket_) return;
  if (!open) return lost(Error(Code::kUnavailable, "the connection ended without an answer"));
  send();
}

// False: nothing will come any more.
bool GrpcChannel::receive() {
  char buffer[kRead];
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
    if (n == 0 || !wire_->give({buffer, static_cast<size_t>(n)})) return false;
    out_ += wire_->take();
  }
}

void GrpcChannel::send() {
  while (!out_.empty()) {
    const ssize_t n = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n <= 0) break;
    out_.erase(0, static_cast<size_t>(n));
  }
  loop_.change(socket_.get(), out_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

// What `done` does may end the channel.
void GrpcChannel::settle() {
  std::vector<std::pair<int32_t, Call>> over;
  for (auto it = calls_.begin(); it != calls_.end();) {
    const auto next = std::next(it);
    if (wire_->stream(it->first).isOver()) {
      over.emplace_back(it->first, std::move(it->second));
      calls_.erase(it);
    }
    it = next;
  }
  std::vector<std::pair<Done, Result<net::GrpcReply>>> answers;
  for (auto& [id, call] : over) {
    auto reply = wire_->replyTo(id);
    if (!reply) reply = reply.error().in("{}", call.method);
    answers.emplace_back(std::move(call.done), std::move(reply));
  }
  std::erase_if(wire_->streams(),
                [&](const auto& one) { return one.second.closed && !calls_.contains(one.first); });
  for (auto& [done, reply] : answers) done(std::move(reply));
}

void GrpcChannel::expire(uint64_t connection, int32_t id) {
  auto found = calls_.find(id);
  if (connection != connection_ || found == calls_.end()) return;
  Call call = std::move(found->second);
  calls_.erase(found);
  wire_->cancel(id);
  out_ += wire_->take();
  send();
  call.done(fail(Code::kTimeout, "{}: no answer in time", call.method));
}

void GrpcChannel::lost(const Error& error) {
  if (socket_) loop_.forget(socket_.get());
  socket_.reset();
  auto calls = std::exchange(calls_, {});
  for (auto& [id, call] : calls) call.done(error.in("{}", call.method));
}

}  // namespace mangrove::runtime
