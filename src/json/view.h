#pragma once
// The fast read path: JSON text → borrowed views, nothing copied, nothing allocated per value.
//
//   json::Doc doc;                        // keep it: buffers are reused from parse to parse
//   auto root = doc.parse(body);
//   if (!root) return root.error().in("pod list");
//   for (json::View pod : (*root)["items"].elements())
//     if (auto name = pod["metadata"]["name"].string()) use(*name);
//
// A Doc owns the text and everything its views point to: views and the strings read from them live
// until the Doc parses again, shrinks or dies. A View is two words, copied freely. Looking into
// something that is not there gives a view of type kAbsent, never an error, so paths can be
// chained. One thread at a time per Doc; several threads may read the views of one Doc while nobody
// parses.
//
// Rules: RFC 8259, UTF-8 checked, no byte-order mark, nothing after the document, depth and size
// limited. Of duplicate keys the last wins, as in Go (members() yields them all, in order).
// Numbers: what fits int64 is kInt, above that up to uint64 kUint, everything else (also 1.0 and
// 1e3) kDouble and no integer, as in Go.
//
// Underneath is simdjson's DOM tape, a documented array of 64-bit words; we walk it ourselves so
// that this header needs no simdjson and loops inline.

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::json {

enum class Type : uint8_t { kAbsent, kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };
const char* typeName(
    Type type);  // "absent", "null", "boolean", "number", "string", "array", "object"

// Where the words and the string bytes are; owned by a Doc.
struct Tape {
  const uint64_t* words = nullptr;
  const uint8_t* strings = nullptr;
};

class Members;
class Elements;

class View {
 public:
  View() = default;  // kAbsent
  View(const Tape* tape, uint32_t index) : tape_(tape), index_(index) {}

  Type type() const;
  bool exists() const { return tape_ != nullptr; }
  bool isNull() const { return tag() == 'n'; }
  bool isBool() const { return tag() == 't' || tag() == 'f'; }
  bool isNumber() const { return tag() == 'l' || tag() == 'd' || tag() == 'u'; }
  bool isString() const { return tag() == '"'; }
  bool isArray() const { return tag() == '['; }
  bool isObject() const { return tag() == '{'; }

  // Each is nullopt when the value is of another type.
  std::optional<std::string_view> string() const;
  std::optional<int64_t> integer() const;  // whole numbers written without point and exponent
  std::optional<uint64_t> unsignedInteger() const;  // the same, not negative, up to uint64
  std::optional<double> number() const;
  std::optional<bool> boolean() const;

  // The member of that name; absent when there is none or this is no object.
  View operator[](std::string_view key) const;
  // The element at that place; absent when out of range or this is no array. Walks from the start.
  View at(size_t index) const;
  // Loops over nothing when this is of another type.
  Members members() const;
  Elements elements() const;
  size_t size() const;  // members or elements; 0 for everything else

  // A number as text, exact for integers, otherwise the shortest that reads back the same ("0.5",
  // "1e+21"). Empty when this is no number. For quantities that people write without quotes.
  std::string numberText() const;

 private:
  friend class Members;
  friend class Elements;
  static constexpr uint64_t kPayload = (uint64_t{1} << 56) - 1;

  char tag() const {
    return tape_ == nullptr ? '\0' : static_cast<char>(tape_->words[index_] >> 56);
  }
  uint64_t payload() const { return tape_->words[index_] & kPayload; }
  std::string_view text() const;
  uint32_t next() const;  // index behind this value

  const Tape* tape_ = nullptr;
  uint32_t index_ = 0;
};

struct Member {
  std::string_view key;
  View value;
};

// for (auto [key, value] : view.members())
class Members {
 public:
  class Iterator {
   public:
    Iterator(const Tape* tape, uint32_t index) : tape_(tape), index_(index) {}
    Member operator*() const { return {View(tape_, index_).text(), View(tape_, index_ + 1)}; }
    Iterator& operator++() {
      index_ = View(tape_, index_ + 1).next();
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Tape* tape_;
    uint32_t index_;
  };
  Members(const Tape* tape, uint32_t first, uint32_t last)
      : tape_(tape), first_(first), last_(last) {}
  Iterator begin() const { return {tape_, first_}; }
  Iterator end() const { return {tape_, last_}; }

 private:
  const Tape* tape_;
  uint32_t first_, last_;
};

// for (View element : view.elements())
class Elements {
 public:
  class Iterator {
   public:
    Iterator(const Tape* tape, uint32_t index) : tape_(tape), index_(index) {}
    View operator*() const { return {tape_, index_}; }
    Iterator& operator++() {
      index_ = View(tape_, index_).next();
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Tape* tape_;
    uint32_t index_;
  };
  Elements(const Tape* tape, uint32_t first, uint32_t last)
      : tape_(tape), first_(first), last_(last) {}
  Iterator begin() const { return {tape_, first_}; }
  Iterator end() const { return {tape_, last_}; }

 private:
  const Tape* tape_;
  uint32_t first_, last_;
};

struct Limits {
  size_t maxBytes = size_t{512} << 20;  // the reader can do 4 GiB; nothing of ours is meant to
  size_t maxDepth =
      512;  // containers with content inside each other; Kubernetes' objects stay below 30
};

class Doc {
 public:
  explicit Doc(Limits limits = {});
  ~Doc();
  Doc(Doc&&) noexcept;
  Doc& operator=(Doc&&) noexcept;

  // Copies the text. Errors name line and column and show the line with a caret.
  Result<View> parse(std::string_view text);
  // The last document parsed; absent when there is none or it was refused.
  View root() const;
  // Gives the buffers back when they are larger than for a text of that size. Ends all views.
  void shrink(size_t bytes = 0);
  size_t capacity() const;  // bytes of text that fit without growing

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Appends the subtree as compact JSON, keys and duplicates as they came.
void write(View view, std::string& out);

// Inline because every decoder loop goes through them.

inline std::string_view View::text() const {
  const uint8_t* at = tape_->strings + payload();
  uint32_t length = 0;
  std::memcpy(&length, at, sizeof length);
  return {reinterpret_cast<const char*>(at + sizeof length), length};
}

inline uint32_t View::next() const {
  switch (tag()) {
    case '{':
    case '[':
      return static_cast<uint32_t>(payload());  // the upper bits hold a count
    case 'l':
    case 'u':
    case 'd':
      return index_ + 2;
    default:
      return index_ + 1;
  }
}

inline std::optional<std::string_view> View::string() const {
  return isString() ? std::optional(text()) : std::nullopt;
}

inline std::optional<int64_t> View::integer() const {
  if (tag() != 'l') return std::nullopt;
  return static_cast<int64_t>(tape_->words[index_ + 1]);
}

inline std::optional<uint64_t> View::unsignedInteger() const {
  const uint64_t word = isNumber() ? tape_->words[index_ + 1] : 0;
  if (tag() == 'u' || (tag() == 'l' && static_cast<int64_t>(word) >= 0)) return word;
  return std::nullopt;
}

inline std::optional<bool> View::boolean() const {
  return isBool() ? std::optional(tag() == 't') : std::nullopt;
}

inline Members View::members() const {
  return isObject() ? Members(tape_, index_ + 1, next() - 1) : Members(nullptr, 0, 0);
}

inline Elements View::elements() const {
  return isArray() ? Elements(tape_, index_ + 1, next() - 1) : Elements(nullptr, 0, 0);
}

}  // namespace mangrove::json
