#include "runtime/node/sessions/log_reader.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "runtime/core/cri_log.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

constexpr size_t kPiece = 64 * 1024;
constexpr Duration kFollowEvery = std::chrono::milliseconds(100);

// The files of one run in the order of time: those turned over, then the present one.
std::vector<std::string> filesOf(const std::string& path) {
  std::vector<std::string> out;
  std::error_code error;
  const fs::path present(path);
  for (const auto& entry : fs::directory_iterator(present.parent_path(), error))
    if (entry.path().filename().string().starts_with(present.filename().string() + "."))
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  out.push_back(path);
  return out;
}

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};

// Whole lines from a file that may grow and be replaced.
class LineReader {
 public:
  explicit LineReader(std::vector<std::string> files) : files_(files.begin(), files.end()) {
    path_ = files.back();
  }

  // The next line without its end; nullopt when there is none yet.
  std::optional<std::string> next() {
    for (;;) {
      const size_t end = buffer_.find('\n', at_);
      if (end != std::string::npos) {
        std::string line = buffer_.substr(at_, end - at_);
        at_ = end + 1;
        return line;
      }
      buffer_.erase(0, std::exchange(at_, 0));
      if (!readMore()) return std::nullopt;
    }
  }

 private:
  bool readMore() {
    if (!fd_ && !openNext()) return false;
    if (readPiece()) return true;
    if (!turnedOver()) return false;
    return readPiece() || openNext();  // the last bytes may have come just before the turn
  }
  bool readPiece() {
    const size_t before = buffer_.size();
    buffer_.resize(before + kPiece);
    const ssize_t n = ::read(fd_.get(), buffer_.data() + before, kPiece);
    buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    return n > 0;
  }
  bool openNext() {
    if (files_.empty()) {
      if (!turnedOver()) return false;
      files_ = filesAfterOurs();
    }
    UniqueFd fd(::open(files_.front().c_str(), O_RDONLY | O_CLOEXEC));
    files_.pop_front();
    if (!fd) return !files_.empty() && openNext();
    fd_ = std::move(fd);
    return true;
  }
  // A busy log may have turned over more than once since we looked.
  std::deque<std::string> filesAfterOurs() const {
    const std::vector<std::string> all = filesOf(path_);
    const auto own = idOf(fd_.get(), nullptr);
    auto at = std::find_if(all.begin(), all.end(), [&](const std::string& path) {
      return own && idOf(-1, path.c_str()) == own;
    });
    if (at == all.end() || at + 1 == all.end()) return {path_};
    return {at + 1, all.end()};
  }
  static std::optional<FileId> idOf(int fd, const char* path) {
    struct stat info {};
    const int rc = path ? ::stat(path, &info) : ::fstat(fd, &info);
    if (rc != 0) return std::nullopt;
    return FileId{info.st_dev, info.st_ino};
  }
  // True when another file is next: an older one is read through, or the present one was replaced.
  bool turnedOver() {
    if (!files_.empty() || !fd_) return true;
    return idOf(fd_.get(), nullptr) != idOf(-1, path_.c_str());
  }

  std::deque<std::string> files_;
  std::string path_;
  UniqueFd fd_;
  std::string buffer_;
  size_t at_ = 0;
};

class FileLog final : public frame::LogSource {
 public:
  FileLog(std::vector<std::string> files, const frame::LogOptions& options, Clock& clock,
          Mailbox& home, std::function<bool()> stillRunning)
      : state_(std::make_shared<State>(std::move(files), options, clock, home,
                                       std::move(stillRunning))) {}
  ~FileLog() override {
    std::lock_guard lock(state_->mutex);
    state_->closed = true;
  }
  void read(UniqueFn<void(Result<std::string>)> done) override {
    State::later(state_, std::move(done));
  }

 private:
  struct State {
    using Done = UniqueFn<void(Result<std::string>)>;
    State(std::vector<std::string> f, const frame::LogOptions& o, Clock& c, Mailbox& h,
          std::function<bool()> running)
        : files(f),
          options(o),
          clock(c),
          home(h),
          stillRunning(std::move(running)),
          lines(f),
          filter(o) {}

    static void later(const std::shared_ptr<State>& self, Done done) {
      self->home.post([self, done = std::move(done)]() mutable { step(self, std::move(done)); });
    }

    int64_t countToSkip(int64_t tail) {
      LineReader counting(files);
      LogFilter wanted(options);
      int64_t total = 0;
      while (auto line = counting.next())
        if (wanted.wanted(*line)) ++total;
      return std::max<int64_t>(0, total - tail);
    }

    // A piece of what is there; sets `done` at the end for good.
    std::string piece() {
      std::string out;
      while (out.size() < kPiece && !limited) {
        auto line = lines.next();
        if (!line) break;
        if (!filter.wanted(*line)) continue;
        if (skip > 0) {
          --skip;
          continue;
        }
        limited = !filter.take(*line, out);
      }
      return out;
    }

    static void step(const std::shared_ptr<State>& self, Done done) {
      std::string out;
      bool wait = false;
      {
        std::lock_guard lock(self->mutex);
        if (self->closed) return;
        if (!std::exchange(self->begun, true) && self->options.tailLines)
          self->skip = self->countToSkip(*self->options.tailLines);
        // Asked before reading: what was written before the end is then not missed.
        const bool running = self->options.follow && self->stillRunning();
        out = self->piece();
        wait = out.empty() && running && !self->limited;
        if (wait)
          self->timer = self->clock.after(kFollowEvery, [self, done = std::move(done)]() mutable {
            later(self, std::move(done));
          });
      }
      if (!wait) done(std::move(out));
    }

    const std::vector<std::string> files;
    const frame::LogOptions options;
    Clock& clock;
    Mailbox& home;
    const std::function<bool()> stillRunning;
    std::mutex mutex;
    bool begun = false;
    bool closed = false;
    bool limited = false;
    LineReader lines;
    LogFilter filter;
    int64_t skip = 0;
    Timer timer;
  };
  std::shared_ptr<State> state_;
};

}  // namespace

bool LogFilter::wanted(std::string_view line) const {
  const auto parsed = parseLogLine(line);
  if (!parsed) return false;
  if (options_.since && parsed->time < *options_.since) return false;
  if (options_.stream == "Stdout" && parsed->isErr) return false;
  return options_.stream != "Stderr" || parsed->isErr;
}

bool LogFilter::take(std::string_view line, std::string& out) {
  const auto parsed = parseLogLine(line);
  if (!parsed) return true;
  std::string text;
  if (options_.timestamps && !midLine_) text = std::string(parsed->timeText) + " ";
  text += parsed->text;
  if (!parsed->partial) text += '\n';
  midLine_ = parsed->partial;
  if (options_.limit && sent_ + static_cast<int64_t>(text.size()) >= options_.limit->v) {
    out += text.substr(0, static_cast<size_t>(options_.limit->v - sent_));
    return false;
  }
  sent_ += static_cast<int64_t>(text.size());
  out += text;
  return true;
}

std::unique_ptr<frame::LogSource> openLog(const std::string& path, const frame::LogOptions& options,
                                          Clock& clock, Mailbox& home,
                                          std::function<bool()> stillRunning) {
  return std::make_unique<FileLog>(filesOf(path), options, clock, home, std::move(stillRunning));
}

}  // namespace mangrove::runtime
