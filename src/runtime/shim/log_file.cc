#include "runtime/shim/log_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/time_text.h"
#include "runtime/core/cri_log.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kMaxLine = 16 * 1024;  // as containerd cuts

// "20260301-120000.250000": sorts by time, and two turns in a second differ.
std::string stamp(WallTime time) {
  std::string text = formatMicroTime(time);
  std::erase_if(text, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  std::replace(text.begin(), text.end(), 'T', '-');
  return text;
}

void removeOldest(const std::filesystem::path& path, int64_t maxFiles) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), error))
    if (entry.path().filename().string().starts_with(path.filename().string() + "."))
      old.push_back(entry.path());
  std::sort(old.begin(), old.end());
  for (size_t i = 0; i + static_cast<size_t>(maxFiles) - 1 < old.size(); ++i)
    fs::remove(old[i], error);
}

}  // namespace

bool turnOver(const std::string& path, int64_t maxFiles, WallTime now) {
  if (::rename(path.c_str(), (path + "." + stamp(now)).c_str()) != 0) return false;
  removeOldest(path, maxFiles);
  return true;
}

LogFile::LogFile(std::string path, int64_t maxBytes, int64_t maxFiles, Clock& clock)
    : path_(std::move(path)), maxBytes_(maxBytes), maxFiles_(maxFiles), clock_(clock) {}

Result<> LogFile::open() {
  fd_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!fd_) return failErrno(errno, path_);
  struct stat info {};
  size_ = ::fstat(fd_.get(), &info) == 0 ? info.st_size : 0;
  return {};
}

void LogFile::write(bool isErr, std::string_view bytes) {
  std::string& rest = rest_[isErr];
  rest += bytes;
  size_t at = 0;
  for (;;) {
    const size_t end = rest.find('\n', at);
    if (end != std::string::npos && end - at <= kMaxLine) {
      line(isErr, false, std::string_view(rest).substr(at, end - at));
      at = end + 1;
    } else if (rest.size() - at > kMaxLine) {
      line(isErr, true, std::string_view(rest).substr(at, kMaxLine));
      at += kMaxLine;
    } else {
      break;
    }
  }
  rest.erase(0, at);
  flush();
}

void LogFile::flush() {
  if (batch_.empty() || !fd_) return batch_.clear();
  const ssize_t n = ::write(fd_.get(), batch_.data(), batch_.size());
  if (n != static_cast<ssize_t>(batch_.size())) ++dropped_;
  if (n > 0) size_ += n;
  batch_.clear();
  if (size_ >= maxBytes_) reopen();
}

void LogFile::finish() {
  for (bool isErr : {false, true}) {
    if (rest_[isErr].empty()) continue;
    line(isErr, true, rest_[isErr]);  // it had no end, and whoever reads it sees none
    rest_[isErr].clear();
    flush();
  }
}

void LogFile::line(bool isErr, bool partial, std::string_view text) {
  batch_ += formatLogLine(logTime(clock_.wall()), isErr, partial, text);
}

void LogFile::reopen() {
  if (!turnOver(path_, maxFiles_, clock_.wall())) return;
  if (auto ok = open(); !ok) ++dropped_;
}

}  // namespace mangrove::runtime
