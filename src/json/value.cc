#include "json/value.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/arena.h"
#include "json/print.h"
#include "json/view.h"

namespace mangrove::json {
namespace {

// Documents of ordinary size are read, and written, in buffers that stay; larger ones give theirs
// back.
constexpr size_t kKeptText = 32 * 1024;

Object toObject(View view, const Storage& storage) {
  Object out(storage);
  out.reserve(view.size());
  for (auto [key, value] : view.members()) out.insert_or_assign(key, toValue(value, storage));
  return out;
}

Array toArray(View view, const Storage& storage) {
  Array out(storage);
  out.reserve(view.size());
  for (View element : view.elements()) out.push_back(toValue(element, storage));
  return out;
}

// One writer for the three layouts: sorted or not, with newlines or not.
class Writer {
 public:
  Writer(bool sorted, int indent, std::string& out) : sorted_(sorted), indent_(indent), out_(out) {}

  void value(const Value& value) {
    switch (value.kind()) {
      case boost::json::kind::null:
        out_ += "null";
        return;
      case boost::json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        return;
      case boost::json::kind::int64:
        appendInteger(value.get_int64(), out_);
        return;
      case boost::json::kind::uint64:
        appendUnsigned(value.get_uint64(), out_);
        return;
      case boost::json::kind::double_:
        appendDouble(value.get_double(), out_);
        return;
      case boost::json::kind::string:
        appendString(value.get_string(), out_);
        return;
      case boost::json::kind::array:
        array(value.get_array());
        return;
      case boost::json::kind::object:
        object(value.get_object());
        return;
    }
  }

 private:
  void array(const Array& array) {
    open('[');
    bool first = true;
    for (const Value& element : array) {
      separate(first);
      value(element);
    }
    close(']', first);
  }

  void object(const Object& object) {
    open('{');
    bool first = true;
    if (sorted_)
      for (const auto* one : ordered(object)) member(*one, first);
    else
      for (const auto& one : object) member(one, first);
    close('}', first);
  }

  void member(const boost::json::key_value_pair& member, bool& first) {
    separate(first);
    appendString(member.key(), out_);
    out_ += indent_ > 0 ? ": " : ":";
    value(member.value());
  }

  static std::vector<const boost::json::key_value_pair*> ordered(const Object& object) {
    std::vector<const boost::json::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->key() < b->key(); });
    return members;
  }

  void open(char bracket) {
    out_ += bracket;
    ++depth_;
  }
  void separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
    newline();
  }
  void close(char bracket, bool empty) {
    --depth_;
    if (!empty) newline();
    out_ += bracket;
  }
  void newline() {
    if (indent_ > 0)
      out_.append(1, '\n').append(static_cast<size_t>(depth_) * static_cast<size_t>(indent_), ' ');
  }

  bool sorted_;
  int indent_;
  int depth_ = 0;
  std::string& out_;
};

// The text grows in a buffer that is reused, so that the result is as large as it needs to be.
std::string written(const Value& value, bool sorted, int indent) {
  thread_local std::string buffer;
  buffer.clear();
  Writer(sorted, indent, buffer).value(value);
  if (buffer.capacity() > kKeptText) return std::exchange(buffer, std::string());
  return buffer;
}

// An integer equals a double that it would be rounded to: a double above 2^53 prints as the integer
// of its shortest digits and must stay equal to itself when it is read back.
bool equalNumbers(const Value& a, const Value& b) {
  if (a.is_double() == b.is_double()) return a == b;
  return a.to_number<double>() == b.to_number<double>();
}

bool equalObjects(const Object& a, const Object& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& member) {
    const Value* other = b.if_contains(member.key());
    return other != nullptr && equal(member.value(), *other);
  });
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return equalNumbers(a, b);
  if (a.kind() != b.kind()) return false;
  if (a.is_object()) return equalObjects(a.get_object(), b.get_object());
  if (!a.is_array()) return a == b;
  return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                    b.get_array().end(),
                    [](const Value& x, const Value& y) { return equal(x, y); });
}

Value toValue(View view) {
  return toValue(view, {});
}

Value toValue(View view, Storage storage) {
  switch (view.type()) {
    case Type::kAbsent:
    case Type::kNull:
      return nullptr;
    case Type::kBool:
      return *view.boolean();
    case Type::kInt:
      return *view.integer();
    case Type::kUint:
      return *view.unsignedInteger();
    case Type::kDouble:
      return *view.number();
    case Type::kString:
      return boost::json::string(*view.string(), storage);
    case Type::kArray:
      return toArray(view, storage);
    case Type::kObject:
      return toObject(view, storage);
  }
  return nullptr;
}

Result<Value> parse(std::string_view text) {
  return parse(text, Storage());
}

Result<Value> parse(std::string_view text, Storage storage) {
  thread_local Doc doc;
  auto root = doc.parse(text);
  Result<Value> value = root ? Result<Value>(toValue(*root, storage)) : pass(root.error());
  doc.shrink(kKeptText);
  return value;
}

std::string write(const Value& value) {
  return written(value, false, 0);
}

std::string writeSorted(const Value& value) {
  return written(value, true, 0);
}

std::string writePretty(const Value& value, int indent) {
  return written(value, false, indent);
}

}  // namespace mangrove::json
