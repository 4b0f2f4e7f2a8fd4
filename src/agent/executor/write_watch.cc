#include "agent/executor/write_watch.h"

#include <algorithm>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace mangrove::agent {
namespace {

struct FileAt {
  std::string dir, name;
};

FileAt fileAt(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

std::unique_ptr<WriteWatch> WriteWatch::start(const Machine& machine, Mailbox& owner, Heard heard) {
  return std::unique_ptr<WriteWatch>(new WriteWatch(machine, owner, std::move(heard)));
}

WriteWatch::WriteWatch(const Machine& machine, Mailbox& owner, Heard heard)
    : machine_(machine), owner_(owner), end_(::eventfd(0, EFD_CLOEXEC)) {
  post_->heard = std::move(heard);
  if (watch_.ok()) thread_ = std::thread([this] { wait(); });
}

WriteWatch::~WriteWatch() {
  post_->heard = nullptr;
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  if (::write(end_.get(), &one, sizeof one) == sizeof one) thread_.join();
}

// Told at the edge: the owner reads what there is, in its own time.
void WriteWatch::wait() {
  const UniqueFd wake(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event heard{}, ends{};
  heard.events = EPOLLIN | EPOLLET;
  heard.data.fd = watch_.fd();
  ends.events = EPOLLIN;
  ends.data.fd = end_.get();
  ::epoll_ctl(wake.get(), EPOLL_CTL_ADD, watch_.fd(), &heard);
  ::epoll_ctl(wake.get(), EPOLL_CTL_ADD, end_.get(), &ends);
  for (;;) {
    epoll_event events[2];
    const int ready = ::epoll_wait(wake.get(), events, 2, -1);
    if (ready < 0 && errno != EINTR) return;
    for (int i = 0; i < ready; ++i)
      if (events[i].data.fd == end_.get()) return;
    if (ready <= 0 || post_->pending.exchange(true)) continue;
    owner_.post([post = post_] {
      post->pending = false;
      if (post->heard) post->heard();
    });
  }
}

void WriteWatch::follow(const Executor& executor) {
  if (!watch_.ok()) return;
  if (version_ != executor.heldVersion()) compare(executor);
  version_ = executor.heldVersion();
  watch_.changed([](int) {});
}

void WriteWatch::compare(const Executor& executor) {
  const ControlReader reader(machine_);
  std::map<std::string, Watched, std::less<>> wanted;
  for (const auto& [key, held] : executor.held()) {
    const FileRule* rule = ruleOf(key.resource);
    if (held.dryRun || rule == nullptr || rule->place != Place::kCgroup) continue;
    const auto path = reader.path(key.cgroup, key.resource);
    if (!path) continue;
    FileAt at = fileAt(*path);
    if (wanted.size() >= kMostDirectories && wanted.count(at.dir) == 0) continue;
    wanted[at.dir].files.emplace(std::move(at.name), key);
  }
  for (auto& [dir, one] : wanted) {
    const auto known = dirs_.find(dir);
    if (known != dirs_.end() && known->second.id >= 0) {
      one.id = known->second.id;
      known->second.id = -1;
      continue;
    }
    const auto opened = machine_.root().dir(dir);
    const auto id = opened ? watch_.add(opened->fd()) : Result<int>(-1);
    one.id = id.value_or(-1);
  }
  for (const auto& [dir, one] : dirs_) watch_.remove(one.id);
  dirs_ = std::move(wanted);
  byId_.clear();
  for (const auto& [dir, one] : dirs_) byId_[one.id] = &one;
}

std::vector<FileKey> WriteWatch::written() {
  std::vector<FileKey> out;
  watch_.changed([&](int id, std::string_view name) {
    const auto dir = byId_.find(id);
    if (dir == byId_.end()) return;
    const auto [first, last] = dir->second->files.equal_range(name);
    for (auto it = first; it != last; ++it)
      if (std::find(out.begin(), out.end(), it->second) == out.end()) out.push_back(it->second);
  });
  return out;
}

}  // namespace mangrove::agent
