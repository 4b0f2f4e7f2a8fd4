#include "json/view.h"

#include <algorithm>
#include <bit>

#include <simdjson.h>

#include "base/check.h"
#include "json/diagnose.h"
#include "json/print.h"
#include "json/text_position.h"

namespace mangrove::json {
namespace {

constexpr uint64_t kCountLimit =
    0xFFFFFF;  // the tape counts children up to here and then stays there

// The reader reserves 14 bytes per byte of capacity, touched only as far as they are used. A
// quarter more than asked keeps a slowly growing list from reallocating every time.
size_t roundedCapacity(size_t bytes) {
  return std::max<size_t>(bytes + bytes / 4, 4096);
}

Failure faultError(std::string_view text, const Fault& fault) {
  return invalid("{}", pointAt(text, fault.offset, fault.sentence));
}

}  // namespace

struct Doc::Impl {
  explicit Impl(Limits given) : limits(given) {}

  Result<View> parse(std::string_view text);
  Result<void> reserve(size_t bytes);
  simdjson::error_code read(std::string_view text);
  Result<View> refusal(std::string_view text, simdjson::error_code code);
  std::optional<std::string> withoutBigIntegers(std::string_view text) const;

  Limits limits;
  simdjson::dom::parser parser{simdjson::SIMDJSON_MAXSIZE_BYTES};
  std::unique_ptr<char[]> padded;  // a copy of the text and what the reader may look at behind it
  size_t paddedSize = 0;
  Tape tape;
  bool valid = false;
};

Result<void> Doc::Impl::reserve(size_t bytes) {
  if (paddedSize >= bytes + simdjson::SIMDJSON_PADDING) return {};
  const size_t capacity = roundedCapacity(bytes);
  paddedSize = capacity + simdjson::SIMDJSON_PADDING;
  padded.reset(new char[paddedSize]);
  if (auto code = parser.allocate(capacity, limits.maxDepth + 1); code != simdjson::SUCCESS) {
    paddedSize = 0;
    return fail(Code::kTooLarge, "no memory to read a JSON document of {} bytes", bytes);
  }
  return {};
}

simdjson::error_code Doc::Impl::read(std::string_view text) {
  std::memcpy(padded.get(), text.data(), text.size());
  std::memset(padded.get() + text.size(), ' ', simdjson::SIMDJSON_PADDING);
  const auto code = parser.parse(padded.get(), text.size(), false).error();
  if (code != simdjson::SUCCESS) return code;
  tape = {parser.doc.tape.get(), parser.doc.string_buf.get()};
  valid = true;
  return code;
}

std::optional<std::string> Doc::Impl::withoutBigIntegers(std::string_view text) const {
  const auto ends = endsOfBigIntegers(text);
  if (ends.empty()) return std::nullopt;
  std::string out;
  size_t from = 0;
  for (size_t end : ends) {
    out.append(text.substr(from, end - from)).append(".0");
    from = end;
  }
  return out.append(text.substr(from));
}

Result<View> Doc::Impl::refusal(std::string_view text, simdjson::error_code code) {
  if (auto fault = firstFault(text, limits.maxDepth)) return faultError(text, *fault);
  if (auto rewritten = withoutBigIntegers(text)) {
    if (auto room = reserve(rewritten->size()); !room) return pass(room.error());
    if (read(*rewritten) == simdjson::SUCCESS) return View(&tape, 1);
  }
  return invalid("not a JSON document: {}", simdjson::error_message(code));
}

Result<View> Doc::Impl::parse(std::string_view text) {
  valid = false;
  if (text.size() > limits.maxBytes)
    return fail(Code::kTooLarge, "JSON document of {} bytes; at most {} are accepted", text.size(),
                limits.maxBytes);
  if (auto room = reserve(text.size()); !room) return pass(room.error());
  const auto code = text.empty() ? simdjson::EMPTY : read(text);
  if (code == simdjson::SUCCESS) return View(&tape, 1);
  return refusal(text, code);
}

Doc::Doc(Limits limits) : impl_(std::make_unique<Impl>(limits)) {}
Doc::~Doc() = default;
Doc::Doc(Doc&&) noexcept = default;
Doc& Doc::operator=(Doc&&) noexcept = default;

Result<View> Doc::parse(std::string_view text) {
  return impl_->parse(text);
}

View Doc::root() const {
  return impl_->valid ? View(&impl_->tape, 1) : View();
}

size_t Doc::capacity() const {
  return impl_->paddedSize == 0 ? 0 : impl_->paddedSize - simdjson::SIMDJSON_PADDING;
}

void Doc::shrink(size_t bytes) {
  if (capacity() <= roundedCapacity(bytes)) return;
  impl_ = std::make_unique<Impl>(impl_->limits);
}

const char* typeName(Type type) {
  switch (type) {
    case Type::kAbsent:
      return "absent";
    case Type::kNull:
      return "null";
    case Type::kBool:
      return "boolean";
    case Type::kInt:
    case Type::kUint:
    case Type::kDouble:
      return "number";
    case Type::kString:
      return "string";
    case Type::kArray:
      return "array";
    case Type::kObject:
      return "object";
  }
  return "unknown";
}

Type View::type() const {
  switch (tag()) {
    case 'n':
      return Type::kNull;
    case 't':
    case 'f':
      return Type::kBool;
    case 'l':
      return Type::kInt;
    case 'u':
      return Type::kUint;
    case 'd':
      return Type::kDouble;
    case '"':
      return Type::kString;
    case '[':
      return Type::kArray;
    case '{':
      return Type::kObject;
    default:
      return Type::kAbsent;
  }
}

std::optional<double> View::number() const {
  if (!isNumber()) return std::nullopt;
  const uint64_t word = tape_->words[index_ + 1];
  if (tag() == 'd') return std::bit_cast<double>(word);
  return tag() == 'u' ? static_cast<double>(word) : static_cast<double>(static_cast<int64_t>(word));
}

View View::operator[](std::string_view key) const {
  View found;
  for (auto [name, value] : members())
    if (name == key) found = value;
  return found;
}

View View::at(size_t index) const {
  for (View element : elements())
    if (index-- == 0) return element;
  return {};
}

size_t View::size() const {
  if (!isObject() && !isArray()) return 0;
  const uint64_t count = payload() >> 32;
  if (count < kCountLimit) return count;
  size_t counted = 0;
  if (isObject())
    for ([[maybe_unused]] auto member : members()) ++counted;
  else
    for ([[maybe_unused]] auto element : elements()) ++counted;
  return counted;
}

std::string View::numberText() const {
  std::string out;
  if (isNumber()) write(*this, out);
  return out;
}

namespace {

template <class Range, class Each>
void writeAll(Range range, char open, char close, std::string& out, Each each) {
  out += open;
  bool first = true;
  for (auto item : range) {
    if (!std::exchange(first, false)) out += ',';
    each(item);
  }
  out += close;
}

void writeMembers(View view, std::string& out) {
  writeAll(view.members(), '{', '}', out, [&](const Member& member) {
    appendString(member.key, out);
    out += ':';
    write(member.value, out);
  });
}

}  // namespace

// Recursion is bounded by the depth limit of the Doc.
void write(View view, std::string& out) {
  switch (view.type()) {
    case Type::kAbsent:
    case Type::kNull:
      out += "null";
      return;
    case Type::kBool:
      out += *view.boolean() ? "true" : "false";
      return;
    case Type::kInt:
      appendInteger(*view.integer(), out);
      return;
    case Type::kUint:
      appendUnsigned(*view.unsignedInteger(), out);
      return;
    case Type::kDouble:
      appendDouble(*view.number(), out);
      return;
    case Type::kString:
      appendString(*view.string(), out);
      return;
    case Type::kArray:
      writeAll(view.elements(), '[', ']', out, [&](View element) { write(element, out); });
      return;
    case Type::kObject:
      writeMembers(view, out);
      return;
  }
}

}  // namespace mangrove::json
