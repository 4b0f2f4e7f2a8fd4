#include "runtime/shim/shim_container.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/text/strings.h"
#include "kernel/sys_root.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kRead = 32 * 1024;
constexpr size_t kMaxMessageFile = 4096;  // what Kubernetes keeps of a termination message
constexpr size_t kMaxAttachFrame = 1024 * 1024;

Result<std::pair<UniqueFd, UniqueFd>> makePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return failErrno(errno, "pipe");
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

void setNonBlocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// Waits for the other end to close or to say a sentence.
std::string readSentence(int fd) {
  std::string out(4096, '\0');
  ssize_t n = 0;
  do {
    n = ::read(fd, out.data(), out.size());
  } while (n < 0 && errno == EINTR);
  out.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return out;
}

}  // namespace

std::string attachFrame(AttachKind kind, std::string_view data) {
  std::string out(1, static_cast<char>(kind));
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(data.size() >> shift);
  out += data;
  return out;
}

ShimContainer::ShimContainer(ContainerSpecFile spec, Clock& clock)
    : spec_(std::move(spec)),
      clock_(clock),
      log_(spec_.logPath, spec_.logMaxBytes, spec_.logMaxFiles, clock) {}

Result<> ShimContainer::openTerminal(std::list<UniqueFd>& childEnds, Stdio& stdio) {
  int master = -1, slave = -1;
  if (::openpty(&master, &slave, nullptr, nullptr, nullptr) < 0)
    return failErrno(errno, "terminal");
  tty_ = UniqueFd(master);
  childEnds.emplace_back(slave);
  ::fcntl(master, F_SETFD, FD_CLOEXEC);
  ::fcntl(slave, F_SETFD, FD_CLOEXEC);
  setNonBlocking(master);
  stdio = {slave, slave, slave, true};
  return {};
}

Result<Stdio> ShimContainer::openStdio(std::list<UniqueFd>& childEnds) {
  Stdio stdio;
  if (spec_.tty) {
    if (auto ok = openTerminal(childEnds, stdio); !ok) return pass(ok.error());
    return stdio;
  }
  auto out = makePipe(), err = makePipe();
  if (!out || !err) return fail(Code::kIo, "no pipe for the output");
  out_ = std::move(out->first);
  err_ = std::move(err->first);
  setNonBlocking(out_.get());
  setNonBlocking(err_.get());
  stdio.out = out->second.get();
  stdio.err = err->second.get();
  childEnds.push_back(std::move(out->second));
  childEnds.push_back(std::move(err->second));
  if (spec_.openStdin) {
    auto in = makePipe();
    if (!in) return pass(in.error());
    in_ = std::move(in->second);
    setNonBlocking(in_.get());
    childEnds.push_back(std::move(in->first));
  } else {
    childEnds.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  stdio.in = childEnds.back().get();
  return stdio;
}

Result<> ShimContainer::start(pid_t pidsOf, int users) {
  startedAt_ = clock_.wall();
  std::list<UniqueFd> childEnds;
  auto attempt = [&]() -> Result<> {
    if (auto ok = log_.open(); !ok) return ok;
    auto stdio = openStdio(childEnds);
    if (!stdio) return pass(stdio.error());
    auto started = startContainer(spec_, *stdio, pidsOf, users);
    if (!started) return pass(started.error());
    childEnds.clear();
    const std::string sentence = readSentence(started->trouble.get());
    if (sentence.empty()) {
      pid_ = started->pid;
      return {};
    }
    ::waitpid(started->pid, nullptr, 0);
    return fail(Code::kInvalid, "{}", sentence);
  };
  Result<> result = attempt();
  if (result) return result;
  trouble_ = result.error().text();
  ended_ = true;
  exitCode_ = 128;
  finishedAt_ = clock_.wall();
  return result;
}

void ShimContainer::onOutput(bool isErr) {
  UniqueFd& fd = isErr ? err_ : spec_.tty ? tty_ : out_;
  char buffer[kRead];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  if (n > 0) return output(isErr, {buffer, static_cast<size_t>(n)});
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // Everybody who could write has gone. A terminal stays for the sake of resizing.
  if (!spec_.tty || ended_) fd.reset();
  if (spec_.tty && n < 0 && errno == EIO) fd.reset();
}

void ShimContainer::output(bool isErr, std::string_view bytes) {
  log_.write(isErr, bytes);
  if (!attached_.empty())
    sendAttached(attachFrame(isErr ? AttachKind::kErr : AttachKind::kOut, bytes));
}

// Whoever cannot take it now is dropped: a container must not wait for a spectator.
void ShimContainer::sendAttached(const std::string& frame) {
  attached_.remove_if([&](Attached& client) {
    const ssize_t n = ::send(client.socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
    return n != static_cast<ssize_t>(frame.size());
  });
}

void ShimContainer::addAttached(UniqueFd socket) {
  setNonBlocking(socket.get());
  int size = 1024 * 1024;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  attached_.push_back({std::move(socket), ""});
}

bool ShimContainer::onAttachedInput(Attached& client) {
  char buffer[kRead];
  const ssize_t n = ::recv(client.socket.get(), buffer, sizeof buffer, 0);
  if (n < 0 && errno == EAGAIN) return true;
  if (n <= 0) return false;
  client.in.append(buffer, static_cast<size_t>(n));
  for (;;) {
    if (client.in.size() < 5) return true;
    size_t length = 0;
    for (size_t i = 1; i < 5; ++i) length = length << 8 | static_cast<unsigned char>(client.in[i]);
    if (length > kMaxAttachFrame) return false;
    if (client.in.size() < 5 + length) return true;
    input(static_cast<AttachKind>(client.in[0]), std::string_view(client.in).substr(5, length));
    client.in.erase(0, 5 + length);
  }
}

void ShimContainer::input(AttachKind kind, std::string_view data) {
  const int fd = spec_.tty ? tty_.get() : in_.get();
  if (kind == AttachKind::kInEnd) {
    if (spec_.stdinOnce) in_.reset();
    return;
  }
  if (kind != AttachKind::kIn || fd < 0) return;
  // A process that does not read its input gets a second, then the rest is lost.
  for (size_t at = 0; at < data.size();) {
    const ssize_t n = ::write(fd, data.data() + at, data.size() - at);
    if (n > 0) {
      at += static_cast<size_t>(n);
      continue;
    }
    pollfd wait{fd, POLLOUT, 0};
    if (errno != EAGAIN || ::poll(&wait, 1, 1000) <= 0) return;
  }
}

void ShimContainer::resize(uint16_t columns, uint16_t rows) {
  if (!spec_.tty || !tty_) return;
  winsize size{rows, columns, 0, 0};
  ::ioctl(tty_.get(), TIOCSWINSZ, &size);
}

void ShimContainer::signal(int number) {
  if (running()) ::kill(pid_, number);
}

void ShimContainer::drain() {
  for (bool isErr : {false, true}) {
    for (int rounds = 0; rounds < 64; ++rounds) {
      const int fd = isErr ? errFd() : outFd();
      pollfd ready{fd, POLLIN, 0};
      if (fd < 0 || ::poll(&ready, 1, 0) <= 0) break;
      onOutput(isErr);
    }
  }
}

bool ShimContainer::sawOom() const {
  const kernel::SysRoot root;
  char buffer[4096];
  for (const auto& dir : spec_.cgroups) {
    for (const char* file : {"/memory.oom_control", "/memory.events"}) {
      auto n = root.read(dir + file, buffer);
      if (!n || !*n) continue;
      for (auto line : split(std::string_view(buffer, **n), '\n'))
        if (line.starts_with("oom_kill ") && line != "oom_kill 0") return true;
    }
  }
  return false;
}

void ShimContainer::onExit(int status) {
  drain();
  ended_ = true;
  finishedAt_ = clock_.wall();
  signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  exitCode_ = WIFSIGNALED(status) ? 128 + signal_ : WEXITSTATUS(status);
  oom_ = exitCode_ != 0 && sawOom();  // also when a child was killed and its parent gave up
  log_.finish();
  out_.reset();
  err_.reset();
  in_.reset();
  tty_.reset();
  sendAttached(attachFrame(AttachKind::kExit, std::to_string(exitCode_)));
  attached_.clear();
}

json::Object ShimContainer::state() const {
  json::Object out{{"container", spec_.name},  {"id", spec_.id},
                   {"attempt", spec_.attempt}, {"pid", pid_},
                   {"running", running()},     {"startedAt", formatMicroTime(startedAt_)}};
  if (!ended_) return out;
  out["finishedAt"] = formatMicroTime(finishedAt_);
  out["exitCode"] = exitCode_;
  out["signal"] = signal_;
  out["oom"] = oom_;
  if (!trouble_.empty()) out["trouble"] = trouble_;
  auto message = readFile(spec_.scratch + "/termination-log");
  if (message && !message->empty())
    out["message"] = std::string_view(*message).substr(0, kMaxMessageFile);
  return out;
}

}  // namespace mangrove::runtime
