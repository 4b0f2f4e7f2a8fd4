#include "manager/config/locate.h"

#include "base/text/strings.h"

namespace mangrove::manager {
namespace {

// Walks over JSON text by offsets; never past the end, whatever the text.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) { blanks(); }

  size_t offset() const { return at_; }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) at_++;
  }
  void step() {
    if (at_ < text_.size()) at_++;
    blanks();
  }
  // A string's raw content (escapes as written).
  std::string_view string() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    at_ = std::min(end + 1, text_.size());
    blanks();
    return text_.substr(std::min(begin, end), end - std::min(begin, end));
  }
  void skipValue() {
    int depth = 0;
    do {
      const char c = here();
      if (c == '"') {
        string();
      } else {
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        if (isPlain(c))
          plain();
        else
          step();
      }
    } while (depth > 0 && at_ < text_.size());
  }
  // At a container: moves to the member or element; false (and anywhere) when it is not there.
  bool enter(std::string_view segment) {
    if (here() == '{') return member(segment);
    if (here() == '[') return element(parseInt<size_t>(segment).value_or(~size_t{0}));
    return false;
  }

 private:
  static bool isPlain(char c) {
    return c != '\0' && std::string_view("{}[],:\"").find(c) == std::string_view::npos;
  }
  void plain() {
    while (isPlain(here())) at_++;
    blanks();
  }
  bool member(std::string_view name) {
    step();
    while (here() == '"') {
      const auto key = string();
      if (here() == ':') step();
      if (equalIgnoringCase(key, name)) return true;
      skipValue();
      if (here() == ',') step();
    }
    return false;
  }
  bool element(size_t index) {
    step();
    for (size_t i = 0; here() != ']' && here() != '\0'; i++) {
      if (i == index) return true;
      skipValue();
      if (here() == ',') step();
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<std::string> pathSegments(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    if (path.front() == '[') {
      const size_t end = std::min(path.find(']'), path.size());
      out.emplace_back(path.substr(1, end - 1));
      path.remove_prefix(std::min(end + 1, path.size()));
    } else if (path.front() == '.') {
      path.remove_prefix(1);
    } else {
      const size_t end = std::min(path.find_first_of(".["), path.size());
      out.emplace_back(path.substr(0, end));
      path.remove_prefix(end);
    }
  }
  return out;
}

size_t locate(std::string_view text, std::string_view path) {
  Walker walker(text);
  size_t found = walker.offset();
  for (const auto& segment : pathSegments(path)) {
    if (!walker.enter(segment)) break;
    found = walker.offset();
  }
  return found;
}

}  // namespace mangrove::manager
