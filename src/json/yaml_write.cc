#include <algorithm>

#include "json/utf8.h"
#include "json/yaml.h"
#include "json/yaml_scalar.h"

namespace mangrove::json {
namespace {

bool isAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Characters every YAML reader shows and keeps: no control characters, no unusual line ends, no
// byte-order mark.
bool isPlainCode(uint32_t code) {
  return code >= 0x20 && code != 0x7F && (code < 0x80 || code > 0x9F) && code != 0x2028 &&
         code != 0x2029 && code != 0xFEFF && code != 0xFFFE && code != 0xFFFF;
}

template <class Allowed>
bool allCharacters(std::string_view text, Allowed allowed) {
  for (size_t at = 0; at < text.size();) {
    const auto [code, length] = firstCharacter(text.substr(at));
    if (length == 0 || !allowed(code)) return false;
    at += length;
  }
  return true;
}

// Digits with ':' or '-' between are times and dates to other readers.
bool looksLikeTime(std::string_view text) {
  return text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of("0123456789:-._ TtZz+") == std::string_view::npos;
}

bool startsPlain(std::string_view text) {
  const char first = text[0];
  if (isAlnum(first) || first == '_' || first == '/' || static_cast<unsigned char>(first) >= 0x80)
    return true;
  return (first == '.' || first == '-' || first == '+') && text.size() > 1 && isAlnum(text[1]);
}

bool isPlain(std::string_view text) {
  if (text.empty() || !startsPlain(text) || looksLikeTime(text)) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos)
    return false;
  if (!allCharacters(text, isPlainCode)) return false;
  const auto meant = plainScalar(text);
  return meant && meant->is_string();
}

// Lines that are only spaces, or spaces at the very start, would be taken for indentation.
bool isLiteralBlock(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text[0] == ' ' || text[0] == '\n' ||
      text[0] == '\t')
    return false;
  if (!allCharacters(
          text, [](uint32_t code) { return code == '\n' || code == '\t' || isPlainCode(code); }))
    return false;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    if (!line.empty() && line.find_first_not_of(" \t") == std::string_view::npos) return false;
    from = end + 1;
  }
  return true;
}

class YamlWriter {
 public:
  void document(const Value& value) {
    if (isFilled(value)) return block(value, 0);
    scalar(value, 0);
    out_ += '\n';
  }
  std::string take() && { return std::move(out_); }
  void separate() { out_ += "---\n"; }

 private:
  static bool isFilled(const Value& value) {
    return (value.is_object() && !value.get_object().empty()) ||
           (value.is_array() && !value.get_array().empty());
  }

  void pad(int indent) { out_.append(static_cast<size_t>(indent), ' '); }

  // Writes all lines of a container; the caller has written the indentation of the first one where
  // it continues a line.
  void block(const Value& value, int indent, bool continues = false) {
    if (const Object* object = value.if_object()) {
      for (const auto& member : *object) {
        if (!std::exchange(continues, false)) pad(indent);
        string(member.key());
        out_ += ':';
        memberValue(member.value(), indent);
      }
      return;
    }
    for (const Value& element : value.get_array()) {
      if (!std::exchange(continues, false)) pad(indent);
      out_ += '-';
      elementValue(element, indent);
    }
  }

  void memberValue(const Value& value, int indent) {
    if (!isFilled(value)) return line(value, indent);
    out_ += '\n';
    block(value, value.is_array() ? indent : indent + 2);
  }

  void elementValue(const Value& value, int indent) {
    if (!isFilled(value)) return line(value, indent);
    out_ += ' ';
    block(value, indent + 2, true);
  }

  void line(const Value& value, int indent) {
    out_ += ' ';
    scalar(value, indent);
    out_ += '\n';
  }

  void scalar(const Value& value, int indent) {
    if (!value.is_string())
      out_ += write(value);
    else if (const std::string_view text = value.get_string(); isLiteralBlock(text))
      literal(text, indent + 2);
    else
      string(text);
  }

  void string(std::string_view text) {
    if (isPlain(text))
      out_ += text;
    else
      quoted(text);
  }

  void quoted(std::string_view text) {
    out_ += '"';
    for (size_t at = 0; at < text.size();) {
      const auto [code, length] = firstCharacter(text.substr(at));
      const size_t step = std::max<size_t>(length, 1);
      if (code == '"' || code == '\\' || !isPlainCode(code))
        out_ += escape(code);
      else
        out_.append(text.substr(at, step));
      at += step;
    }
    out_ += '"';
  }

  static std::string escape(uint32_t code) {
    switch (code) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\t':
        return "\\t";
      case '\r':
        return "\\r";
      default:
        return fmt::format("\\u{:04x}", code);
    }
  }

  void literal(std::string_view text, int indent) {
    const size_t last = text.find_last_not_of('\n');
    const size_t newlines = text.size() - 1 - last;
    out_ += newlines == 0 ? "|-" : newlines == 1 ? "|" : "|+";
    for (size_t from = 0; from < text.size();) {
      const size_t end = std::min(text.find('\n', from), text.size());
      out_ += '\n';
      if (end > from) pad(indent);
      out_.append(text.substr(from, end - from));
      from = end + 1;
    }
  }

  std::string out_;
};

}  // namespace

std::string writeYaml(const Value& value) {
  return writeYaml(std::span(&value, 1));
}

std::string writeYaml(std::span<const Value> documents) {
  YamlWriter writer;
  for (size_t i = 0; i < documents.size(); ++i) {
    if (i > 0) writer.separate();
    writer.document(documents[i]);
  }
  return std::move(writer).take();
}

}  // namespace mangrove::json
