#include <cerrno>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/text/strings.h"
#include "runtime/node/sessions/sessions.h"
#include "runtime/shim/shim_container.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kRead = 32 * 1024;
constexpr Bytes kEnoughQueued = kMiB;

using frame::Session;
using frame::SessionInput;

// Loop thread, but for the callbacks, which post.
class AttachPump : public std::enable_shared_from_this<AttachPump> {
 public:
  AttachPump(FdLoop& loop, std::unique_ptr<Session> session, UniqueFd socket,
             std::function<void(uint16_t, uint16_t)> resize)
      : loop_(loop),
        session_(std::move(session)),
        socket_(std::move(socket)),
        resize_(std::move(resize)) {}

  void begin() {
    ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
    session_->onDrained([weak = weak_from_this(), &loop = loop_] {
      loop.post([weak] {
        auto self = weak.lock();
        if (self && self->socket_) self->interest();
      });
    });
    loop_.watch(socket_.get(), EPOLLIN,
                [self = shared_from_this()](uint32_t events) { self->ready(events); });
    readInput();
  }

 private:
  void interest() {
    const bool full = session_ && session_->queued() > kEnoughQueued;
    loop_.change(socket_.get(),
                 (full ? 0u : uint32_t{EPOLLIN}) | (pending_.empty() ? 0u : uint32_t{EPOLLOUT}));
  }

  void ready(uint32_t events) {
    if (events & EPOLLOUT) writePending();
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)) || !socket_) return;
    char buffer[kRead];
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return finish({std::nullopt, "the container's streams have ended"});
    in_.append(buffer, static_cast<size_t>(n));
    while (socket_ && takeFrame()) {
    }
    if (socket_) interest();
  }

  bool takeFrame() {
    if (in_.size() < 5) return false;
    size_t length = 0;
    for (size_t i = 1; i < 5; ++i) length = length << 8 | static_cast<unsigned char>(in_[i]);
    if (in_.size() < 5 + length) return false;
    const auto kind = static_cast<AttachKind>(in_[0]);
    const std::string data = in_.substr(5, length);
    in_.erase(0, 5 + length);
    if (kind == AttachKind::kExit) {
      finish({parseInt<int>(data).value_or(0), ""});
    } else if (!session_->write(
                   kind == AttachKind::kErr ? Session::Channel::kErr : Session::Channel::kOut,
                   data)) {
      close();
    }
    return true;
  }

  void readInput() {
    if (!session_) return;
    session_->read([weak = weak_from_this(), &loop = loop_](SessionInput input) {
      loop.post([weak, input = std::move(input)]() mutable {
        if (auto self = weak.lock()) self->onInput(std::move(input));
      });
    });
  }

  void onInput(SessionInput input) {
    if (!socket_) return;
    switch (input.kind) {
      case SessionInput::Kind::kGone:
        return close();
      case SessionInput::Kind::kResize:
        resize_(input.columns, input.rows);
        return readInput();
      case SessionInput::Kind::kEndOfInput:
        pending_ += attachFrame(AttachKind::kInEnd, "");
        break;
      case SessionInput::Kind::kData:
        pending_ += attachFrame(AttachKind::kIn, input.data);
        break;
    }
    writePending();
  }

  void writePending() {
    while (!pending_.empty()) {
      const ssize_t n = ::send(socket_.get(), pending_.data(), pending_.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN) return interest();
      if (n <= 0) return close();
      pending_.erase(0, static_cast<size_t>(n));
    }
    interest();
    readInput();
  }

  void finish(const frame::SessionEnd& end) {
    if (session_) session_->finish(end);
    close();
  }

  void close() {
    if (!socket_) return;
    loop_.forget(socket_.get());
    socket_.reset();
    session_.reset();
  }

  FdLoop& loop_;
  std::unique_ptr<Session> session_;
  UniqueFd socket_;
  std::function<void(uint16_t, uint16_t)> resize_;
  std::string in_, pending_;
};

}  // namespace

void startAttach(FdLoop& loop, std::unique_ptr<Session> session, UniqueFd socket,
                 std::function<void(uint16_t, uint16_t)> resize) {
  auto pump =
      std::make_shared<AttachPump>(loop, std::move(session), std::move(socket), std::move(resize));
  loop.post([pump] { pump->begin(); });
}

}  // namespace mangrove::runtime
