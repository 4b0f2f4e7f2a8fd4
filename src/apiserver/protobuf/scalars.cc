#include "apiserver/protobuf/scalars.h"

#include "base/text/time_text.h"
#include "base/text/wire.h"
#include "json/utf8.h"

namespace mangrove::apiserver::protobuf {

namespace {

// Year 1 to year 9999, what RFC 3339 can write.
constexpr int64_t kFirstSecond = -62135596800, kLastSecond = 253402300799;
// With the messages around it (decode.h, two levels each) below the 512 levels our reader takes.
constexpr size_t kDeepestFree = 256;
constexpr int64_t kNanosPerMicro = 1000, kMicrosPerSecond = 1'000'000;

// All small messages have at most three fields, of these two wire types.
struct Parts {
  uint64_t numbers[4] = {};
  std::string_view bytes[4];
};

Result<Parts> partsOf(std::string_view message, std::initializer_list<WireType> wanted) {
  Parts parts;
  WireReader in(message);
  while (!in.done()) {
    auto tag = in.tag();
    if (!tag) return pass(tag.error());
    if (tag->number > wanted.size()) {
      if (auto skipped = in.skip(*tag); !skipped) return pass(skipped.error());
      continue;
    }
    const WireType want = wanted.begin()[tag->number - 1];
    if (tag->type != want) return invalid("number {} has the wrong wire type", tag->number);
    if (want == WireType::kVarint) {
      auto number = in.varint();
      if (!number) return pass(number.error());
      parts.numbers[tag->number] = *number;
    } else {
      auto bytes = in.bytes();
      if (!bytes) return pass(bytes.error());
      parts.bytes[tag->number] = *bytes;
    }
  }
  return parts;
}

Result<json::Value> timeValue(Type type, std::string_view message) {
  if (message.empty()) return json::Value(nullptr);
  auto parts = partsOf(message, {WireType::kVarint, WireType::kVarint});
  if (!parts) return pass(parts.error());
  const auto seconds = static_cast<int64_t>(parts->numbers[1]);
  const int64_t nanos = static_cast<int32_t>(parts->numbers[2]);
  if (seconds < kFirstSecond || seconds > kLastSecond || nanos < 0 || nanos > 999'999'999)
    return invalid("{} s and {} ns are no time between the years 1 and 9999", seconds, nanos);
  const bool fine = type == Type::kMicroTime;
  const WallTime time{
      std::chrono::microseconds{seconds * kMicrosPerSecond + (fine ? nanos / kNanosPerMicro : 0)}};
  if (time == kZeroTime) return json::Value(nullptr);
  return json::Value(fine ? formatMicroTime(time) : formatTime(time));
}

Result<json::Value> quantityValue(std::string_view message) {
  if (message.empty()) return json::Value("0");
  auto parts = partsOf(message, {WireType::kBytes});
  if (!parts) return pass(parts.error());
  return textValue(parts->bytes[1]);
}

Result<json::Value> intOrStringValue(std::string_view message) {
  auto parts = partsOf(message, {WireType::kVarint, WireType::kVarint, WireType::kBytes});
  if (!parts) return pass(parts.error());
  if (parts->numbers[1] == 0) return json::Value(static_cast<int32_t>(parts->numbers[2]));
  if (parts->numbers[1] == 1) return textValue(parts->bytes[3]);
  return invalid("type {} of a number or text: want 0 or 1", parts->numbers[1]);
}

Result<json::Value> durationValue(std::string_view message) {
  auto parts = partsOf(message, {WireType::kVarint});
  if (!parts) return pass(parts.error());
  return json::Value(formatDuration(Duration{static_cast<int64_t>(parts->numbers[1])}));
}

Result<json::Value> freeValue(std::string_view message) {
  auto parts = partsOf(message, {WireType::kBytes});
  if (!parts) return pass(parts.error());
  if (parts->bytes[1].empty()) return json::Value(nullptr);
  thread_local json::Doc doc(json::Limits{.maxDepth = kDeepestFree});
  auto view = doc.parse(parts->bytes[1]);
  if (!view) return pass(view.error());
  return json::toValue(*view);
}

void encodeTime(Type type, std::string_view text, std::string& out) {
  auto time = parseTime(text);
  if (!time || *time == kZeroTime) return;
  const int64_t micros = time->time_since_epoch().count();
  int64_t seconds = micros / kMicrosPerSecond, rest = micros % kMicrosPerSecond;
  if (rest < 0) --seconds, rest += kMicrosPerSecond;
  appendNumber(1, static_cast<uint64_t>(seconds), out);
  const int64_t nanos = type == Type::kMicroTime ? rest * kNanosPerMicro : 0;
  appendNumber(2, static_cast<uint64_t>(nanos), out);
}

void encodeIntOrString(json::View value, std::string& out) {
  const auto text = value.string();
  appendNumber(1, text ? 1 : 0, out);
  appendNumber(2, static_cast<uint64_t>(value.integer().value_or(0)), out);
  appendBytes(3, text.value_or(""), out);
}

void encodeDuration(std::string_view text, std::string& out) {
  auto duration = parseDuration(text);
  if (duration) appendNumber(1, static_cast<uint64_t>(duration->count()), out);
}

void encodeFree(json::View value, std::string& out) {
  std::string text;
  json::write(value, text);
  appendBytes(1, text, out);
}

}  // namespace

Result<json::Value> textValue(std::string_view bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const size_t length = json::firstCharacter(rest).length;
    if (length == 0) return invalid("the text is not UTF-8");
    rest.remove_prefix(length);
  }
  return json::Value(bytes);
}

bool isSmallMessage(const Schema& schema) {
  switch (schema.type) {
    case Type::kQuantity:
    case Type::kTime:
    case Type::kMicroTime:
    case Type::kDuration:
    case Type::kIntOrString:
    case Type::kAny:
      return true;
    case Type::kObject:
      return schema.preserveUnknown;
    default:
      return false;
  }
}

Result<json::Value> decodeSmall(const Schema& schema, std::string_view bytes) {
  switch (schema.type) {
    case Type::kTime:
    case Type::kMicroTime:
      return timeValue(schema.type, bytes);
    case Type::kQuantity:
      return quantityValue(bytes);
    case Type::kDuration:
      return durationValue(bytes);
    case Type::kIntOrString:
      return intOrStringValue(bytes);
    default:
      return freeValue(bytes);
  }
}

void encodeSmall(const Schema& schema, json::View value, std::string& out) {
  const std::string_view text = value.string().value_or("");
  switch (schema.type) {
    case Type::kTime:
    case Type::kMicroTime:
      return encodeTime(schema.type, text, out);
    case Type::kQuantity:
      return appendBytes(1, value.isNumber() ? value.numberText() : std::string(text), out);
    case Type::kDuration:
      return encodeDuration(text, out);
    case Type::kIntOrString:
      return encodeIntOrString(value, out);
    default:
      return encodeFree(value, out);
  }
}

}  // namespace mangrove::apiserver::protobuf
