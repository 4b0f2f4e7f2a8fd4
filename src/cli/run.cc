// Any command as a colocated pod: its output here, its exit code ours, our signals its own.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "api/pod/pod.h"
#include "api/wire/decode.h"
#include "base/clock.h"
#include "base/os/fd.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/signal_relay.h"
#include "cli/usage.h"
#include "client/http/credentials.h"
#include "client/http/http_api_client.h"
#include "client/http/kubeconfig.h"
#include "frame/flags.h"
#include "net/client/http_client.h"
#include "up/run_pod.h"

extern char** environ;

namespace mangrove::cli {
namespace {

constexpr int kPollMicroseconds = 100'000;
constexpr int kLastStraw = 3;  // so many interruptions end the command the hard way
constexpr int kNotExecutable = 126, kNoSuchCommand = 127;  // as shells say it

struct RunFlags {
  up::RunRequest request;
  std::string kubeconfig;
  bool keep = false;
};

std::string freshName(const std::string& command) {
  std::string base = std::filesystem::path(command).filename();
  std::erase_if(base, [](unsigned char c) { return !std::isalnum(c) && c != '-'; });
  for (char& c : base) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (!base.empty() && base.front() == '-') base.erase(0, 1);
  if (base.empty()) base = "run";
  return fmt::format("{}-{:x}", base.substr(0, 40), ::getpid());
}

// The caller's environment in a file that only he and root can read: what an API object says,
// everybody who may look at pods reads. Gone with this object.
class EnvironmentFile {
 public:
  static Result<EnvironmentFile> write() {
    const char* own = std::getenv("XDG_RUNTIME_DIR");
    std::error_code error;
    const std::string dir = own && std::filesystem::is_directory(own, error) ? own : "/tmp";
    std::string path = dir + "/mangrove-run-XXXXXX";
    UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!fd) return failErrno(errno, path);
    EnvironmentFile file(path);
    std::string text;
    for (char** one = environ; *one; ++one) text.append(*one).push_back('\0');
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return failErrno(errno, path);
    return file;
  }
  EnvironmentFile(EnvironmentFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ~EnvironmentFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit EnvironmentFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Where one output stream of the pod goes, and how much of it has gone there.
struct Copied {
  std::FILE* out;
  size_t bytes = 0;

  // `at`: where in the log the piece begins; what was copied before is left out.
  void take(size_t at, std::string_view piece) {
    const size_t known = std::min(piece.size(), bytes > at ? bytes - at : 0);
    std::fwrite(piece.data() + known, 1, piece.size() - known, out);
    std::fflush(out);
    bytes += piece.size() - known;
  }
};

// One look at a log from its beginning, for as long as the server goes on.
class Tail {
 public:
  Tail(net::HttpClient& http, const client::Authorization& who, const std::string& target,
       Copied& copied)
      : copied_(copied) {
    net::HttpRequest request;
    request.target = target;
    for (const auto& [name, value] : who.headers.fields()) request.headers.set(name, value);
    stream_ = http.open(std::move(request),
                        {.onHead = [this](net::HttpResponse head) { served_ = head.status == 200; },
                         .onData =
                             [this](std::string_view data) {
                               if (!served_) return;
                               copied_.take(at_, data);
                               at_ += data.size();
                             },
                         .onEnd =
                             [this](Result<>) {
                               std::lock_guard lock(mutex_);
                               ended_ = true;
                               changed_.notify_all();
                             }});
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
  }

 private:
  Copied& copied_;
  size_t at_ = 0;
  bool served_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::unique_ptr<net::HttpStream> stream_;
};

class PodRunner {
 public:
  PodRunner(client::ApiClient& api, const RunFlags& flags)
      : api_(api), flags_(flags), ref_{client::kind::kPod, flags.request.ns, flags.request.name} {}

  Result<> create() {
    auto body = up::podOf(flags_.request);
    if (!body) return pass(body.error());
    auto made = api_.create(client::kind::kPod, ref_.ns, json::write(*body));
    if (made) return {};
    if (made.error().code() == Code::kExists)
      return fail(Code::kExists,
                  "there is a pod {}/{} already; choose another --name, or remove it: kubectl "
                  "delete pod -n {} {}",
                  ref_.ns, ref_.name, ref_.ns, ref_.name);
    return pass(made.error());
  }

  // To the command itself; the node's runner reads it off the pod.
  void signal(int number) {
    const std::string mark = fmt::format("{}.{}", number, ++signals_);
    const json::Object body{
        {"metadata", json::Object{{"annotations", json::Object{{up::kSignalAnnotation, mark}}}}}};
    auto sent = api_.patch(ref_, client::PatchType::kMerge, json::write(body));
    if (!sent)
      fmt::print(stderr, "mangrove run: signal {} not delivered: {}\n", number,
                 sent.error().text());
  }

  // Returns when it runs or has ended; tells on the way why it does not.
  Result<api::Pod> awaitStart(const std::atomic<int>& stopped) {
    std::string told;
    for (;;) {
      auto pod = look();
      if (!pod) return pod;
      if (pod->status.phase != api::PodPhase::kPending &&
          pod->status.phase != api::PodPhase::kUnset)
        return pod;
      if (stopped != 0) return fail(Code::kCancelled, "stopped by signal {}", stopped.load());
      const auto* placed = api::findCondition(pod->status.conditions, "PodScheduled");
      if (placed && placed->status == api::Truth::kFalse && placed->message.view() != told) {
        told = placed->message.view();
        fmt::print(stderr, "mangrove run: waiting: {}\n", told);
      }
      ::usleep(kPollMicroseconds);
    }
  }

  // The exit code; nullopt when the pod is gone or was evicted.
  std::optional<int> awaitEnd() {
    for (;;) {
      auto pod = look();
      if (!pod) return std::nullopt;
      if (api::isTerminated(*pod)) {
        if (pod->status.containers.empty()) return std::nullopt;
        return codeOf(pod->status.containers[0].state);
      }
      ::usleep(kPollMicroseconds);
    }
  }

  bool hasEnded() {
    auto pod = look();
    return !pod || api::isTerminated(*pod);
  }

  static int codeOf(const api::ContainerState& state) {
    const std::string_view message = state.message.view();
    if (!message.empty()) fmt::print(stderr, "mangrove run: {}\n", message);
    if (state.reason.view() != "StartError") return state.exitCode;
    if (message.find("permission denied") != std::string_view::npos) return kNotExecutable;
    const bool missing = message.find("not found") != std::string_view::npos ||
                         message.find("no such file") != std::string_view::npos;
    return missing ? kNoSuchCommand : state.exitCode;
  }

  Result<> remove(std::optional<int64_t> grace) {
    client::DeleteOptions options;
    options.gracePeriodSeconds = grace;
    return api_.remove(ref_, options);
  }

  std::string logTarget(const char* stream) const {
    return client::kind::kPod.path(ref_.ns, ref_.name, "log") +
           fmt::format("?follow=true&stream={}", stream);
  }

 private:
  Result<api::Pod> look() {
    auto text = api_.get(ref_);
    if (!text) return pass(text.error());
    return api::decodeText<api::Pod>(*text);
  }

  client::ApiClient& api_;
  const RunFlags& flags_;
  const client::Ref ref_;
  int signals_ = 0;
};

// What a person without rights or without a server can do about it.
tl::unexpected<Error> explained(const Error& error, const std::string& config) {
  if (error.code() == Code::kDenied)
    return error.in(
        "{} is for root; run this as root, or give the user a copy and name it with --kubeconfig",
        config);
  if (error.code() == Code::kNotFound)
    return error.in(
        "{} is not there; start `mangrove up` first, or name another server with "
        "--kubeconfig",
        config);
  return pass(error);
}

bool isInterruption(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

Result<client::Authorization> authorization(client::Credentials& credentials) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<client::Authorization>> got;
  credentials.authorize([&](Result<client::Authorization> a) {
    std::lock_guard lock(mutex);
    got = std::move(a);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return got.has_value(); });
  return std::move(*got);
}

// A busy machine says that the pod runs before its log can be followed: then we ask again.
void copyOutput(PodRunner& pod, net::HttpClient& http, const client::Authorization& who) {
  Copied out{stdout}, err{stderr};
  for (bool over = false; !over;) {
    over = pod.hasEnded();  // asked before the look, so that the last look sees everything
    Tail first(http, who, pod.logTarget("Stdout"), out),
        second(http, who, pod.logTarget("Stderr"), err);
    first.wait();
    second.wait();
    if (out.bytes + err.bytes > 0 && pod.hasEnded()) return;
    if (!over) ::usleep(kPollMicroseconds);
  }
}

Result<int> runPod(RunFlags& flags) {
  std::atomic<int> stopped = 0;
  std::atomic<PodRunner*> runner = nullptr;
  int interruptions = 0;
  SignalRelay signals([&](int number) {
    if (isInterruption(number)) {
      stopped = number;
      ++interruptions;
    }
    PodRunner* pod = runner;
    if (!pod) return;
    if (interruptions >= kLastStraw) {
      (void)pod->remove(0);
    } else {
      pod->signal(number);
    }
  });
  net::Loop loop;
  const ClusterAccess access{
      .kubeconfig = flags.kubeconfig, .context = "", .aboutThisMachine = true};
  auto config = access.config();
  if (!config)
    return explained(config.error(), access.file().empty() ? "the kubeconfig" : access.file());
  auto api = client::HttpApiClient::make(loop, realClock(), *config, {.userAgent = "mangrove-run"});
  if (!api) return pass(api.error());
  client::Credentials credentials(*config, realClock());
  auto tls = credentials.tls();
  if (!tls) return pass(tls.error());
  auto url = net::Url::parse(config->server);
  if (!url) return pass(url.error());
  net::ClientOptions options;
  options.base = *url;
  options.tls = *tls;
  auto http = net::HttpClient::create(loop, options);
  if (!http) return pass(http.error());
  auto who = authorization(credentials);
  if (!who) return pass(who.error());

  PodRunner pod(**api, flags);
  if (auto ok = pod.create(); !ok) return pass(ok.error());
  auto started = pod.awaitStart(stopped);
  if (!started) {
    (void)pod.remove(0);
    return started.error().code() == Code::kCancelled ? Result<int>(128 + stopped)
                                                      : pass(started.error());
  }
  runner = &pod;
  if (stopped != 0) pod.signal(stopped);  // it came while the pod was starting
  copyOutput(pod, **http, *who);
  auto code = pod.awaitEnd();
  runner = nullptr;
  if (!flags.keep) (void)pod.remove(0);
  if (!code && stopped != 0) return 128 + stopped;
  if (!code) return fail(Code::kGone, "the pod {} was removed before it ended", flags.request.name);
  return *code;
}

}  // namespace

int run(const std::vector<std::string>& args) {
  RunFlags run;
  frame::Flags flags("mangrove run",
                     "runs a command as a colocated pod: mangrove run --qos BE -- CMD");
  flags.add("qos", run.request.qos, "LSE, LSR, LS or BE");
  flags.add("cpu", run.request.cpu, "CPUs it may use, e.g. 2 or 500m");
  flags.add("memory", run.request.memory, "memory it may use, e.g. 1Gi");
  flags.add("name", run.request.name, "name of the pod; made from the command by default");
  flags.add("namespace", run.request.ns, "namespace of the pod");
  flags.add("kubeconfig", run.kubeconfig,
            "server to run it on; $KUBECONFIG or that of mangrove up");
  flags.add("keep", run.keep, "leave the pod object when the command has ended");
  // What follows "--" is the command, whatever it looks like.
  const auto split = std::find(args.begin(), args.end(), "--");
  if (const auto end = readArguments(flags, {args.begin(), split})) return *end;
  if (split != args.end()) run.request.command.assign(split + 1, args.end());
  if (run.request.command.empty()) {
    fmt::print(stderr, "mangrove run: no command; write it behind --: mangrove run -- sleep 10\n");
    return kWrongUsage;
  }
  if (run.request.name.empty()) run.request.name = freshName(run.request.command[0]);
  auto environment = EnvironmentFile::write();
  if (!environment) {
    fmt::print(stderr, "mangrove run: {}\n", environment.error().text());
    return kFailed;
  }
  run.request.environmentFile = environment->path();
  std::error_code error;
  run.request.directory = std::filesystem::current_path(error);
  run.request.uid = ::getuid();
  run.request.gid = ::getgid();
  auto code = runPod(run);
  return code ? *code : complain(flags, code.error());
}

}  // namespace mangrove::cli
