// The only place that knows yaml-cpp. Its parser sends events; Builder makes values of them and
// throws the library's own exception to stop it. Nothing of that leaves parseYaml.
#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "json/text_position.h"
#include "json/utf8.h"
#include "json/yaml.h"
#include "json/yaml_scalar.h"

namespace mangrove::json {
namespace {

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& sentence) {
  throw YAML::ParserException(mark, sentence);
}

size_t lineOf(const YAML::Mark& mark) {
  return static_cast<size_t>(mark.line) + 1;
}

size_t nodesIn(const Value& value) {
  size_t count = 1;
  if (const Object* object = value.if_object())
    for (const auto& member : *object) count += nodesIn(member.value());
  else if (const Array* array = value.if_array())
    for (const Value& element : *array) count += nodesIn(element);
  return count;
}

size_t depthOf(const Value& value) {
  size_t deepest = 0;
  if (const Object* object = value.if_object())
    for (const auto& member : *object) deepest = std::max(deepest, depthOf(member.value()));
  else if (const Array* array = value.if_array())
    for (const Value& element : *array) deepest = std::max(deepest, depthOf(element));
  return deepest + (value.is_object() || value.is_array() ? 1 : 0);
}

// The library takes the end of the text for the end of a quoted scalar. The mark is at the quote,
// or at a tag or anchor before it.
bool isClosed(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {
    at = std::min(text.find_first_of(" \t\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\n", at), text.size());
  }
  const char quote = at < text.size() ? text[at] : '\0';
  if (quote != '"' && quote != '\'') return true;
  for (++at; at < text.size(); ++at) {
    const bool doubled = quote == '\'' && text.substr(at, 2) == "''";
    if (doubled || (quote == '"' && text[at] == '\\'))
      ++at;
    else if (text[at] == quote)
      return true;
  }
  return false;
}

// The library turns the escapes \N and \_ into single bytes that are no UTF-8; they stand for
// U+0085 and U+00A0.
std::string repaired(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = firstCharacter(std::string_view(text).substr(at)).length;
    if (length == 0) out += '\xC2';
    out.append(text, at, std::max<size_t>(length, 1));
    at += std::max<size_t>(length, 1);
  }
  return out;
}

class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view text, const YamlLimits& limits) : text_(text), limits_(limits) {}

  // Ends a document. nullopt: it was empty.
  std::optional<YamlDocument> take() {
    anchors_.clear();
    if (root_.is_null()) return std::nullopt;
    return YamlDocument{std::exchange(root_, nullptr), line_};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // On a stray ',' or ']' the library reports empty documents for ever.
    if (mark.pos == lastStart_) refuse(mark, "this cannot start a document");
    lastStart_ = mark.pos;
    root_ = nullptr;
    line_ = lineOf(mark);
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf(mark, anchor, nullptr);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& raw) override {
    const std::string text = repaired(raw);
    const bool plain = tag == "?" || tag.empty();
    if (!plain && !isClosed(text_, static_cast<size_t>(mark.pos)))
      refuse(mark, "the quoted text has no closing quote");
    mergeKey_ = plain && text == "<<";
    if (tag == "!") return leaf(mark, anchor, boost::json::string(text));
    auto value = plain ? plainScalar(text) : taggedScalar(tag, text);
    if (!value && value.error() == ScalarError::kNotFinite)
      refuse(mark, fmt::format("'{}' is no finite number; JSON cannot express it", text));
    if (!value)
      refuse(mark,
             fmt::format("'{}' does not fit its tag !!{}", text, tag.substr(tag.rfind(':') + 1)));
    leaf(mark, anchor, std::move(*value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Object());
  }
  void OnMapEnd() override { close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "the alias stands inside the value it refers to");
    aliasNodes_ += nodesIn(found->second);
    if (aliasNodes_ > limits_.maxAliasNodes)
      refuse(mark, fmt::format("aliases multiply to more than {} values", limits_.maxAliasNodes));
    checkDepth(mark, depthOf(found->second));
    mergeKey_ = false;
    put(mark, found->second);
  }

 private:
  struct Frame {
    Value value;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::optional<std::string> key = {};                 // of a map, between key and value
    bool merging = false;                                // that key is <<
    Array merges = {};                                   // values of <<, applied when the map ends
    std::unordered_map<std::string, size_t> lines = {};  // of the keys
  };

  void checkDepth(const YAML::Mark& mark, size_t more) const {
    if (stack_.size() + more > limits_.maxDepth)
      refuse(mark, fmt::format("nested deeper than {} levels", limits_.maxDepth));
  }

  void remember(YAML::anchor_t anchor, const Value& value) {
    if (anchor != YAML::NullAnchor) anchors_.insert_or_assign(anchor, value);
  }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    remember(anchor, value);
    put(mark, std::move(value));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Value empty) {
    checkDepth(mark, 1);
    if (!stack_.empty() && stack_.back().value.is_object() && !stack_.back().key)
      refuse(mark, "a list or a map cannot be a key");
    if (stack_.empty()) line_ = lineOf(mark);
    mergeKey_ = false;
    stack_.push_back({std::move(empty), mark, anchor});
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    for (const Value& merged : frame.merges)
      for (const auto& member : merged.get_object())
        frame.value.get_object().emplace(member.key(), member.value());
    remember(frame.anchor, frame.value);
    put(frame.mark, std::move(frame.value));
  }

  void put(const YAML::Mark& mark, Value value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = stack_.back();
    if (Array* array = frame.value.if_array()) {
      array->push_back(std::move(value));
    } else if (!frame.key) {
      takeKey(frame, mark, value);
    } else {
      takeMember(frame, mark, std::move(value));
    }
  }

  void takeKey(Frame& frame, const YAML::Mark& mark, const Value& value) {
    auto text = keyText(value);
    if (!text)
      refuse(mark, value.is_null() ? "null cannot be a key; want a string"
                                   : "a list or a map cannot be a key");
    frame.merging = mergeKey_;
    if (!frame.merging) {
      const auto [place, added] = frame.lines.emplace(*text, lineOf(mark));
      if (!added)
        refuse(mark, fmt::format("the key '{}' is there twice (line {})", *text, place->second));
    }
    frame.key = std::move(text);
  }

  void takeMember(Frame& frame, const YAML::Mark& mark, Value value) {
    const std::string key = *std::exchange(frame.key, std::nullopt);
    if (!frame.merging) {
      frame.value.get_object().insert_or_assign(key, std::move(value));
      return;
    }
    Array maps = value.is_array() ? std::move(value.get_array()) : Array{std::move(value)};
    for (Value& map : maps) {
      if (!map.is_object()) refuse(mark, "'<<' merges a map or a list of maps");
      frame.merges.push_back(std::move(map));
    }
  }

  std::string_view text_;
  const YamlLimits& limits_;
  std::vector<Frame> stack_;
  std::unordered_map<YAML::anchor_t, Value> anchors_;
  Value root_;
  size_t line_ = 1;
  int lastStart_ = -1;
  size_t aliasNodes_ = 0;
  bool mergeKey_ = false;  // the scalar just read is an unquoted <<
};

Failure failAt(std::string_view text, size_t offset, std::string_view name,
               std::string_view sentence) {
  if (name.empty()) return invalid("{}", pointAt(text, offset, sentence));
  const Position at = positionOf(text, offset);
  return invalid("{}:{}:{}: {}{}", name, at.line, at.column, sentence, excerpt(text, offset));
}

// YAML allows no control characters, and the library takes one of them for the end of the text.
Result<void> checkCharacters(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    const auto [code, length] = firstCharacter(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0)
      return failAt(text, at, name, fmt::format("byte 0x{:02x} is not valid UTF-8", byte));
    if ((code < 0x20 && code != '\t' && code != '\n') || code == 0x7F)
      return failAt(
          text, at, name,
          fmt::format("control character 0x{:02x}; YAML allows only tab and newline", code));
    at += length;
  }
  return {};
}

// One kind of newline and no byte-order mark: what the rest sees.
std::string normalised(std::string_view text) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r')
      out += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      out += '\n';
  }
  return out;
}

Result<std::vector<YamlDocument>> readAll(const std::string& text, std::string_view name,
                                          const YamlLimits& limits) {
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    Builder builder(text, limits);
    std::vector<YamlDocument> documents;
    while (parser.HandleNextDocument(builder))
      if (auto document = builder.take()) documents.push_back(std::move(*document));
    return documents;
  } catch (const YAML::Exception& error) {
    const size_t line = static_cast<size_t>(std::max(error.mark.line, 0));
    const size_t column = static_cast<size_t>(std::max(error.mark.column, 0));
    return failAt(text, offsetOf(text, line, column), name, error.msg);
  }
}

}  // namespace

Result<std::vector<YamlDocument>> parseYaml(std::string_view text, std::string_view name,
                                            const YamlLimits& limits) {
  if (text.size() > limits.maxBytes)
    return fail(Code::kTooLarge, "YAML text of {} bytes; at most {} are accepted", text.size(),
                limits.maxBytes);
  const std::string plain = normalised(text);
  if (auto good = checkCharacters(plain, name); !good) return pass(good.error());
  const size_t start = plain.find_first_not_of(" \t\n");
  const bool braces = start != std::string::npos && plain[start] == '{';
  if (braces) {
    auto value = parse(plain);
    if (value) return std::vector{YamlDocument{std::move(*value), positionOf(plain, start).line}};
  }
  return readAll(plain, name, limits);
}

Result<Value> parseYamlDocument(std::string_view text, std::string_view name) {
  auto documents = parseYaml(text, name);
  if (!documents) return pass(documents.error());
  const std::string_view shown = name.empty() ? "the YAML text" : name;
  if (documents->empty()) return invalid("{} is empty; want one document", shown);
  if (documents->size() > 1)
    return invalid("{} holds {} documents (the second starts at line {}); want one", shown,
                   documents->size(), (*documents)[1].line);
  return std::move(documents->front().value);
}

}  // namespace mangrove::json
