#include "base/os/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "base/check.h"

namespace mangrove {
namespace {

namespace fs = std::filesystem;

std::string usualParent() {
  std::error_code error;
  const fs::path found = fs::temp_directory_path(error);
  return error ? "/tmp" : found.string();
}

}  // namespace

Result<TempFolder> TempFolder::below(const std::string& parent, std::string_view name) {
  std::string path = parent + "/" + std::string(name) + "-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return failErrno(errno, "make a folder below " + parent);
  return TempFolder(Made{std::move(path)});
}

TempFolder::TempFolder(std::string_view name) {
  auto made = below(usualParent(), name);
  CHECK(made, "a temporary folder: {}", made.error().text());
  path_ = std::exchange(made->path_, "");
}

TempFolder TempFolder::inMemory(std::string_view name) {
  const bool memory = std::getenv("TMPDIR") == nullptr && ::access("/dev/shm", W_OK) == 0;
  auto made = below(memory ? "/dev/shm" : usualParent(), name);
  CHECK(made, "a temporary folder: {}", made.error().text());
  return std::move(*made);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace mangrove
