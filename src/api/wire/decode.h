#pragma once
// How JSON becomes typed structs: one pass over the members of an object, dispatched by a table
// built at compile time.
//
//   struct Taint { std::string key, value; Effect effect; std::optional<WallTime> timeAdded; };
//
//   bool read(const In& in, Taint& out) {
//     static constexpr Fields fields{
//         field<&Taint::key>("key"),
//         field<&Taint::value>("value"),
//         via<readEffect>("effect"),                 // bool readEffect(const In&, Taint&)
//         field<&Taint::timeAdded>("timeAdded"),
//     };
//     return fields.read(in, out);
//   }
//
//   Result<Taint> taint = decode<Taint>(view);             // or decodeText<Taint>(annotation)
//   // error: "timeAdded: 'yesterday' is not an RFC 3339 time"
//
// A type is readable when `bool read(const In&, T&)` is found for it (argument-dependent lookup; a
// function local to a .cc file must be `static`, not in an unnamed namespace). Containers of
// readable types are readable: vector, optional, unique_ptr, map<string, T>.
//
// Rules, those of Kubernetes' own decoder: unknown members are ignored, null is the same as absent,
// names are case-sensitive, a value of the wrong type is an error (a number is no string, 1.0 is no
// integer, integers must fit their field). Words of an enumeration that we do not know are not an
// error; each read says what they become. Errors name the place and what was found:
// "spec.containers[1].resources.requests.cpu: 'x' is not a quantity".
//
// Everything here is a pure function of the view; any thread. Views must stay alive until decode
// returns, the structs own what they hold.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include "base/number/int128.h"
#include "base/number/quantity.h"
#include "base/number/units.h"
#include "base/result.h"
#include "base/text/interned.h"
#include "base/text/time_text.h"
#include "json/view.h"

namespace mangrove::api {

// What one decode run carries along: the first thing that went wrong, and a running digest of all
// values read, by which equal parts of different objects are found (shared.h).
struct Reading {
  std::string trouble;
  uint64_t digest = 0;
  // Member names match whatever their case when none matches exactly: Go's plain decoder, by which
  // annotations and ConfigMap texts are read, unlike objects.
  bool anyCase = false;
};

// A value in the document and its place there. Lives on the stack, linked to its parent; the path
// becomes text only when something is wrong.
class In {
 public:
  In(json::View value, Reading& reading) : view(value), reading_(&reading) {}
  In member(std::string_view key, json::View value) const {
    return In(value, *this, key, kNoIndex);
  }
  In element(size_t index, json::View value) const { return In(value, *this, {}, index); }

  const json::View view;

  std::string path()
      const;  // "spec.containers[1].name", "metadata.labels[a.b/c]"; "" for the document
  // Both record "<path>: …" and return false, so that a read can end with `return in.wants("an
  // integer")`.
  bool wants(std::string_view wanted) const;  // "found string 'x', want an integer"
  template <class... Args>
  bool refuse(fmt::format_string<Args...> format, Args&&... args) const {
    return refused(fmt::format(format, std::forward<Args>(args)...));
  }

  Reading& reading() const { return *reading_; }
  void mix(uint64_t value) const {  // one multiply and a fold: cheap, and only ever a hint
    const auto product = static_cast<Uint128>(reading_->digest ^ value) * kMixer;
    reading_->digest = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  void mix(std::string_view text) const;

 private:
  static constexpr size_t kNoIndex = ~size_t{0};
  static constexpr uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
  In(json::View value, const In& parent, std::string_view key, size_t index)
      : view(value), parent_(&parent), key_(key), index_(index), reading_(parent.reading_) {}
  bool refused(std::string sentence) const;

  const In* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = kNoIndex;
  Reading* reading_;
};

// ---- values ----------------------------------------------------------------------------------

bool read(const In& in, bool& out);
bool read(const In& in, int32_t& out);
bool read(const In& in, int64_t& out);
bool read(const In& in, double& out);  // any number
bool read(const In& in, std::string& out);
bool read(const In& in, Interned& out);
// The same handle as Interned(text), found faster when this thread saw the text lately: objects of
// one list repeat each other.
Interned internRecent(std::string_view text);
bool read(const In& in, Quantity& out);  // text or number
bool read(const In& in, WallTime& out);  // RFC 3339; absent times are kZeroTime, as in Go
bool read(const In& in, Duration& out);  // Go's "1h30m"

// A plain integer in the unit of the type: sizeBytes into Bytes.
template <class Tag>
bool read(const In& in, Amount<Tag>& out) {
  return read(in, out.v);
}

// Either form, remembering which: "25%", "10M" or 25.
struct IntOrString {
  bool isText = false;
  int32_t number = 0;
  std::string text;
  bool operator==(const IntOrString&) const = default;
};
bool read(const In& in, IntOrString& out);

// A string borrowed from the document; nullopt after in.wants("a string").
std::optional<std::string_view> readString(const In& in);

// Words of an enumeration; an unknown word leaves `out` as it is.
template <class E>
struct Word {
  std::string_view text;
  E value;
};
template <class E, size_t N>
bool readWord(const In& in, E& out, const Word<E> (&words)[N]) {
  auto text = readString(in);
  if (!text) return false;
  for (const auto& word : words)
    if (word.text == *text) out = word.value;
  return true;
}
template <class E, size_t N>
constexpr std::string_view wordFor(E value, const Word<E> (&words)[N]) {
  for (const auto& word : words)
    if (word.value == value) return word.text;
  return {};
}

// The subtree as JSON text, for parts that are handed on unread.
struct RawJson {
  std::string text;  // "" when absent
  bool operator==(const RawJson&) const = default;
};
bool read(const In& in, RawJson& out);

// ---- containers ------------------------------------------------------------------------------

template <class T>
bool read(const In& in, std::vector<T>& out) {
  if (!in.view.isArray()) return in.wants("an array");
  out.clear();
  out.reserve(in.view.size());
  size_t index = 0;
  for (json::View value : in.view.elements()) {
    const In element = in.element(index++, value);
    T& slot = out.emplace_back();
    if (!value.isNull() && !read(element, slot)) return false;
  }
  in.mix(index);
  return true;
}

template <class T>
bool read(const In& in, std::optional<T>& out) {
  return read(in, out.emplace());
}

template <class T>
bool read(const In& in, std::unique_ptr<T>& out) {
  out = std::make_unique<T>();
  return read(in, *out);
}

template <class T>
bool read(const In& in, std::map<std::string, T>& out) {
  if (!in.view.isObject()) return in.wants("an object");
  out.clear();
  for (auto [key, value] : in.view.members()) {
    in.mix(key);
    T& slot = out[std::string(key)];
    if (!value.isNull() && !read(in.member(key, value), slot)) return false;
  }
  return true;
}

// ---- objects ---------------------------------------------------------------------------------

template <class T>
struct Field {
  std::string_view key;
  bool (*read)(const In&, void*);  // the void* is a T*
};

namespace detail {

template <class C, class M>
C ownerOf(M C::*);
template <class T>
T argumentOf(bool (*)(const In&, T&));

// Where a key is looked for first. Members of one object differ in length, ends or middle; the few
// that do not share a slot and the next one is tried.
constexpr size_t slotOf(std::string_view key) {
  if (key.empty()) return 0;
  const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(key[i])); };
  return key.size() * 7 + at(0) + at(key.size() / 2) * 3 + at(key.size() - 1) * 5;
}

// The table without its type: keys, readers and an open-addressed index into them.
struct TableRef {
  const std::string_view* keys;
  bool (*const* readers)(const In&, void*);
  const uint8_t* slots;  // 0: empty, else 1 + place in keys
  size_t mask;
};
bool readMembers(const In& in, void* out, const TableRef& table);

}  // namespace detail

// The member `key` goes to the struct's field by read(in, field).
template <auto Member>
constexpr auto field(std::string_view key) {
  using T = decltype(detail::ownerOf(Member));
  return Field<T>{key,
                  [](const In& in, void* out) { return read(in, static_cast<T*>(out)->*Member); }};
}

// The member `key` is read by a function of its own: bool fn(const In&, T&).
template <auto Fn>
constexpr auto via(std::string_view key) {
  using T = decltype(detail::argumentOf(Fn));
  return Field<T>{key, [](const In& in, void* out) { return Fn(in, *static_cast<T*>(out)); }};
}

template <class T, size_t N>
class Fields {
 public:
  template <class... Rest>
  constexpr Fields(Field<T> first, Rest... rest) {
    const std::array<Field<T>, N> all{first, rest...};
    for (size_t i = 0; i < N; i++) add(i, all[i]);
  }
  // Members we do not know are skipped; false when a known one was refused (in.reading().trouble
  // says why).
  bool read(const In& in, T& out) const {
    return detail::readMembers(in, &out,
                               {keys_.data(), readers_.data(), slots_.data(), kSlots - 1});
  }

 private:
  static constexpr size_t kSlots = N <= 4 ? 16 : N <= 8 ? 32 : N <= 16 ? 64 : N <= 32 ? 128 : 256;
  static_assert(N < kSlots);

  constexpr void add(size_t i, const Field<T>& field) {
    keys_[i] = field.key;
    readers_[i] = field.read;
    size_t slot = detail::slotOf(field.key) & (kSlots - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (kSlots - 1);
    slots_[slot] = static_cast<uint8_t>(i + 1);
  }

  std::array<std::string_view, N> keys_{};
  std::array<bool (*)(const In&, void*), N> readers_{};
  std::array<uint8_t, kSlots> slots_{};
};
template <class T, class... Rest>
Fields(Field<T>, Rest...) -> Fields<T, 1 + sizeof...(Rest)>;

// ---- whole values ----------------------------------------------------------------------------

// The trouble of a failed read as an Error.
Failure refusal(const Reading& reading);

template <class T>
Result<T> decode(json::View view) {
  Reading reading;
  T out{};
  if (view.exists() && !view.isNull() && !read(In(view, reading), out)) return refusal(reading);
  return out;
}

// A document of this thread's own, so that small texts (annotations) cost no buffers. Nested use
// gets a fresh one.
class TextDoc {
 public:
  TextDoc();
  ~TextDoc();
  TextDoc(const TextDoc&) = delete;
  TextDoc& operator=(const TextDoc&) = delete;
  Result<json::View> parse(std::string_view text) { return doc_->parse(text); }

 private:
  std::unique_ptr<json::Doc> fresh_;
  json::Doc* doc_;
};

template <class T>
Result<T> decodeText(std::string_view text) {
  TextDoc doc;
  auto view = doc.parse(text);
  if (!view) return pass(view.error());
  return decode<T>(*view);
}

}  // namespace mangrove::api
