#include "json/diagnose.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/core.h>

#include "json/utf8.h"

namespace mangrove::json {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Scanner {
 public:
  Scanner(std::string_view text, size_t maxDepth) : text_(text), maxDepth_(maxDepth) {}

  std::optional<Fault> run() {
    if (text_.substr(0, 3) == kBom)
      return Fault{0, "the text starts with a byte-order mark; JSON is plain UTF-8 without one"};
    skipSpace();
    if (atEnd()) return Fault{at_, "the document is empty; want a JSON value"};
    if (!document()) return fault_;
    skipSpace();
    if (!atEnd()) say("unexpected text after the end of the document");
    return fault_;
  }

 private:
  bool atEnd() const { return at_ >= text_.size(); }
  char peek() const { return atEnd() ? '\0' : text_[at_]; }
  void skipSpace() {
    while (!atEnd() && isSpace(text_[at_])) ++at_;
  }
  bool accept(char c) {
    if (atEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool say(std::string sentence) {
    fault_ = Fault{at_, std::move(sentence)};
    return false;
  }
  bool want(std::string_view what) { return say(fmt::format("want {}, found {}", what, found())); }

  std::string found() const {
    if (atEnd()) return "the end of the text";
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte >= 0x20 && byte < 0x7F) return fmt::format("'{}'", text_[at_]);
    return fmt::format("byte 0x{:02x}", byte);
  }

  // No recursion: the depth of foreign input must not be the depth of our stack.
  bool document() {
    bool valueComplete = false;
    if (!valueStart(valueComplete)) return false;
    while (!open_.empty())
      if (!(valueComplete ? afterValue(valueComplete) : valueStart(valueComplete))) return false;
    return true;
  }

  // Reads a scalar or opens a container; complete says whether a value has ended here.
  bool valueStart(bool& complete) {
    skipSpace();
    if (peek() == '{' || peek() == '[') return openContainer(complete);
    complete = true;
    return scalar();
  }

  bool openContainer(bool& complete) {
    const char bracket = text_[at_];
    const size_t start = at_++;
    skipSpace();
    complete = accept(bracket == '{' ? '}' : ']');
    if (complete) return true;
    if (open_.size() >= maxDepth_) {
      at_ = start;
      return say(fmt::format("nested deeper than {} levels", maxDepth_));
    }
    open_.push_back(bracket);
    return bracket == '[' || memberKey();
  }

  bool memberKey() {
    skipSpace();
    if (peek() != '"') return want("a member name in double quotes");
    if (!string()) return false;
    skipSpace();
    return accept(':') || want("':' after a member name");
  }

  bool afterValue(bool& complete) {
    skipSpace();
    const bool inObject = open_.back() == '{';
    if (accept(',')) {
      complete = false;
      return !inObject || memberKey();
    }
    if (!accept(inObject ? '}' : ']'))
      return want(inObject ? "',' or '}' after a member" : "',' or ']' after an element");
    open_.pop_back();
    return true;
  }

  bool scalar() {
    const char c = peek();
    if (c == '"') return string();
    if (c == '-' || isDigit(c)) return number();
    for (std::string_view word : {"true", "false", "null"})
      if (text_.substr(at_, word.size()) == word) return literal(word);
    return want("a JSON value");
  }

  bool literal(std::string_view word) {
    at_ += word.size();
    return endOfScalar();
  }

  bool endOfScalar() {
    const char c = peek();
    if (atEnd() || isSpace(c) || c == ',' || c == ']' || c == '}' || c == ':' || c == '[' ||
        c == '{' || c == '"')
      return true;
    return want("the end of a value");
  }

  bool digits() {
    if (!isDigit(peek())) return want("a digit");
    while (isDigit(peek())) ++at_;
    return true;
  }

  bool number() {
    const size_t start = at_;
    accept('-');
    if (accept('0')) {
      if (isDigit(peek())) return say("a number must not start with a superfluous 0");
    } else if (!digits()) {
      return false;
    }
    if (accept('.') && !digits()) return false;
    if (accept('e') || accept('E')) {
      if (!accept('+')) accept('-');
      if (!digits()) return false;
    }
    return endOfScalar() && inRange(start);
  }

  bool inRange(size_t start) {
    double value = 0;
    const char* end = text_.data() + at_;
    const auto read = std::from_chars(text_.data() + start, end, value);
    if (read.ec != std::errc::result_out_of_range) return true;
    // Too small is rounded to zero like everywhere; too large has no double.
    const std::string copy(text_.substr(start, at_ - start));
    if (std::isfinite(std::strtod(copy.c_str(), nullptr))) return true;
    at_ = start;
    return say("the number is too large for a double");
  }

  bool string() {
    ++at_;
    while (!atEnd()) {
      const char c = text_[at_];
      if (accept('"')) return true;
      if (static_cast<unsigned char>(c) < 0x20)
        return say(
            fmt::format("control character 0x{:02x} in a string; write it as \\u{:04x}", c, c));
      if (c == '\\' ? !escape() : !character()) return false;
    }
    return say("the string has no closing quote");
  }

  bool character() {
    const size_t length = firstCharacter(text_.substr(at_)).length;
    if (length == 0) return say(fmt::format("{} is not valid UTF-8", found()));
    at_ += length;
    return true;
  }

  bool escape() {
    ++at_;
    if (atEnd()) return say("the string has no closing quote");
    if (peek() == 'u') return unicodeEscape();
    if (std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos)
      return want("one of \" \\ / b f n r t u after a backslash");
    ++at_;
    return true;
  }

  std::optional<unsigned> codeUnit() {
    unsigned unit = 0;
    const char* first = text_.data() + at_ + 1;
    if (peek() != 'u' || at_ + 5 > text_.size()) return std::nullopt;
    if (std::from_chars(first, first + 4, unit, 16).ptr != first + 4) return std::nullopt;
    return unit;
  }

  bool unicodeEscape() {
    const auto unit = codeUnit();
    if (!unit) return say("want four hexadecimal digits after \\u");
    const bool high = *unit >= 0xD800 && *unit < 0xDC00;
    if (*unit >= 0xDC00 && *unit < 0xE000)
      return say("half of a surrogate pair without the first half");
    at_ += 5;
    if (!high) return true;
    if (!accept('\\')) return say("half of a surrogate pair without the second half");
    const auto low = codeUnit();
    if (!low || *low < 0xDC00 || *low >= 0xE000)
      return say("half of a surrogate pair without the second half");
    at_ += 5;
    return true;
  }

  std::string_view text_;
  size_t maxDepth_;
  size_t at_ = 0;
  std::string open_;  // brackets not closed yet
  std::optional<Fault> fault_;
};

// Past the closing quote of a string that starts at the offset.
size_t skipString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

bool fits64Bits(std::string_view digits) {
  int64_t asSigned = 0;
  uint64_t asUnsigned = 0;
  const char* end = digits.data() + digits.size();
  return std::from_chars(digits.data(), end, asSigned).ec == std::errc{} ||
         std::from_chars(digits.data(), end, asUnsigned).ec == std::errc{};
}

}  // namespace

std::optional<Fault> firstFault(std::string_view text, size_t maxDepth) {
  return Scanner(text, maxDepth).run();
}

std::vector<size_t> endsOfBigIntegers(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = skipString(text, at);
    } else if (text[at] == '-' || isDigit(text[at])) {
      const size_t end = std::min(text.find_first_not_of("-+.eE0123456789", at), text.size());
      const std::string_view token = text.substr(at, end - at);
      if (token.find_first_of(".eE") == std::string_view::npos && !fits64Bits(token))
        ends.push_back(end);
      at = end;
    } else {
      ++at;
    }
  }
  return ends;
}

}  // namespace mangrove::json
