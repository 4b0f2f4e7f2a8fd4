#include "frame/record/ring_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mangrove::frame::record {

namespace fs = std::filesystem;

std::vector<RingPart> ringParts(const std::string& path) {
  const fs::path whole(path);
  const std::string prefix = whole.filename().string() + ".";
  const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  std::vector<RingPart> out;
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator(folder, ignored)) {
    const std::string name = one.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    RingPart part{0, one.path().string()};
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + prefix.size(), end, part.number);
    if (read.ec == std::errc() && read.ptr == end && part.number > 0) out.push_back(part);
  }
  std::sort(out.begin(), out.end(),
            [](const RingPart& a, const RingPart& b) { return a.number < b.number; });
  return out;
}

Result<std::unique_ptr<RingFile>> RingFile::open(std::string path, uint64_t limit) {
  const auto parts = ringParts(path);
  const uint64_t last = parts.empty() ? 0 : parts.back().number;
  std::unique_ptr<RingFile> out(new RingFile(std::move(path), limit, last));
  if (auto ok = out->next(); !ok) return pass(ok.error());
  return out;
}

// Readable by its owner only: objects of a whole cluster are in it.
Result<> RingFile::next() {
  const std::string file = fmt::format("{}.{}", path_, ++number_);
  fd_.reset(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!fd_) return failErrno(errno, file);
  size_ = 0;
  dropOldest();
  return {};
}

// So that the file at hand has room.
void RingFile::dropOldest() const {
  const auto parts = ringParts(path_);
  uint64_t room = limit_ - limit_ / kParts;
  size_t kept = 1;  // from the newest on
  for (; kept < std::min(parts.size(), kMostFiles); kept++) {
    std::error_code gone;
    const uint64_t size = fs::file_size(parts[parts.size() - 1 - kept].file, gone);
    if (!gone && size > room) break;
    room -= gone ? 0 : size;
  }
  for (size_t i = 0; i + kept < parts.size(); i++) ::unlink(parts[i].file.c_str());
}

Result<> RingFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failErrno(errno, fmt::format("{}.{}", path_, number_));
    bytes.remove_prefix(static_cast<size_t>(done));
    size_ += static_cast<uint64_t>(done);
  }
  return {};
}

}  // namespace mangrove::frame::record
