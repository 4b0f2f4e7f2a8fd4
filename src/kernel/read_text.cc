#include "kernel/read_text.h"

#include "base/text/strings.h"

namespace mangrove::kernel {

Result<std::optional<std::string>> readText(const SysRoot& root, std::string_view path,
                                            size_t limit) {
  std::string text(4096, '\0');
  for (;;) {
    auto size = root.read(path, text);
    if (size && !*size) return std::nullopt;
    if (size) {
      text.resize(**size);
      return text;
    }
    if (size.error().code() != Code::kTooLarge || text.size() >= limit) return pass(size.error());
    text.resize(text.size() * 4);
  }
}

std::optional<std::string> readWord(const SysRoot& root, std::string_view path) {
  auto text = readText(root, path, 64 * 1024);
  if (!text || !*text) return std::nullopt;
  return std::string(trim(**text));
}

std::optional<int64_t> readNumber(const SysRoot& root, std::string_view path) {
  const auto word = readWord(root, path);
  return word ? parseInt<int64_t>(*word) : std::nullopt;
}

}  // namespace mangrove::kernel
