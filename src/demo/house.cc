#include "demo/house.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bench/batch_work.h"
#include "base/os/fd.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/cpu_units.h"
#include "kernel/resource_names.h"

namespace mangrove::demo {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kReadyWithin = seconds(60);
constexpr Duration kEndWithin = seconds(12);
constexpr uint16_t kDashboardPort = 9317;
constexpr const char* kPlainPod = "91a10000-0000-0000-0000-000000000001";

bool portIsFree(uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// The line that starts with `head`, without it.
std::string lineAfter(const std::string& text, std::string_view head) {
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with(head)) return std::string(line.substr(head.size()));
  return "";
}

[[noreturn]] void become(const std::vector<std::string>& args, const std::string& log, pid_t parent,
                         const std::string& dir) {
  ::setpgid(0, 0);  // Ctrl-C is ours to hand on
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  frame::restoreSignals();
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (::chdir(dir.c_str()) != 0) ::_exit(1);
  ::setenv("KUBECONFIG", (dir + "/up/kubeconfig").c_str(), 1);
  std::vector<char*> words;
  for (const std::string& arg : args) words.push_back(const_cast<char*>(arg.c_str()));
  words.push_back(nullptr);
  ::execv("/proc/self/exe", words.data());
  ::_exit(127);
}

std::vector<fs::path> cgroupDirs(const std::string& name) {
  const fs::path top = "/sys/fs/cgroup";
  std::vector<fs::path> out;
  std::error_code error;
  if (fs::is_directory(top / name, error)) out.push_back(top / name);
  for (const auto& entry : fs::directory_iterator(top, error))
    if (entry.is_directory(error) && fs::is_directory(entry.path() / name, error))
      out.push_back(entry.path() / name);
  return out;
}

// Children before their parents; true when all of it is gone.
bool removeTree(const fs::path& dir) {
  std::error_code error;
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(dir, error))
    if (entry.is_directory(error) && !entry.is_symlink(error)) below.push_back(entry.path());
  bool gone = true;
  for (const fs::path& one : below) gone = removeTree(one) && gone;
  if (auto pids = readFile((dir / kernel::resource_name::kProcs).string()))
    for (std::string_view line : split(*pids, '\n'))
      if (auto pid = parseInt<pid_t>(trim(line)); pid && *pid > 1) ::kill(*pid, SIGKILL);
  return (::rmdir(dir.c_str()) == 0 || errno == ENOENT) && gone;
}

// Processes started with a path below our directory, which nobody else has: the parents of pods
// outlive an `up` that had to be killed.
void endProcessesOf(const std::string& dir) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = parseInt<pid_t>(entry.path().filename().string());
    if (!pid || *pid == ::getpid()) continue;
    const auto words = readFile((entry.path() / "cmdline").string());
    if (words && words->find(dir + "/") != std::string::npos) ::kill(*pid, SIGKILL);
  }
}

// This program as a pod sees it. Pods have places of their own instead of these.
Result<std::string> programFor(const std::string& dir) {
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  const bool hidden =
      self.starts_with("/tmp/") || self.starts_with("/run/") || self.starts_with("/var/log/");
  if (!hidden) return self;
  const std::string copy = dir + "/mangrove";
  fs::copy_file(self, copy, fs::copy_options::skip_existing, error);
  if (error) return fail(Code::kIo, "copy {}: {}", self, error.message());
  return copy;
}

}  // namespace

void sweepCgroup(const std::string& name) {
  if (name.empty()) return;
  for (int attempt = 0; attempt < 100; ++attempt) {
    bool gone = true;
    for (const fs::path& dir : cgroupDirs(name)) gone = removeTree(dir) && gone;
    if (gone) return;
    ::usleep(20'000);  // the killed need a moment to leave
  }
}

Result<std::unique_ptr<House>> House::open(frame::Interrupt& interrupt) {
  std::unique_ptr<House> house(new House(interrupt));
  auto folder = TempFolder::below(fs::temp_directory_path().string(), "mangrove-demo");
  if (!folder) return pass(folder.error());
  house->dir_ = folder->path();
  house->folder_ = std::move(*folder);
  house->cgroup_ = fmt::format("mangrove-demo-{}", ::getpid());
  auto board = BoardFile::create(house->boardPath());
  if (!board) return pass(board.error());
  house->board_ = std::make_unique<BoardFile>(std::move(*board));
  return house;
}

House::~House() {
  stop();
}

Result<pid_t> House::spawn(const std::vector<std::string>& args, const std::string& log) {
  std::vector<std::string> words{"mangrove"};
  words.insert(words.end(), args.begin(), args.end());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failErrno(errno, "fork");
  if (pid == 0) become(words, dir_ + "/" + log, parent, dir_);
  return pid;
}

Result<> House::startUp() {
  const std::string dashboard =
      fmt::format("127.0.0.1:{}", portIsFree(kDashboardPort) ? kDashboardPort : 0);
  const pid_t self = ::getpid();
  auto pid = spawn({"up", "--data-dir", dir_ + "/up", "--port", "0", "--cgroup-root", cgroup_,
                    "--bridge", fmt::format("mgd{}", self), "--pod-subnet",
                    fmt::format("10.{}.0.0/16", 100 + self % 100), "--dashboard", dashboard},
                   "up.log");
  if (!pid) return pass(pid.error());
  up_ = *pid;
  for (Duration waited{}; waited < kReadyWithin; waited += milliseconds(50)) {
    if (interrupt_.duringProcess(up_, milliseconds(50))) {
      up_ = 0;
      return fail(Code::kUnavailable, "mangrove up ended: {}", lastWords());
    }
    if (interrupt_.came()) return fail(Code::kCancelled, "interrupted");
    const std::string log = readFile(dir_ + "/up.log").value_or("");
    dashboard_ = lineAfter(log, "dashboard on ");
    if (log.find(" is ready\n") != std::string::npos && !dashboard_.empty()) return {};
  }
  return fail(Code::kTimeout, "mangrove up was not ready within a minute: {}", lastWords());
}

Result<> House::startPod(const std::string& name, const std::vector<std::string>& flags,
                         const std::vector<std::string>& part) {
  std::vector<std::string> args{"run", "--name", name};
  args.insert(args.end(), flags.begin(), flags.end());
  auto program = programFor(dir_);
  if (!program) return pass(program.error());
  for (const std::string& word : {std::string("--"), *program, std::string("demo-part")})
    args.push_back(word);
  args.insert(args.end(), part.begin(), part.end());
  auto pid = spawn(args, name + ".log");
  if (!pid) return pass(pid.error());
  pods_[name] = *pid;
  return {};
}

Result<> House::startPlainPod(int64_t workers) {
  auto made = agent::PodCgroups::make(cgroup_);
  if (!made) return made.error().in("a BestEffort pod");
  plain_.emplace(*std::move(made));
  const auto tier = kernel::PodTier::kBestEffort;
  if (auto ok = plain_->add(kPlainPod, 1, false, tier); !ok) return ok;
  const auto* shares = kernel::findResource(kernel::resource_name::kCpuShares);
  const std::string least = kernel::sharesText(kernel::kMinShares, plain_->trees().version());
  for (const std::string& dir : {agent::PodCgroups::tierDir(tier), plain_->podDir(kPlainPod),
                                 plain_->firstContainer(kPlainPod)})
    if (auto ok = kernel::SysRoot().write(*kernel::filePath(plain_->trees(), *shares, dir), least);
        !ok)
      return ok.error().in("a BestEffort pod");
  for (int64_t i = 0; i < workers; ++i) {
    auto pid = plain_->start(kPlainPod, [&] {
      board().work(Turn::kPlain, static_cast<size_t>(i), &agent::multiplyOnce);
    });
    if (!pid) return pass(pid.error());
  }
  return {};
}

Result<pid_t> House::startPart(const std::vector<std::string>& part) {
  std::vector<std::string> args{"demo-part"};
  args.insert(args.end(), part.begin(), part.end());
  return spawn(args, "part.log");
}

std::vector<std::string> House::endedPods() {
  std::vector<std::string> out;
  for (const auto& [name, pid] : pods_)
    if (::waitpid(pid, nullptr, WNOHANG) != 0) out.push_back(name);
  for (const std::string& name : out) pods_.erase(name);
  return out;
}

std::string House::lastWords() const {
  const std::string log(trim(readFile(dir_ + "/up.log").value_or("")));
  const size_t line = log.rfind('\n');
  return line == std::string::npos ? log : log.substr(line + 1);
}

std::vector<pid_t> House::processes() const {
  std::vector<pid_t> out;
  if (up_ > 0) out.push_back(up_);
  for (const auto& [name, pid] : pods_) out.push_back(pid);
  return out;
}

// Orderly first: it ends the pods, takes away networks and mounts.
void House::endUp() {
  if (up_ <= 0) return;
  ::kill(up_, SIGTERM);
  for (Duration waited{}; waited < kEndWithin; waited += milliseconds(20)) {
    if (::waitpid(up_, nullptr, WNOHANG) != 0) {
      up_ = 0;
      return;
    }
    ::usleep(20'000);
  }
  ::kill(up_, SIGKILL);
  ::waitpid(up_, nullptr, 0);
  up_ = 0;
}

void House::stop() {
  for (const auto& [name, pid] : pods_) ::kill(pid, SIGKILL);
  for (const auto& [name, pid] : pods_) ::waitpid(pid, nullptr, 0);
  pods_.clear();
  endUp();
  plain_.reset();  // after `up`: its groups are inside of those of up's pods
  if (!dir_.empty()) endProcessesOf(dir_);
  sweepCgroup(cgroup_);
  cgroup_.clear();
  folder_.reset();
  dir_.clear();
}

}  // namespace mangrove::demo
