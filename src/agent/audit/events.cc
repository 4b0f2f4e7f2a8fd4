#include "agent/audit/events.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/audit/backwards.h"
#include "base/os/log.h"
#include "base/text/time_text.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;

const Logger log("audit");
constexpr const char* kOpenName = "audit.log";

uint64_t seedOf(const Clock& clock) {
  return static_cast<uint64_t>(clock.wall().time_since_epoch().count()) ^
         static_cast<uint64_t>(::getpid()) << 32;
}

// "audit-2026-11-15-09-30-00-0.log" in local time, as people read it.
std::string rotatedName(WallTime at, int number) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d-%H-%M-%S", &local);
  return fmt::format("audit-{}-{}.log", text, number);
}

// Newest first; names sort by time.
std::vector<fs::path> rotatedFiles(const std::string& dir) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("audit-") && name.ends_with(".log")) files.push_back(entry.path());
  }
  std::sort(files.rbegin(), files.rend());
  return files;
}

}  // namespace

json::Value toJson(const AuditEvent& event) {
  json::Object out{{"createdAt", formatMicroTime(event.createdAt)}, {"type", event.type}};
  const auto unlessEmpty = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  unlessEmpty("namespace", event.ns);
  unlessEmpty("name", event.name);
  unlessEmpty("container", event.container);
  unlessEmpty("reason", event.reason);
  unlessEmpty("message", event.message);
  return out;
}

// Goes back through the files that were there when it began.
class AuditEvents::Reader {
 public:
  Reader(std::string token, MonoTime now, const std::string& dir) : token_(std::move(token)) {
    used_ = now;
    std::vector<fs::path> files = rotatedFiles(dir);
    files.insert(files.begin(), fs::path(dir) / kOpenName);
    for (const fs::path& path : files)
      if (UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); fd)
        files_.emplace_back(std::move(fd));
  }
  const std::string& token() const { return token_; }
  MonoTime used() const { return used_; }

  std::vector<std::string> next(size_t count, MonoTime now) {
    used_ = now;
    std::vector<std::string> lines;
    while (lines.size() < count && !files_.empty()) {
      if (auto line = files_.front().next())
        lines.push_back(*std::move(line));
      else
        files_.erase(files_.begin());
    }
    return lines;
  }
  bool ended() {
    while (!files_.empty() && files_.front().atBegin()) files_.erase(files_.begin());
    return files_.empty();
  }

 private:
  std::string token_;
  MonoTime used_{};
  std::vector<BackwardLines> files_;
};

AuditEvents::AuditEvents(AuditOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock), rng_(seedOf(clock)) {}

AuditEvents::~AuditEvents() = default;

Result<> AuditEvents::openFile() {
  if (file_) return {};
  std::error_code error;
  fs::create_directories(options_.dir, error);
  const std::string path = options_.dir + "/" + kOpenName;
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!file_) return failErrno(errno, path);
  struct stat info {};
  written_ = ::fstat(file_.get(), &info) == 0 ? info.st_size : 0;
  return {};
}

void AuditEvents::rotate() {
  file_.reset();
  std::error_code error;
  for (int number = 0; number <= 8; ++number) {
    const fs::path target = fs::path(options_.dir) / rotatedName(clock_.wall(), number);
    if (fs::exists(target, error)) continue;
    fs::rename(fs::path(options_.dir) / kOpenName, target, error);
    break;
  }
  removeOldest();
}

void AuditEvents::removeOldest() {
  const auto kept = static_cast<size_t>(std::max<int64_t>(options_.mostDisk.v / kRotateAt.v, 1));
  std::vector<fs::path> files = rotatedFiles(options_.dir);
  std::error_code error;
  for (size_t i = kept; i < files.size(); ++i) fs::remove(files[i], error);
}

void AuditEvents::add(AuditEvent event, int64_t verbosity) {
  if (options_.verbose > 0 && verbosity > options_.verbose) return;
  if (event.createdAt == WallTime{}) event.createdAt = clock_.wall();
  const std::string line = json::write(toJson(event)) + "\n";
  std::lock_guard lock(mutex_);
  if (file_ && written_ >= kRotateAt.v) rotate();
  const auto opened = openFile();
  if (opened &&
      ::write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    written_ += static_cast<int64_t>(line.size());
    return;
  }
  if (std::exchange(complained_, true)) return;
  log.warn("events are lost: {}", opened ? "cannot write " + options_.dir : opened.error().text());
}

std::string AuditEvents::newToken() {
  return fmt::format("{:016x}{:016x}", rng_.next(), rng_.next());
}

Result<AuditPage> AuditEvents::page(const std::string& token, int64_t size) {
  if (size < 1 || size > static_cast<int64_t>(options_.mostEvents))
    return invalid("size {}: want 1 to {}", size, options_.mostEvents);
  const MonoTime now = clock_.mono();
  std::lock_guard lock(mutex_);
  std::erase_if(readers_, [&](const auto& one) { return now - one->used() > options_.readerLife; });
  auto it = std::find_if(readers_.begin(), readers_.end(),
                         [&](const auto& one) { return one->token() == token; });
  if (it == readers_.end()) {
    if (!token.empty())
      return fail(Code::kConflict, "page token '{}' is not known, or has expired", token);
    if (readers_.size() >= options_.mostReaders) readers_.pop_back();
    readers_.push_front(std::make_unique<Reader>(newToken(), now, options_.dir));
    it = readers_.begin();
  }
  AuditPage page;
  page.lines = (*it)->next(static_cast<size_t>(size), now);
  if ((*it)->ended()) {
    readers_.erase(it);
    return page;
  }
  page.token = (*it)->token();
  readers_.splice(readers_.begin(), readers_, it);
  return page;
}

}  // namespace mangrove::agent
