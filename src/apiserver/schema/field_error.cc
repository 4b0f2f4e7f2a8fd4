#include "apiserver/schema/field_error.h"

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

// Long values would drown the sentence; the reader knows what was sent.
constexpr size_t kLongestShown = 200;

std::string shown(const json::Value& value) {
  std::string text = json::write(value);
  if (text.size() <= kLongestShown) return text;
  size_t end = kLongestShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole UTF-8
  return text.substr(0, end) + "…";
}

std::string withReason(std::string head, std::string_view why) {
  if (!why.empty()) {
    head += ": ";
    head += why;
  }
  return head;
}

}  // namespace

const char* reasonOf(FieldErrorType type) {
  switch (type) {
    case FieldErrorType::kRequired:
      return "FieldValueRequired";
    case FieldErrorType::kInvalid:
      return "FieldValueInvalid";
    case FieldErrorType::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case FieldErrorType::kNotSupported:
      return "FieldValueNotSupported";
    case FieldErrorType::kDuplicate:
      return "FieldValueDuplicate";
    case FieldErrorType::kForbidden:
      return "FieldValueForbidden";
    case FieldErrorType::kTooLong:
      return "FieldValueTooLong";
    case FieldErrorType::kTooMany:
      return "FieldValueTooMany";
    case FieldErrorType::kNotFound:
      return "FieldValueNotFound";
  }
  return "FieldValueInvalid";
}

void FieldErrors::add(FieldErrorType type, const FieldPath& at, std::string detail) {
  if (errors_.size() >= kMost) return;
  std::string field = at.text();
  errors_.push_back({type, field.empty() ? "<root>" : std::move(field), std::move(detail)});
}

void FieldErrors::required(const FieldPath& at, std::string_view why) {
  add(FieldErrorType::kRequired, at, withReason("Required value", why));
}

void FieldErrors::invalid(const FieldPath& at, const json::Value& value, std::string_view why) {
  add(FieldErrorType::kInvalid, at, withReason("Invalid value: " + shown(value), why));
}

void FieldErrors::typeInvalid(const FieldPath& at, const json::Value& value, std::string_view why) {
  add(FieldErrorType::kTypeInvalid, at, withReason("Invalid value: " + shown(value), why));
}

void FieldErrors::notSupported(const FieldPath& at, const json::Value& value,
                               const std::vector<std::string_view>& supported) {
  std::string list;
  for (std::string_view one : supported)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", one);
  add(FieldErrorType::kNotSupported, at,
      fmt::format("Unsupported value: {}: supported values: {}", shown(value), list));
}

void FieldErrors::duplicate(const FieldPath& at, const json::Value& value) {
  add(FieldErrorType::kDuplicate, at, "Duplicate value: " + shown(value));
}

void FieldErrors::forbidden(const FieldPath& at, std::string_view why) {
  add(FieldErrorType::kForbidden, at, withReason("Forbidden", why));
}

void FieldErrors::tooLong(const FieldPath& at, size_t most) {
  add(FieldErrorType::kTooLong, at, fmt::format("Too long: may not be more than {} bytes", most));
}

void FieldErrors::tooMany(const FieldPath& at, size_t actual, size_t most) {
  add(FieldErrorType::kTooMany, at,
      fmt::format("Too many: {}: must have at most {} items", actual, most));
}

void FieldErrors::notFound(const FieldPath& at, const json::Value& value) {
  add(FieldErrorType::kNotFound, at, "Not found: " + shown(value));
}

std::string FieldErrors::text() const {
  if (errors_.size() == 1) return errors_.front().text();
  std::vector<std::string> texts;
  for (const FieldError& error : errors_) texts.push_back(error.text());
  return "[" + join(texts, ", ") + "]";
}

json::Array FieldErrors::causes() const {
  json::Array out;
  for (const FieldError& error : errors_)
    out.push_back(json::Object{
        {"reason", reasonOf(error.type)}, {"message", error.detail}, {"field", error.field}});
  return out;
}

}  // namespace mangrove::apiserver
