#include "api/wire/decode.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text/strings.h"

namespace mangrove::api {
namespace {

constexpr uint64_t kSpread = 0xff51afd7ed558ccd;  // odd, bits well spread: a multiplier for hashing
constexpr size_t kShownValue = 60;                // bytes of a refused value that an error shows

std::string shown(json::View view) {
  if (auto text = view.string()) {
    const bool cut = text->size() > kShownValue;
    return fmt::format(" '{}{}'", text->substr(0, kShownValue), cut ? "…" : "");
  }
  if (view.isNumber()) return fmt::format(" {}", view.numberText());
  if (auto flag = view.boolean()) return *flag ? " true" : " false";
  return "";
}

bool needsBrackets(std::string_view key) {
  return key.empty() || key.find_first_of("./[] ") != std::string_view::npos;
}

template <class Int>
bool readInteger(const In& in, Int& out) {
  auto value = in.view.integer();
  if (!value) return in.wants("an integer");
  using Limits = std::numeric_limits<Int>;
  if (*value < Limits::min() || *value > Limits::max())
    return in.refuse("{} does not fit, want {} to {}", *value, Limits::min(), Limits::max());
  out = static_cast<Int>(*value);
  in.mix(static_cast<uint64_t>(*value));
  return true;
}

}  // namespace

std::string In::path() const {
  if (parent_ == nullptr) return {};
  std::string outer = parent_->path();
  if (index_ != kNoIndex) return fmt::format("{}[{}]", outer, index_);
  if (needsBrackets(key_)) return fmt::format("{}[{}]", outer, key_);
  return outer.empty() ? std::string(key_) : fmt::format("{}.{}", outer, key_);
}

bool In::wants(std::string_view wanted) const {
  return refuse("found {}{}, want {}", json::typeName(view.type()), shown(view), wanted);
}

bool In::refused(std::string sentence) const {
  if (!reading_->trouble.empty()) return false;
  const std::string place = path();
  reading_->trouble = place.empty() ? std::move(sentence) : fmt::format("{}: {}", place, sentence);
  return false;
}

void In::mix(std::string_view text) const {
  mix(text.size());
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    mix(word);
    text.remove_prefix(sizeof word);
  }
  uint64_t tail = 0;
  if (!text.empty()) std::memcpy(&tail, text.data(), text.size());
  mix(tail);
}

bool read(const In& in, bool& out) {
  auto value = in.view.boolean();
  if (!value) return in.wants("true or false");
  out = *value;
  in.mix(out ? 1 : 2);
  return true;
}

bool read(const In& in, int32_t& out) {
  return readInteger(in, out);
}
bool read(const In& in, int64_t& out) {
  return readInteger(in, out);
}

bool read(const In& in, double& out) {
  auto value = in.view.number();
  if (!value) return in.wants("a number");
  out = *value;
  uint64_t bits = 0;
  std::memcpy(&bits, &out, sizeof bits);
  in.mix(bits);
  return true;
}

std::optional<std::string_view> readString(const In& in) {
  auto value = in.view.string();
  if (!value) {
    in.wants("a string");
    return std::nullopt;
  }
  in.mix(*value);
  return value;
}

bool read(const In& in, std::string& out) {
  auto value = readString(in);
  if (value) out.assign(*value);
  return value.has_value();
}

Interned internRecent(std::string_view text) {
  static constexpr size_t kSlots = 4096;  // 16 KiB per thread that decodes
  thread_local std::array<Interned, kSlots> recent{};
  uint64_t front = 0, back = 0;
  const size_t taken = std::min(text.size(), sizeof front);
  if (taken != 0) {
    std::memcpy(&front, text.data(), taken);
    std::memcpy(&back, text.data() + text.size() - taken, taken);
  }
  const uint64_t mixed = (front ^ (back * kSpread) ^ text.size()) * kSpread;
  Interned& slot = recent[mixed >> 52];
  if (slot.view() != text) slot = Interned(text);
  return slot;
}

bool read(const In& in, Interned& out) {
  auto value = in.view.string();
  if (!value) return in.wants("a string");
  out = internRecent(*value);
  in.mix(out.id());
  return true;
}

bool read(const In& in, Quantity& out) {
  const auto text = in.view.string();
  if (!text && !in.view.isNumber()) return in.wants("a quantity");
  const std::string number = text ? std::string() : in.view.numberText();
  auto quantity = Quantity::parse(text ? *text : std::string_view(number));
  if (!quantity)
    return in.refuse("'{}' is not a quantity", text ? *text : std::string_view(number));
  out = *std::move(quantity);
  in.mix(static_cast<uint64_t>(out.milliValue()));
  return true;
}

bool read(const In& in, WallTime& out) {
  auto text = readString(in);
  if (!text) return false;
  auto time = parseTime(*text);
  if (!time) return in.refuse("'{}' is not an RFC 3339 time", *text);
  out = *time;
  return true;
}

bool read(const In& in, Duration& out) {
  auto text = readString(in);
  if (!text) return false;
  auto duration = parseDuration(*text);
  if (!duration) return in.refuse("'{}' is not a duration such as 1h30m", *text);
  out = *duration;
  return true;
}

bool read(const In& in, IntOrString& out) {
  out.isText = in.view.isString();
  if (out.isText) return read(in, out.text);
  if (!in.view.integer()) return in.wants("an integer or a string");
  return read(in, out.number);
}

bool read(const In& in, RawJson& out) {
  out.text.clear();
  json::write(in.view, out.text);
  in.mix(out.text);
  return true;
}

namespace {

constexpr size_t kNoPlace = ~size_t{0};

size_t placeOf(std::string_view key, const detail::TableRef& table, bool anyCase) {
  for (size_t slot = detail::slotOf(key) & table.mask; table.slots[slot] != 0;
       slot = (slot + 1) & table.mask) {
    const size_t place = table.slots[slot] - 1u;
    if (table.keys[place] == key) return place;
  }
  for (size_t slot = 0; anyCase && slot <= table.mask; slot++) {
    if (table.slots[slot] == 0) continue;
    const size_t place = table.slots[slot] - 1u;
    if (equalIgnoringCase(table.keys[place], key)) return place;
  }
  return kNoPlace;
}

}  // namespace

bool detail::readMembers(const In& in, void* out, const TableRef& table) {
  if (!in.view.isObject()) return in.wants("an object");
  for (auto [key, value] : in.view.members()) {
    if (value.isNull()) continue;
    const size_t place = placeOf(key, table, in.reading().anyCase);
    if (place == kNoPlace) continue;
    in.mix(place);
    if (!table.readers[place](in.member(key, value), out)) return false;
  }
  return true;
}

Failure refusal(const Reading& reading) {
  return invalid("{}", reading.trouble.empty() ? "cannot be decoded" : reading.trouble);
}

namespace {
thread_local json::Doc* textDocInUse = nullptr;

json::Doc& threadDoc() {
  thread_local json::Doc doc;
  return doc;
}
}  // namespace

TextDoc::TextDoc() : doc_(&threadDoc()) {
  if (textDocInUse == nullptr) {
    textDocInUse = doc_;
  } else {
    fresh_ = std::make_unique<json::Doc>();
    doc_ = fresh_.get();
  }
}

TextDoc::~TextDoc() {
  if (fresh_ == nullptr) textDocInUse = nullptr;
}

}  // namespace mangrove::api
