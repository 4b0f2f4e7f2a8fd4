#include "kernel/testing/fake_root.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"
#include "base/os/fd.h"

namespace mangrove::kernel {
namespace {

namespace fs = std::filesystem;

// Overwritten in place, not replaced: a File kept open must see the new content. And cut behind it,
// not emptied before: file systems write a file that was emptied to the disk as soon as it is
// closed.
void writeFile(const fs::path& path, std::string_view content) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd && errno == ENOENT) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    fd.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  }
  const auto size = static_cast<ssize_t>(content.size());
  CHECK(fd && ::pwrite(fd.get(), content.data(), content.size(), 0) == size &&
            ::ftruncate(fd.get(), size) == 0,
        "cannot write {}", path.string());
}

void makeLink(const fs::path& path, const std::string& target) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::create_symlink(target, path, error);
  CHECK(!error, "cannot link {} to {}: {}", path.string(), target, error.message());
}

}  // namespace

FakeRoot::FakeRoot(std::initializer_list<FakeEntry> entries)
    : folder_("mangrove-fake"), path_(folder_.path()) {
  for (const FakeEntry& entry : entries) add(entry);
}

FakeRoot::~FakeRoot() = default;

void FakeRoot::make(const fs::path& parent, const FakeEntry& entry) {
  const fs::path path = parent / entry.path;
  if (entry.kind == FakeEntry::Kind::kFile) return writeFile(path, entry.text);
  if (entry.kind == FakeEntry::Kind::kLink) return makeLink(path, entry.text);
  std::error_code error;
  fs::create_directories(path, error);
  CHECK(!error, "cannot make {}: {}", path.string(), error.message());
  for (const FakeEntry& child : entry.children) make(path, child);
}

void FakeRoot::write(const std::string& path, std::string_view content) {
  writeFile(path_ / path, content);
}

std::string FakeRoot::read(const std::string& path) const {
  std::ifstream in(path_ / path, std::ios::binary);
  CHECK(in.good(), "no file {} in the fake root", path);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

void FakeRoot::remove(const std::string& path) {
  std::error_code error;
  CHECK(fs::remove_all(path_ / path, error) > 0 && !error, "cannot remove {}", path);
}

bool FakeRoot::exists(const std::string& path) const {
  std::error_code ignored;
  return fs::symlink_status(path_ / path, ignored).type() != fs::file_type::not_found;
}

}  // namespace mangrove::kernel
