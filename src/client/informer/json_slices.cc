#include "client/informer/json_slices.h"

#include <cstring>

#include "json/view.h"

namespace mangrove::client {

namespace {

// Walks over JSON text. Every function leaves `at_` behind what it read, or fails for good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  void blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char wanted) {
    blanks();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  bool atEnd() {
    blanks();
    return at_ == end_;
  }

  // A string without its quotes, escapes untouched.
  bool string(std::string_view& out) {
    if (!take('"')) return false;
    const char* first = at_;
    if (!skipString()) return false;
    out = {first, static_cast<size_t>(at_ - first - 1)};
    return true;
  }

  // Any value, as text.
  bool value(std::string_view& out) {
    blanks();
    const char* first = at_;
    if (at_ == end_) return false;
    bool good = false;
    if (*at_ == '{' || *at_ == '[') {
      good = skipNested();
    } else if (*at_ == '"') {
      ++at_;
      good = skipString();
    } else {
      good = skipWord();
    }
    if (good) out = {first, static_cast<size_t>(at_ - first)};
    return good;
  }

 private:
  // Behind the opening quote; ends behind the closing one.
  bool skipString() {
    while (at_ < end_) {
      const char* quote =
          static_cast<const char*>(std::memchr(at_, '"', static_cast<size_t>(end_ - at_)));
      if (quote == nullptr) break;
      const char* slash = quote;
      while (slash > at_ && slash[-1] == '\\') --slash;
      at_ = quote + 1;
      if ((quote - slash) % 2 == 0) return true;
    }
    at_ = end_;
    return false;
  }
  bool skipNested() {
    int depth = 0;
    while (at_ < end_) {
      char c = *at_++;
      if (c == '"') {
        if (!skipString()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth == 0) return true;
      }
    }
    return false;
  }
  bool skipWord() {  // number, true, false, null
    const char* first = at_;
    while (at_ < end_ && std::strchr(",]} \n\r\t", *at_) == nullptr) ++at_;
    return at_ > first;
  }

  const char* at_;
  const char* end_;
};

Failure cutOff(std::string_view what) {
  return invalid("the {} is cut off or not JSON", what);
}

// Calls found(key, value) for each member of the object that is the whole text.
template <class Found>
bool eachMember(std::string_view text, Found found) {
  Scanner scan(text);
  if (!scan.take('{')) return false;
  if (scan.take('}')) return scan.atEnd();
  do {
    std::string_view key, value;
    if (!scan.string(key) || !scan.take(':') || !scan.value(value)) return false;
    found(key, value);
  } while (scan.take(','));
  return scan.take('}') && scan.atEnd();
}

bool sliceItems(std::string_view array, std::vector<std::string_view>& items) {
  Scanner scan(array);
  if (!scan.take('[')) return array == "null";
  if (scan.take(']')) return scan.atEnd();
  do {
    std::string_view value;
    if (!scan.value(value)) return false;
    items.push_back(value);
  } while (scan.take(','));
  return scan.take(']') && scan.atEnd();
}

Result<> readListMeta(std::string_view text, ListSlices& out) {
  json::Doc doc;
  auto meta = doc.parse(text);
  if (!meta) return meta.error().in("metadata of the list");
  out.resourceVersion = std::string((*meta)["resourceVersion"].string().value_or(""));
  out.continueToken = std::string((*meta)["continue"].string().value_or(""));
  return {};
}

}  // namespace

Result<ListSlices> sliceList(std::string_view body) {
  ListSlices out;
  std::string_view meta, items;
  bool whole = eachMember(body, [&](std::string_view key, std::string_view value) {
    if (key == "metadata") meta = value;
    if (key == "items") items = value;
  });
  if (!whole) return cutOff("list");
  if (items.empty()) return invalid("the answer has no 'items', so it is not a list");
  if (!sliceItems(items, out.items)) return cutOff("list's 'items'");
  if (!meta.empty()) {
    if (auto good = readListMeta(meta, out); !good) return pass(good.error());
  }
  return out;
}

Result<EventSlice> sliceEvent(std::string_view line) {
  EventSlice out;
  std::string_view type;
  bool whole = eachMember(line, [&](std::string_view key, std::string_view value) {
    if (key == "type") type = value;
    if (key == "object") out.object = value;
  });
  if (!whole) return cutOff("watch event");
  if (out.object.empty() || out.object.front() != '{')
    return invalid("the watch event has no 'object'");
  if (type == "\"ADDED\"") {
    out.type = EventType::kAdded;
  } else if (type == "\"MODIFIED\"") {
    out.type = EventType::kModified;
  } else if (type == "\"DELETED\"") {
    out.type = EventType::kDeleted;
  } else if (type == "\"BOOKMARK\"") {
    out.type = EventType::kBookmark;
  } else if (type != "\"ERROR\"") {
    return invalid("watch event of type {}, want ADDED, MODIFIED, DELETED, BOOKMARK or ERROR",
                   type.empty() ? "nothing" : type);
  }
  return out;
}

}  // namespace mangrove::client
