#include "frame/record/entry_file.h"

#include <array>

#include <fcntl.h>
#include <unistd.h>

namespace mangrove::frame::record {

Result<std::unique_ptr<EntryFile>> EntryFile::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failErrno(errno, path);
  return std::unique_ptr<EntryFile>(new EntryFile(std::move(fd)));
}

std::optional<Entry> EntryFile::next() {
  while (true) {
    std::string_view rest = std::string_view(unpacked_).substr(at_);
    if (auto entry = takeEntry(rest, last_)) {
      at_ = unpacked_.size() - rest.size();
      return entry;
    }
    if (!readOn()) return std::nullopt;
  }
}

bool EntryFile::readOn() {
  std::array<char, 64 * 1024> piece;
  ssize_t got = 0;
  do got = ::read(fd_.get(), piece.data(), piece.size());
  while (got < 0 && errno == EINTR);
  if (got <= 0 || broken_) return false;
  const std::string_view came(piece.data(), static_cast<size_t>(got));
  bytes_ += came.size();
  unpacked_.erase(0, at_);
  at_ = 0;
  if (!isPacked_) isPacked_ = isPacked(came);
  if (*isPacked_)
    broken_ = !unpacker_.unpack(came, unpacked_);
  else
    unpacked_.append(came);
  return true;
}

}  // namespace mangrove::frame::record
