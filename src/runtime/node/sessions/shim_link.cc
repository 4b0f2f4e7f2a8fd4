#include "runtime/node/sessions/shim_link.h"

#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/node/pods/pod_prep.h"

namespace mangrove::runtime {

namespace {

constexpr int kListenFd = 3;

// Files and attributes of the child, released at the end.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

Result<pid_t> spawnShim(const ShimStart& start, int listener) {
  SpawnSetup setup;
  const std::string log = start.dir + "/shim.log";
  posix_spawn_file_actions_addopen(&setup.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&setup.actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0640);
  posix_spawn_file_actions_adddup2(&setup.actions, 1, 2);
  posix_spawn_file_actions_adddup2(&setup.actions, listener, kListenFd);
  std::vector<std::string> words = {start.program, "pod-shim", "--dir=" + start.dir,
                                    "--listen-fd=" + std::to_string(kListenFd),
                                    "--hostname=" + start.hostname};
  if (start.ownNetwork) words.push_back("--own-network");
  if (start.ownUser) words.push_back("--own-user");
  if (start.firstUser > 0) words.push_back(fmt::format("--first-user={}", start.firstUser));
  if (start.ownIpc) words.push_back("--own-ipc");
  for (const auto& one : start.sysctls) words.push_back("--sysctl=" + one.name + "=" + one.value);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const char* path = ::getenv("PATH");
  std::string env = std::string("PATH=") + (path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
  char* envp[] = {env.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, start.program.c_str(), &setup.actions, &setup.attributes,
                                  argv.data(), envp);
  if (error != 0) return failErrno(error, "starting a shim with " + start.program);
  return pid;
}

// Takes the exit code of a shim that we started, whenever it ends.
void reapLater(FdLoop& loop, pid_t pid) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return;
  auto kept = std::make_shared<UniqueFd>(fd);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  loop.post([&loop, kept, pid] {
    loop.watch(kept->get(), EPOLLIN, [&loop, kept, pid](uint32_t) {
      ::waitpid(pid, nullptr, WNOHANG);
      loop.forget(kept->get());
      kept->reset();
    });
  });
}

}  // namespace

struct ShimLink::Shared : std::enable_shared_from_this<Shared> {
  Shared(Mailbox& o, UniqueFd s, Handler h)
      : owner(o), socket(std::move(s)), handler(std::move(h)) {}

  void onReadable(FdLoop& loop) {
    for (;;) {
      auto message = receiveMessage(socket.get());
      if (!message && message.error().code() == Code::kTimeout) return;
      const bool lost = !message && message.error().code() != Code::kInvalid;
      if (lost) loop.forget(socket.get());
      owner.post(
          [self = shared_from_this(), m = std::make_shared<Result<Message>>(std::move(message))]() {
            if (self->open) self->handler(std::move(*m));
          });
      if (lost) return;
    }
  }

  Mailbox& owner;
  UniqueFd socket;
  Handler handler;
  std::atomic<bool> open = true;
};

ShimLink::ShimLink(FdLoop& loop, Mailbox& owner, UniqueFd socket, Handler handler)
    : loop_(loop),
      owner_(owner),
      shared_(std::make_shared<Shared>(owner, std::move(socket), std::move(handler))) {
  loop_.post([&loop, shared = shared_] {
    loop.watch(shared->socket.get(), EPOLLIN,
               [&loop, shared](uint32_t) { shared->onReadable(loop); });
  });
}

ShimLink::~ShimLink() {
  shared_->open = false;
  loop_.post([&loop = loop_, shared = shared_] { loop.forget(shared->socket.get()); });
}

Result<std::unique_ptr<ShimLink>> ShimLink::spawn(FdLoop& loop, Mailbox& owner,
                                                  const ShimStart& start, Handler handler) {
  auto listener = listenSeqpacket(start.dir + "/shim.sock");
  if (!listener) return pass(listener.error());
  // The shim polls it; ours stays as it is.
  auto pid = spawnShim(start, listener->get());
  if (!pid) return pass(pid.error());
  reapLater(loop, *pid);
  return adopt(loop, owner, start.dir, std::move(handler));
}

Result<std::unique_ptr<ShimLink>> ShimLink::adopt(FdLoop& loop, Mailbox& owner,
                                                  const std::string& dir, Handler handler) {
  auto socket = connectSeqpacket(dir + "/shim.sock");
  if (!socket) return pass(socket.error());
  std::unique_ptr<ShimLink> link(new ShimLink(loop, owner, std::move(*socket), std::move(handler)));
  if (auto ok = link->send({{"do", "state"}}); !ok) return pass(ok.error());
  return link;
}

Result<> ShimLink::start(const std::string& container, const BuiltContainer& built) {
  return send({{"do", "start"}, {"container", container}, {"spec", built.specPath}});
}

void ShimLink::signal(const std::string& container, int number, Duration) {
  (void)send({{"do", "signal"}, {"container", container}, {"signal", number}});
}

Result<> ShimLink::exec(const ExecWish& wish, const std::vector<int>& fds) {
  json::Array words;
  for (const auto& word : wish.argv) words.emplace_back(word);
  return send({{"do", "exec"},
               {"exec", wish.id},
               {"container", wish.container},
               {"tty", wish.tty},
               {"argv", std::move(words)}},
              fds);
}

void ShimLink::killExec(const std::string& id) {
  (void)send({{"do", "killExec"}, {"exec", id}});
}

Result<> ShimLink::attach(const std::string& container, int socket) {
  return send({{"do", "attach"}, {"container", container}}, {socket});
}

void ShimLink::resize(const std::string& container, uint16_t columns, uint16_t rows) {
  (void)send({{"do", "resize"}, {"container", container}, {"columns", columns}, {"rows", rows}});
}

// It ends when it reads this; what is left of its cgroup goes with the pod's.
void ShimLink::quit(Fn gone) {
  (void)send({{"do", "quit"}});
  owner_.post(std::move(gone));
}

Result<> ShimLink::send(const json::Object& body, const std::vector<int>& fds) {
  return sendMessage(shared_->socket.get(), body, fds);
}

}  // namespace mangrove::runtime
