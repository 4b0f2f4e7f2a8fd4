#pragma once
// Short texts one behind the other in one buffer, each with its length in front: a list of labels
// costs one allocation and no pointers. A view; the bytes belong to somebody else.
//
//   std::string buffer;  packText(buffer, "app"); packText(buffer, "web");
//   for (std::string_view text : PackedTexts(buffer)) …
//   PackedPairs(buffer).find("app")        → "web"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mangrove::store {

inline void packText(std::string& buffer, std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  buffer.append(reinterpret_cast<const char*>(&length), sizeof length);
  buffer.append(text);
}

class PackedTexts {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    explicit Iterator(const char* at) : at_(at) {}
    std::string_view operator*() const { return {at_ + sizeof(uint32_t), length()}; }
    Iterator& operator++() {
      at_ += sizeof(uint32_t) + length();
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    uint32_t length() const {
      uint32_t value = 0;
      std::memcpy(&value, at_, sizeof value);
      return value;
    }
    const char* at_;
  };

  using value_type = std::string_view;
  using const_iterator = Iterator;

  PackedTexts() = default;
  explicit PackedTexts(std::string_view buffer) : buffer_(buffer) {}
  Iterator begin() const { return Iterator(buffer_.data()); }
  Iterator end() const { return Iterator(buffer_.data() + buffer_.size()); }
  bool empty() const { return buffer_.empty(); }
  size_t size() const { return static_cast<size_t>(std::distance(begin(), end())); }
  // Empty text when there is no such place.
  std::string_view operator[](size_t index) const {
    for (std::string_view text : *this)
      if (index-- == 0) return text;
    return {};
  }

 private:
  std::string_view buffer_;
};

// Texts taken two by two: name, value, name, value.
class PackedPairs {
 public:
  PackedPairs() = default;
  explicit PackedPairs(PackedTexts texts) : texts_(texts) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<std::string_view, std::string_view>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    explicit Iterator(PackedTexts::Iterator at) : at_(at) {}
    std::pair<std::string_view, std::string_view> operator*() const {
      auto value = at_;
      return {*at_, *++value};
    }
    Iterator& operator++() {
      ++ ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    PackedTexts::Iterator at_;
  };
  using value_type = std::pair<std::string_view, std::string_view>;
  using const_iterator = Iterator;

  Iterator begin() const { return Iterator(texts_.begin()); }
  Iterator end() const { return Iterator(texts_.end()); }
  bool empty() const { return texts_.empty(); }
  std::optional<std::string_view> find(std::string_view name) const {
    for (auto [key, value] : *this)
      if (key == name) return value;
    return std::nullopt;
  }

 private:
  PackedTexts texts_;
};

}  // namespace mangrove::store
