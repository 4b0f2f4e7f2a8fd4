#include "runtime/shim/shim.h"

#include <cerrno>
#include <csignal>
#include <list>
#include <map>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/pod/sysctls.h"
#include "base/clock.h"
#include "base/os/files.h"
#include "runtime/shim/message.h"
#include "runtime/shim/pod_net.h"
#include "runtime/shim/pod_users.h"
#include "runtime/shim/shim_container.h"
#include "runtime/shim/user_space.h"

namespace mangrove::runtime {

namespace {

constexpr int kIdleMs = 30'000;  // with nothing running and nobody connected

// The effective user of this scope; 0: ours.
class AsUser {
 public:
  explicit AsUser(int64_t user) : isOther_(user > 0 && ::seteuid(static_cast<uid_t>(user)) == 0) {}
  ~AsUser() {
    if (isOther_) (void)!::seteuid(0);
  }

 private:
  const bool isOther_;
};

class Shim {
 public:
  explicit Shim(const ShimOptions& options) : options_(options) {}

  int run() {
    if (auto ok = prepare(); !ok) {
      fmt::print(stderr, "mangrove pod-shim: {}\n", ok.error().text());
      return 1;
    }
    while (!quit_) {
      if (!turn()) break;
    }
    return 0;
  }

 private:
  Result<> prepare() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (int ignored : {SIGINT, SIGHUP, SIGTERM}) std::signal(ignored, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return failErrno(errno, "signalfd");
    if (auto ok = isolate(); !ok) return ok;
    if (auto ok = setSysctls(); !ok) trouble_ = ok.error().text();
    if (options_.listenFd >= 0) {
      listener_ = UniqueFd(options_.listenFd);
      ::fcntl(listener_.get(), F_SETFD, FD_CLOEXEC);
      return {};
    }
    auto fd = listenSeqpacket(options_.dir + "/shim.sock");
    if (!fd) return pass(fd.error());
    listener_ = std::move(*fd);
    return {};
  }

  // Users of the pod's own, and what they rule: network, IPC, host name.
  Result<> isolateWithUsers() {
    const int namespaces = (options_.ownNetwork ? CLONE_NEWNET : 0) |
                           (options_.ownIpc ? CLONE_NEWIPC | CLONE_NEWUTS : 0);
    auto users = makePodUsers(options_.firstUser, namespaces);
    if (!users) return users.error().in("users of the pod");
    users_ = std::move(*users);
    if (options_.ownNetwork)
      if (auto ok = bringUpLoopback(); !ok) return ok;
    if (options_.ownIpc) nameHost();
    return {};
  }

  void nameHost() const {
    if (options_.hostname.empty()) return;
    (void)!::sethostname(options_.hostname.c_str(), options_.hostname.size());
  }

  // What could not be had is told to the runner, which tells the user.
  Result<> isolate() {
    if (options_.firstUser > 0) return isolateWithUsers();
    if (options_.ownUser)
      if (auto ok = enterUserNamespace(); !ok) return ok;
    if (options_.ownNetwork) {
      if (::unshare(CLONE_NEWNET) < 0) {
        missing_ += "network ";
      } else if (auto ok = bringUpLoopback(); !ok) {
        return ok;
      }
    }
    if (options_.ownIpc && ::unshare(CLONE_NEWIPC) < 0) missing_ += "ipc ";
    if (options_.ownIpc && ::unshare(CLONE_NEWUTS) < 0) {
      missing_ += "uts ";
    } else if (options_.ownIpc) {
      nameHost();
    }
    return {};
  }

  // Below /proc/sys everybody sees the parameters of his own namespaces.
  Result<> setSysctls() const {
    for (const auto& [name, value] : options_.sysctls) {
      const std::string path = "/proc/sys/" + api::sysctlPath(name);
      // Of an IPC namespace only the root of its own users may write; the network's takes ours too.
      const AsUser owner(name.starts_with("kernel.") ? options_.firstUser : 0);
      UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!file || ::write(file.get(), value.data(), value.size()) < 0)
        return failErrno(errno, fmt::format("sysctl {} = {}", name, value));
    }
    return {};
  }

  struct Client {
    UniqueFd socket;
    bool gone = false;
  };

  // One round of poll; false when there is nothing left to stay for.
  bool turn() {
    std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (auto& client : clients_) fds.push_back({client.socket.get(), POLLIN, 0});
    for (auto& [name, container] : containers_) {
      if (container->outFd() >= 0) fds.push_back({container->outFd(), POLLIN, 0});
      if (container->errFd() >= 0) fds.push_back({container->errFd(), POLLIN, 0});
      for (auto& a : container->attached()) fds.push_back({a.socket.get(), POLLIN, 0});
    }
    const bool idle = clients_.empty() && !anyRunning();
    const int n = ::poll(fds.data(), fds.size(), idle ? kIdleMs : -1);
    if (n == 0) return false;
    if (n < 0) return errno == EINTR;
    std::map<int, short> ready;
    for (const auto& fd : fds)
      if (fd.revents != 0) ready[fd.fd] = fd.revents;
    serveOutputs(ready);
    if (ready.contains(signals_.get())) reap();
    if (ready.contains(listener_.get())) accept();
    for (auto& client : clients_)
      if (ready.contains(client.socket.get())) serve(client);
    clients_.remove_if([](const Client& client) { return client.gone; });
    return true;
  }

  void serveOutputs(const std::map<int, short>& ready) {
    for (auto& [name, container] : containers_) {
      if (container->outFd() >= 0 && ready.contains(container->outFd())) container->onOutput(false);
      if (container->errFd() >= 0 && ready.contains(container->errFd())) container->onOutput(true);
      container->attached().remove_if([&, c = container.get()](ShimContainer::Attached& a) {
        return ready.contains(a.socket.get()) && !c->onAttachedInput(a);
      });
    }
  }

  bool anyRunning() const {
    for (const auto& [name, container] : containers_)
      if (container->running()) return true;
    return false;
  }

  void accept() {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) clients_.push_back({std::move(fd), false});
  }

  void tell(Client& client, const json::Object& body) {
    if (!sendMessage(client.socket.get(), body)) client.gone = true;
  }
  void tellAll(const json::Object& body) {
    for (auto& client : clients_) tell(client, body);
  }

  void serve(Client& client) {
    auto message = receiveMessage(client.socket.get());
    if (!message) {
      if (message.error().code() != Code::kTimeout) client.gone = true;
      return;
    }
    const std::string_view verb = message->word("do");
    if (verb == "state") return tell(client, stateOfAll());
    if (verb == "start") return start(*message);
    if (verb == "signal") return signal(*message);
    if (verb == "exec") return exec(client, *message);
    if (verb == "killExec") return killExec(*message);
    if (verb == "attach") return attach(*message);
    if (verb == "resize") return resize(*message);
    if (verb == "network") return network(client, *message);
    if (verb == "forget") return forget(*message);
    if (verb == "quit") quit_ = !anyRunning();
  }

  json::Object stateOfAll() const {
    json::Array all;
    for (const auto& [name, container] : containers_) all.push_back(container->state());
    return {{"event", "state"},
            {"pid", ::getpid()},
            {"missing", missing_},
            {"trouble", trouble_},
            {"containers", std::move(all)}};
  }

  ShimContainer* find(const Message& message) {
    auto found = containers_.find(std::string(message.word("container")));
    return found == containers_.end() ? nullptr : found->second.get();
  }

  // A container that runs already is left alone: the runner may ask twice.
  void start(const Message& message) {
    auto text = readFile(std::string(message.word("spec")));
    auto spec = text ? ContainerSpecFile::parse(*text) : pass(text.error());
    if (!spec)
      return tellAll({{"event", "failed"},
                      {"container", message.word("container")},
                      {"trouble", spec.error().text()}});
    if (auto* present = find(message); present && present->running()) return;
    auto container = std::make_unique<ShimContainer>(std::move(*spec), realClock());
    auto& slot = containers_[container->spec().name];
    slot = std::move(container);
    const bool ok = slot->start(pidHome(slot->spec()), usersFor(slot->spec())).has_value();
    if (!ok) keep(*slot);
    json::Object body = slot->state();
    body["event"] = ok ? "started" : "exited";
    tellAll(body);
  }

  // Decided for the whole pod; a container's description says it again.
  int usersFor(const ContainerSpecFile& spec) const {
    return spec.firstUser > 0 ? users_.get() : -1;
  }

  // Whose processes a container sees, beside its own.
  pid_t pidHome(const ContainerSpecFile& spec) {
    if (spec.sharePids && spec.ownPids) {
      if (keeper_ > 0 && ::kill(keeper_, 0) == 0) return keeper_;
      auto keeper = startPidKeeper();
      if (!keeper) return -1;
      return keeper_ = *keeper;
    }
    auto found = containers_.find(spec.pidsOf);
    return found != containers_.end() && found->second->running() ? found->second->pid() : -1;
  }

  void signal(const Message& message) {
    if (auto* container = find(message))
      container->signal(static_cast<int>(message.number("signal")));
  }

  void forget(const Message& message) {
    auto* container = find(message);
    if (container && !container->running()) containers_.erase(container->spec().name);
  }

  void attach(Message& message) {
    auto* container = find(message);
    if (container && container->running() && !message.fds.empty())
      container->addAttached(std::move(message.fds[0]));
  }

  void resize(const Message& message) {
    if (auto* container = find(message))
      container->resize(static_cast<uint16_t>(message.number("columns")),
                        static_cast<uint16_t>(message.number("rows")));
  }

  void network(Client& client, const Message& message) {
    PodAddress address;
    address.address = message.word("address");
    address.mask = message.word("mask");
    address.gateway = message.word("gateway");
    auto ok = configureInterface(address);
    json::Object body{{"event", "network"}};
    if (!ok) body["trouble"] = ok.error().text();
    tell(client, body);
  }

  static std::vector<std::string> argvOf(const Message& message) {
    std::vector<std::string> argv;
    const json::Value* list = message.body.if_contains("argv");
    if (!list || !list->is_array()) return argv;
    for (const auto& word : list->get_array())
      if (word.is_string()) argv.emplace_back(std::string_view(word.get_string()));
    return argv;
  }

  void exec(Client& client, const Message& message) {
    const std::string id(message.word("exec"));
    auto failed = [&](const std::string& why) {
      tell(client, {{"event", "execExited"}, {"exec", id}, {"trouble", why}});
    };
    auto* container = find(message);
    if (!container || !container->running()) return failed("the container is not running");
    const bool tty = message.flag("tty");
    if (message.fds.size() < (tty ? 1u : 3u)) return failed("descriptors are missing");
    Stdio stdio{message.fds[0].get(), -1, -1, tty};
    if (!tty) stdio.out = message.fds[1].get(), stdio.err = message.fds[2].get();
    auto started = startExec(container->spec(), container->pid(), argvOf(message), stdio,
                             usersFor(container->spec()));
    if (!started) return failed(started.error().text());
    execs_[started->pid] = {id, std::move(started->trouble)};
  }

  void killExec(const Message& message) {
    for (const auto& [pid, exec] : execs_)
      if (exec.id == message.word("exec")) ::kill(pid, SIGKILL);
  }

  void reap() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    }
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) ended(pid, status);
  }

  void ended(pid_t pid, int status) {
    if (auto node = execs_.extract(pid)) return execEnded(node.mapped(), status);
    if (pid == keeper_) keeper_ = -1;
    for (auto& [name, container] : containers_) {
      if (!container->running() || container->pid() != pid) continue;
      container->onExit(status);
      keep(*container);
      json::Object body = container->state();
      body["event"] = "exited";
      tellAll(body);
    }
  }

  struct Exec {
    std::string id;
    UniqueFd trouble;
  };

  void execEnded(const Exec& exec, int status) {
    char why[4096];
    const ssize_t n = ::read(exec.trouble.get(), why, sizeof why);
    json::Object body{{"event", "execExited"}, {"exec", exec.id}};
    if (n > 0) body["trouble"] = std::string_view(why, static_cast<size_t>(n));
    body["exitCode"] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    tellAll(body);
  }

  // How a run ended stays on disk, for a runner that finds no shim any more.
  void keep(const ShimContainer& container) {
    const std::string path = fmt::format("{}/state/{}.json", options_.dir, container.spec().name);
    if (auto ok = writeFileAtomically(path, json::write(container.state()), {.sync = false}); !ok)
      fmt::print(stderr, "mangrove pod-shim: {}\n", ok.error().text());
  }

  const ShimOptions options_;
  UniqueFd signals_, listener_, users_;
  std::string missing_, trouble_;
  std::list<Client> clients_;
  std::map<std::string, std::unique_ptr<ShimContainer>> containers_;
  std::map<pid_t, Exec> execs_;
  pid_t keeper_ = -1;  // of the PID namespace that the containers share
  bool quit_ = false;
};

}  // namespace

int runShim(const ShimOptions& options) {
  return Shim(options).run();
}

}  // namespace mangrove::runtime
