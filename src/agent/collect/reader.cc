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
    : path_(std::move(other.path_)), file_(std::move(other.file_)) {
  takePlaceOf(other);
}

HotFile& HotFile::operator=(HotFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  file_ = std::move(other.file_);
  takePlaceOf(other);
  return *this;
}

void HotFile::takePlaceOf(HotFile& other) {
  other.file_.reset();
  lastRound_ = other.lastRound_;
  coolness_ = other.coolness_;
  open_ = std::exchange(other.open_, nullptr);
  before_ = std::exchange(other.before_, nullptr);
  after_ = std::exchange(other.after_, nullptr);
  if (open_ == nullptr) return;
  (before_ != nullptr ? before_->after_ : open_->coolest[coolness_]) = this;
  if (after_ != nullptr) after_->before_ = this;
}

void HotFile::chain(OpenFiles* files) {
  open_ = files;
  before_ = nullptr;
  after_ = std::exchange(files->coolest[coolness_], this);
  if (after_ != nullptr) after_->before_ = this;
  ++files->count;
}

void HotFile::unchain() {
  if (open_ == nullptr) return;
  (before_ != nullptr ? before_->after_ : open_->coolest[coolness_]) = after_;
  if (after_ != nullptr) after_->before_ = before_;
  --open_->count;
  open_ = nullptr;
}

void HotFile::close() {
  unchain();
  file_.reset();
}

Reader::Reader(const kernel::SysRoot& root, ReaderOptions options)
    : root_(root), options_(options), buffer_(options.bufferBytes) {}

bool Reader::grow() {
  if (buffer_.size() >= kLargestBuffer) return false;
  buffer_.resize(buffer_.size() * 4);
  return true;
}

void Reader::noteUse(HotFile& file) {
  const uint32_t gap = file.lastRound_ == 0 ? ~uint32_t{0} : round_ - file.lastRound_;
  file.lastRound_ = round_;
  const uint8_t coolness = gap <= 1 ? 0 : gap <= 6 ? 1 : gap <= 12 ? 2 : 3;
  if (coolness == file.coolness_) return;
  HotFile::OpenFiles* const files = file.open_;
  file.unchain();
  file.coolness_ = coolness;
  if (files != nullptr) file.chain(files);
}

bool Reader::closeColderThan(const HotFile& file) {
  for (size_t coolness = HotFile::kCoolnesses; --coolness > file.coolness_;) {
    HotFile* const victim = open_->coolest[coolness];
    if (victim == nullptr) continue;
    ++stats_.syscalls;
    ++stats_.closed;
    victim->close();
    return true;
  }
  return false;
}

std::string_view Reader::whole(size_t size) {
  ++stats_.reads;
  const std::string_view text(buffer_.data(), size);
  if (text.empty() || text.back() == '\n') return text;
  ++stats_.cut;
  return {};
}

std::optional<std::string_view> Reader::failed(const Error& error) {
  vanished_ = error.code() == Code::kNotFound || error.code() == Code::kGone;
  if (error.code() == Code::kTooLarge)
    ++stats_.tooLarge;
  else if (!vanished_)
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
  file.chain(open_.get());
  return true;
}

std::optional<std::string_view> Reader::readOpen(HotFile& file) {
  for (;;) {
    ++stats_.syscalls;
    auto size = file.file_->read(buffer_);
    if (size) return whole(*size);
    if (size.error().code() == Code::kTooLarge && grow()) continue;
    file.close();
    return failed(size.error());
  }
}

std::optional<std::string_view> Reader::read(HotFile& file) {
  vanished_ = file.path_.empty();
  if (file.path_.empty()) return std::nullopt;
  noteUse(file);
  if (file.file_) return readOpen(file);
  if (open_->count >= options_.descriptors && !closeColderThan(file)) return readOnce(file.path_);
  if (!keep(file)) return std::nullopt;
  return readOpen(file);
}

std::optional<std::string_view> Reader::readOnce(std::string_view path) {
  for (;;) {
    stats_.syscalls += 3;
    auto size = root_.read(path, buffer_);
    vanished_ = size && !*size;
    if (vanished_) return std::nullopt;
    if (size) return whole(**size);
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
