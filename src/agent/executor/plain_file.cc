#include "agent/executor/plain_file.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/os/files.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownWhole = 120;

}  // namespace

Result<std::string> readPlainFile(const kernel::SysRoot& root, const std::string& path) {
  auto text = kernel::readText(root, path);
  if (!text) return pass(text.error());
  return text->value_or("");
}

Result<> writePlainFile(const kernel::SysRoot& root, const std::string& path,
                        std::string_view text) {
  const fs::path file = root.root() / path;
  std::error_code error;
  if (text.empty()) {
    fs::remove(file, error);
    if (error) return fail(Code::kIo, "remove {}: {}", path, error.message());
    return {};
  }
  fs::create_directories(file.parent_path(), error);
  if (error) return fail(Code::kIo, "make the folder of {}: {}", path, error.message());
  // Written anew by whoever comes after a power cut.
  return writeFileAtomically(file.string(), std::string(text) + "\n", {.sync = false});
}

std::string shortened(std::string_view text) {
  if (text.size() <= kShownWhole) return std::string(text);
  return fmt::format("{}… ({} bytes)", text.substr(0, kShownWhole), text.size());
}

}  // namespace mangrove::agent
