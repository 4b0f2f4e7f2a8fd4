#define BOOST_ASIO_DISABLE_FENCED_BLOCK  // see io_thread.h

#include "net/server/listener.h"

#include <cerrno>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/os/log.h"

namespace mangrove::net {
namespace asio = boost::asio;
using boost::system::error_code;

namespace {
const Logger& logger() {
  static const Logger log("net");
  return log;
}
// Long enough not to spin, short enough that a freed descriptor is used soon.
constexpr Duration kPause = std::chrono::milliseconds(100);
// Then others on this thread get their turn.
constexpr int kBatch = 64;

bool isExhaustion(int errnum) {
  return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS || errnum == ENOMEM;
}
}  // namespace

struct Listener::Impl : std::enable_shared_from_this<Impl> {
  Impl(IoThread& thread, UniqueFd fd, OnAccept accept, OnPause pause)
      : io(thread),
        socket(thread.context(), fd.release()),
        onAccept(std::move(accept)),
        onPause(std::move(pause)) {}

  void wait() {
    if (!socket.is_open()) return;
    socket.async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](error_code error) {
                        if (!error) self->acceptSome();
                      });
  }

  void acceptSome() {
    for (int i = 0; i < kBatch && socket.is_open(); ++i) {
      auto accepted = acceptOne(socket.native_handle());
      if (accepted) {
        paused = false;
        onAccept(std::move(*accepted));
      } else if (isExhaustion(accepted.error().detail())) {
        return pause(accepted.error());
      } else if (accepted.error().detail() == EAGAIN) {
        break;
      }  // anything else concerns only the connection that went away before we took it
    }
    wait();
  }

  void pause(const Error& error) {
    // Once per shortage.
    if (!paused) logger().warn("cannot accept connections: {}; trying again later", error.text());
    paused = true;
    onPause();
    retry.emplace(io, [this] { acceptAgain(); });
    retry->in(kPause);
  }

  void acceptAgain() {
    auto self = shared_from_this();
    acceptSome();
  }

  void stop() {
    error_code ignored;
    socket.close(ignored);
    retry.reset();
  }

  IoThread& io;
  asio::posix::stream_descriptor socket;
  OnAccept onAccept;
  OnPause onPause;
  std::optional<Deadline> retry;
  bool paused = false;
};

Listener::Listener(IoThread& io, UniqueFd fd, OnAccept onAccept, OnPause onPause)
    : impl_(std::make_shared<Impl>(io, std::move(fd), std::move(onAccept), std::move(onPause))) {}
Listener::~Listener() = default;
void Listener::start() {
  impl_->wait();
}
void Listener::stop() {
  impl_->stop();
}

}  // namespace mangrove::net
