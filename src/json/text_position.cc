#include "json/text_position.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::json {
namespace {

constexpr size_t kExcerptReach = 60;  // bytes shown on each side of the caret

bool continuesCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

size_t lineStart(std::string_view text, size_t offset) {
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

size_t lineEnd(std::string_view text, size_t offset) {
  return std::min(text.find('\n', offset), text.size());
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continuesCharacter(c); }));
}

// One printed cell per character: control bytes and broken UTF-8 must not move the caret or the
// terminal.
std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return out;
}

}  // namespace

Position positionOf(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t start = lineStart(text, offset);
  const auto newlines = std::count(text.begin(), text.begin() + static_cast<long>(start), '\n');
  return {static_cast<size_t>(newlines) + 1, characters(text.substr(start, offset - start)) + 1};
}

size_t offsetOf(std::string_view text, size_t line, size_t column) {
  size_t at = 0;
  for (; line > 0; --line) {
    const size_t newline = text.find('\n', at);
    if (newline == std::string_view::npos) return text.size();
    at = newline + 1;
  }
  return std::min(at + column, lineEnd(text, at));
}

std::string excerpt(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t start = lineStart(text, offset);
  const size_t end = lineEnd(text, offset);
  size_t from = offset - start > kExcerptReach ? offset - kExcerptReach : start;
  size_t to = std::min(end, offset + kExcerptReach);
  while (from < offset && continuesCharacter(text[from])) ++from;
  while (to > offset && to < end && continuesCharacter(text[to])) --to;
  const std::string_view before = text.substr(from, offset - from);
  return fmt::format("\n  {}{}\n  {}^", printable(before),
                     printable(text.substr(offset, to - offset)),
                     std::string(characters(before), ' '));
}

std::string pointAt(std::string_view text, size_t offset, std::string_view sentence) {
  const Position at = positionOf(text, offset);
  return fmt::format("line {}, column {}: {}{}", at.line, at.column, sentence,
                     excerpt(text, offset));
}

}  // namespace mangrove::json
