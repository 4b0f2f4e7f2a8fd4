// The text form of label selectors: a lexer and a recursive-descent parser over the grammar that
// kubectl -l speaks.
#include <fmt/core.h>

#include "api/select/label_syntax.h"
#include "api/select/selector.h"

namespace mangrove::api {
namespace {

enum class Token { kEnd, kWord, kComma, kOpen, kClose, kBang, kSign, kIn, kNotIn };

struct Lexeme {
  Token token = Token::kEnd;
  std::string_view text;  // "" at the end
};

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool isSpecial(char c) {
  return std::string_view("=!(),<>").find(c) != std::string_view::npos;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  Lexeme next() {
    while (!rest_.empty() && isBlank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) return {};
    return isSpecial(rest_.front()) ? special() : word();
  }

 private:
  Lexeme take(Token token, size_t length) {
    const Lexeme lexeme{token, rest_.substr(0, length)};
    rest_.remove_prefix(length);
    return lexeme;
  }
  Lexeme special() {
    switch (rest_.front()) {
      case ',':
        return take(Token::kComma, 1);
      case '(':
        return take(Token::kOpen, 1);
      case ')':
        return take(Token::kClose, 1);
      case '=':
        return take(Token::kSign, rest_.starts_with("==") ? 2 : 1);
      case '!':
        return rest_.starts_with("!=") ? take(Token::kSign, 2) : take(Token::kBang, 1);
      default:
        return take(Token::kSign, 1);
    }
  }
  Lexeme word() {
    size_t length = 0;
    while (length < rest_.size() && !isBlank(rest_[length]) && !isSpecial(rest_[length])) length++;
    const std::string_view text = rest_.substr(0, length);
    return take(text == "in" ? Token::kIn : text == "notin" ? Token::kNotIn : Token::kWord, length);
  }

  std::string_view rest_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), now_(lexer_.next()) {}

  Result<Selector> all() {
    Selector selector;
    while (now_.token != Token::kEnd) {
      if (!isWord() && now_.token != Token::kBang) return expected("a label key or '!'");
      auto requirement = one();
      if (!requirement) return pass(requirement.error());
      selector.add(*std::move(requirement));
      if (now_.token == Token::kEnd) break;
      if (now_.token != Token::kComma) return expected("',' or the end");
      advance();
      if (!isWord() && now_.token != Token::kBang) return expected("a label key after ','");
    }
    return selector;
  }

 private:
  // The keywords are ordinary words wherever no operator can stand.
  bool isWord() const {
    return now_.token == Token::kWord || now_.token == Token::kIn || now_.token == Token::kNotIn;
  }
  bool isOver() const { return now_.token == Token::kEnd || now_.token == Token::kComma; }
  Lexeme advance() { return std::exchange(now_, lexer_.next()); }
  Failure expected(std::string_view wanted) const {
    if (now_.token == Token::kEnd) return invalid("found the end, expected {}", wanted);
    return invalid("found '{}', expected {}", now_.text, wanted);
  }

  Result<Requirement> one() {
    const bool negated = now_.token == Token::kBang;
    if (negated) advance();
    if (!isWord()) return expected("a label key");
    const std::string_view key = advance().text;
    if (negated) return Requirement::make(key, Operator::kDoesNotExist, {});
    if (isOver()) return Requirement::make(key, Operator::kExists, {});
    if (auto why = labelKeyTrouble(key); !why.empty()) return invalid("{}", why);
    if (now_.token == Token::kIn || now_.token == Token::kNotIn) return set(key);
    if (now_.token != Token::kSign) return expected("one of =, ==, !=, in, notin, >, <");
    return comparison(key);
  }

  Result<Requirement> comparison(std::string_view key) {
    const std::string_view sign = advance().text;
    const Operator op = sign == "="    ? Operator::kEquals
                        : sign == "==" ? Operator::kDoubleEquals
                        : sign == "!=" ? Operator::kNotEquals
                        : sign == ">"  ? Operator::kGreater
                                       : Operator::kLess;
    if (isOver()) return Requirement::make(key, op, {""});
    if (!isWord()) return expected("a label value");
    return Requirement::make(key, op, {advance().text});
  }

  Result<Requirement> set(std::string_view key) {
    const Operator op = advance().token == Token::kIn ? Operator::kIn : Operator::kNotIn;
    if (now_.token != Token::kOpen) return expected("'('");
    advance();
    std::vector<std::string_view> values;
    if (now_.token != Token::kClose)
      if (auto read = list(values); !read) return pass(read.error());
    if (now_.token != Token::kClose) return expected("')'");
    advance();
    return Requirement::make(key, op, values);
  }

  // Values between commas; nothing between two commas or at an end is the empty value. Kubernetes
  // takes two commas together, so that "(a,,)" is refused where "(a,)" and "(,,,)" are not; we
  // follow.
  Result<> list(std::vector<std::string_view>& values) {
    while (true) {
      if (isWord()) {
        values.push_back(advance().text);
        if (now_.token != Token::kComma) return {};
      } else if (now_.token == Token::kComma) {
        if (commas(values)) return {};
      } else {
        return expected("a value or ','");
      }
    }
  }
  // One comma and a second one right behind it; true when the list ends there.
  bool commas(std::vector<std::string_view>& values) {
    advance();
    if (values.empty()) values.push_back("");
    if (now_.token != Token::kClose && now_.token != Token::kComma) return false;
    values.push_back("");
    if (now_.token == Token::kClose) return true;
    advance();
    return false;
  }

  Lexer lexer_;
  Lexeme now_;
};

}  // namespace

Result<Selector> Selector::parse(std::string_view text) {
  auto selector = Parser(text).all();
  if (!selector) return selector.error().in("label selector '{}'", text);
  return selector;
}

}  // namespace mangrove::api
