#include "agent/audit/backwards.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace mangrove::agent {
namespace {

constexpr int64_t kChunk = 16 * 1024;
// Longer lines are no events: the file is not what we think it is.
constexpr size_t kLongestLine = 4 * 1024 * 1024;

}  // namespace

BackwardLines::BackwardLines(UniqueFd file) : file_(std::move(file)) {
  struct stat info {};
  if (file_ && ::fstat(file_.get(), &info) == 0) offset_ = info.st_size;
  while (offset_ > 0 && fill()) {
    const size_t end = buffer_.rfind('\n');
    buffer_.resize(end == std::string::npos ? 0 : end + 1);
    if (!buffer_.empty()) return;
  }
}

bool BackwardLines::fill() {
  const int64_t size = std::min(kChunk, offset_);
  std::string chunk(static_cast<size_t>(size), '\0');
  const ssize_t got = ::pread(file_.get(), chunk.data(), chunk.size(), offset_ - size);
  if (got != static_cast<ssize_t>(size) || buffer_.size() > kLongestLine) {
    offset_ = 0;
    buffer_.clear();
    return false;
  }
  offset_ -= size;
  buffer_.insert(0, chunk);
  return true;
}

std::optional<std::string> BackwardLines::next() {
  for (;;) {
    // The line before the last line end.
    const size_t before =
        buffer_.size() < 2 ? std::string::npos : buffer_.rfind('\n', buffer_.size() - 2);
    if (before == std::string::npos && offset_ > 0) {
      if (fill()) continue;
      return std::nullopt;
    }
    if (buffer_.empty()) return std::nullopt;
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    std::string line = buffer_.substr(begin, buffer_.size() - begin - 1);
    buffer_.resize(begin);
    if (!line.empty()) return line;
  }
}

}  // namespace mangrove::agent
