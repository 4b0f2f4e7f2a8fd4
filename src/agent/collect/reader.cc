#include "agent/collect/reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/resource.h>

namespace mangrove::agent {
namespace {

// /proc/stat of a machine with 2000 CPUs is 300 KB.
constexpr size_t kLargestBuffer = 4 * 1024 * 1024;
// For sockets, logs, the store of others in the same process.
constexpr size_t kSpareDescriptors = 256;

}  // namespace

HotFile::HotFile(HotFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::move(other.file_)),
      open_(std::exchange(other.open_, nullptr)) {
  other.file_.reset();
}

HotFile& HotFile::operator=(HotFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  file_ = std::move(other.file_);
  other.file_.reset();
  open_ = std::exchange(other.open_, nullptr);
  return *this;
}

void HotFile::close() {
  if (file_ && open_ != nullptr) --*open_;
  file_.reset();
  open_ = nullptr;
}

Reader::Reader(const kernel::SysRoot& root, ReaderOptions options)
    : root_(root), options_(options), buffer_(options.bufferBytes) {}

bool Reader::grow() {
  if (buffer_.size() >= kLargestBuffer) return false;
  buffer_.resize(buffer_.size() * 4);
  return true;
}

std::optional<std::string_view> Reader::failed(const Error& error) {
  if (error.code() == Code::kTooLarge)
    ++stats_.tooLarge;
  else if (error.code() != Code::kNotFound && error.code() != Code::kGone)
    ++stats_.failures;
  return std::nullopt;
}

bool Reader::keep(HotFile& file) {
  ++stats_.syscalls;
  auto opened = root_.open(file.path_, kernel::Access::kRead);
  if (!opened) {
    failed(opened.error());
    return false;
  }
  file.file_ = *std::move(opened);
  file.open_ = open_.get();
  ++*open_;
  return true;
}

std::optional<std::string_view> Reader::readOpen(HotFile& file) {
  for (;;) {
    ++stats_.syscalls;
    auto size = file.file_->read(buffer_);
    if (size) {
      ++stats_.reads;
      return std::string_view(buffer_.data(), *size);
    }
    if (size.error().code() == Code::kTooLarge && grow()) continue;
    file.close();
    return failed(size.error());
  }
}

std::optional<std::string_view> Reader::read(HotFile& file) {
  if (file.path_.empty()) return std::nullopt;
  if (file.file_) return readOpen(file);
  if (*open_ >= options_.descriptors) return readOnce(file.path_);
  if (!keep(file)) return std::nullopt;
  return readOpen(file);
}

std::optional<std::string_view> Reader::readOnce(std::string_view path) {
  for (;;) {
    stats_.syscalls += 3;
    auto size = root_.read(path, buffer_);
    if (size && !*size) return std::nullopt;
    if (size) {
      ++stats_.reads;
      return std::string_view(buffer_.data(), **size);
    }
    if (size.error().code() == Code::kTooLarge && grow()) continue;
    return failed(size.error());
  }
}

size_t raiseDescriptorLimit(size_t wished) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::min<size_t>(wished, 512);
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, wished + kSpareDescriptors);
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = wanted;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const auto allowed = static_cast<size_t>(limit.rlim_cur);
  return allowed > kSpareDescriptors ? std::min(wished, allowed - kSpareDescriptors) : 16;
}

}  // namespace mangrove::agent
