#pragma once
// What is wrong with an object, field by field: the causes of a 422 answer.
//
//   FieldErrors errors;
//   errors.required(path.child("image"), "");
//   errors.invalid(path.child("replicas"), -1, "must be greater than or equal to 0");
//   if (!errors.empty()) return unprocessable(kind, name, errors.text(), errors.causes());
//
// Values; one thread at a time. At most kMost are kept, so that a hostile object cannot ask for
// megabytes of complaints.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema/field_path.h"
#include "json/value.h"

namespace mangrove::apiserver {

enum class FieldErrorType {
  kRequired,
  kInvalid,
  kTypeInvalid,
  kNotSupported,
  kDuplicate,
  kForbidden,
  kTooLong,
  kTooMany,
  kNotFound,
};
const char* reasonOf(FieldErrorType type);  // "FieldValueRequired", …: the reason of a cause

struct FieldError {
  FieldErrorType type;
  std::string field;
  std::string detail;  // "Invalid value: -1: must be …", without the field

  std::string text() const { return field + ": " + detail; }
};

class FieldErrors {
 public:
  static constexpr size_t kMost = 100;

  void required(const FieldPath& at, std::string_view why = "");
  void invalid(const FieldPath& at, const json::Value& value, std::string_view why);
  void typeInvalid(const FieldPath& at, const json::Value& value, std::string_view why);
  // `supported` in the order to be shown.
  void notSupported(const FieldPath& at, const json::Value& value,
                    const std::vector<std::string_view>& supported);
  void duplicate(const FieldPath& at, const json::Value& value);
  void forbidden(const FieldPath& at, std::string_view why);
  void tooLong(const FieldPath& at, size_t most);
  void tooMany(const FieldPath& at, size_t actual, size_t most);
  void notFound(const FieldPath& at, const json::Value& value);

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  auto begin() const { return errors_.begin(); }
  auto end() const { return errors_.end(); }
  const FieldError& operator[](size_t i) const { return errors_[i]; }

  // One error as it is; several as "[a, b]".
  std::string text() const;
  // For Status.details.causes: [{"reason", "message", "field"}].
  json::Array causes() const;

 private:
  void add(FieldErrorType type, const FieldPath& at, std::string detail);
  std::vector<FieldError> errors_;
};

}  // namespace mangrove::apiserver
