#include <cerrno>

#include <fcntl.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/node/sessions/sessions.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kRead = 32 * 1024;
constexpr Bytes kEnoughQueued = kMiB;
// Children that keep the pipes open must not keep the client waiting.
constexpr Duration kDrainLimit = std::chrono::seconds(1);

void nonBlocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Result<> addPipe(std::vector<UniqueFd>& theirs, UniqueFd& ours, bool weRead) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return failErrno(errno, "pipe");
  ours = UniqueFd(ends[weRead ? 0 : 1]);
  theirs.emplace_back(ends[weRead ? 1 : 0]);
  nonBlocking(ours.get());
  return {};
}

using frame::Session;
using frame::SessionInput;

// Loop thread, but for exited() and the callbacks, which post.
class Pump final : public ExecSession, public std::enable_shared_from_this<Pump> {
 public:
  Pump(FdLoop& loop, Clock& clock, std::unique_ptr<Session> session, ExecPipes pipes)
      : loop_(loop), clock_(clock), session_(std::move(session)), pipes_(std::move(pipes)) {}

  void begin() {
    pipes_.theirs.clear();
    session_->onDrained([weak = weak_from_this(), &loop = loop_] {
      loop.post([weak] {
        if (auto self = weak.lock()) self->resume();
      });
    });
    watchOutput(pipes_.out, Session::Channel::kOut);
    watchOutput(pipes_.err, Session::Channel::kErr);
    readInput();
  }

  void exited(frame::SessionEnd end) override {
    loop_.post([self = shared_from_this(), end = std::move(end)] {
      self->end_ = end;
      self->finishIfDone();
      self->limit_ =
          self->clock_.after(kDrainLimit, [self] { self->loop_.post([self] { self->finish(); }); });
    });
  }

 private:
  void watchOutput(UniqueFd& fd, Session::Channel channel) {
    if (!fd) return;
    loop_.watch(fd.get(), EPOLLIN, [self = shared_from_this(), &fd, channel](uint32_t) {
      self->onOutput(fd, channel);
    });
  }

  void onOutput(UniqueFd& fd, Session::Channel channel) {
    char buffer[kRead];
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      closeFd(fd);
      return finishIfDone();
    }
    if (!session_) return;
    if (!session_->write(channel, {buffer, static_cast<size_t>(n)})) return gone();
    if (session_->queued() > kEnoughQueued) pause(true);
  }

  void pause(bool paused) {
    paused_ = paused;
    for (UniqueFd* fd : {&pipes_.out, &pipes_.err}) {
      const uint32_t more = fd == &pipes_.out && pipes_.tty && !pending_.empty() ? EPOLLOUT : 0u;
      if (*fd) loop_.change(fd->get(), (paused ? 0u : uint32_t{EPOLLIN}) | more);
    }
  }
  void resume() {
    if (paused_) pause(false);
  }

  void closeFd(UniqueFd& fd) {
    if (!fd) return;
    loop_.forget(fd.get());
    fd.reset();
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
    switch (input.kind) {
      case SessionInput::Kind::kGone:
        return gone();
      case SessionInput::Kind::kEndOfInput:
        if (!pipes_.tty) closeFd(pipes_.in);
        break;
      case SessionInput::Kind::kResize:
        resize(input.columns, input.rows);
        break;
      case SessionInput::Kind::kData:
        pending_ += input.data;
        return writeInput();
    }
    readInput();
  }

  void resize(uint16_t columns, uint16_t rows) {
    winsize size{rows, columns, 0, 0};
    if (pipes_.tty && pipes_.out) ::ioctl(pipes_.out.get(), TIOCSWINSZ, &size);
  }

  // The next input is read when this one is written: a process that does not read slows the client.
  void writeInput() {
    UniqueFd& fd = pipes_.tty ? pipes_.out : pipes_.in;
    while (fd && !pending_.empty()) {
      const ssize_t n = ::write(fd.get(), pending_.data(), pending_.size());
      if (n > 0) {
        pending_.erase(0, static_cast<size_t>(n));
        continue;
      }
      if (errno == EAGAIN) return waitWritable(fd);
      if (!pipes_.tty) closeFd(pipes_.in);
      break;
    }
    pending_.clear();
    readInput();
  }

  void waitWritable(UniqueFd& fd) {
    if (pipes_.tty) {
      // One descriptor for both directions: look again when the loop comes around.
      limitedRetry();
      return;
    }
    loop_.watch(fd.get(), EPOLLOUT, [self = shared_from_this(), &fd](uint32_t) {
      self->loop_.forget(fd.get());
      self->writeInput();
    });
  }
  void limitedRetry() {
    retry_ = clock_.after(std::chrono::milliseconds(20), [weak = weak_from_this(), &loop = loop_] {
      loop.post([weak] {
        if (auto self = weak.lock()) self->writeInput();
      });
    });
  }

  void finishIfDone() {
    if (end_ && !pipes_.out && !pipes_.err) finish();
  }

  void finish() {
    if (session_ && end_) session_->finish(*end_);
    gone();
  }

  void gone() {
    closeFd(pipes_.in);
    closeFd(pipes_.out);
    closeFd(pipes_.err);
    session_.reset();
    limit_.reset();
    retry_.reset();
  }

  FdLoop& loop_;
  Clock& clock_;
  std::unique_ptr<Session> session_;
  ExecPipes pipes_;
  std::string pending_;
  bool paused_ = false;
  std::optional<frame::SessionEnd> end_;
  Timer limit_, retry_;
};

}  // namespace

Result<ExecPipes> makeExecPipes(bool tty, bool wantsInput) {
  ExecPipes pipes;
  pipes.tty = tty;
  if (tty) {
    int master = -1, slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, nullptr) < 0)
      return failErrno(errno, "terminal");
    pipes.out = UniqueFd(master);
    pipes.theirs.emplace_back(slave);
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::fcntl(slave, F_SETFD, FD_CLOEXEC);
    nonBlocking(master);
    return pipes;
  }
  if (wantsInput) {
    if (auto ok = addPipe(pipes.theirs, pipes.in, false); !ok) return pass(ok.error());
  } else {
    pipes.theirs.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (auto ok = addPipe(pipes.theirs, pipes.out, true); !ok) return pass(ok.error());
  if (auto ok = addPipe(pipes.theirs, pipes.err, true); !ok) return pass(ok.error());
  return pipes;
}

std::shared_ptr<ExecSession> ExecSession::start(FdLoop& loop, Clock& clock,
                                                std::unique_ptr<Session> session, ExecPipes pipes) {
  auto pump = std::make_shared<Pump>(loop, clock, std::move(session), std::move(pipes));
  loop.post([pump] { pump->begin(); });
  return pump;
}

}  // namespace mangrove::runtime
