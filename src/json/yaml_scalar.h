#pragma once
// What an unquoted YAML scalar means, by the rules of yaml.h. Shared by the reader and the writer,
// so that the writer quotes exactly what the reader would not take for a string.

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace mangrove::json {

enum class ScalarError { kNotFinite, kWrongType };

// Value of a plain scalar; a string when it means nothing else. kNotFinite: .inf or .nan.
tl::expected<Value, ScalarError> plainScalar(std::string_view text);

// Value of a scalar with an explicit tag such as "tag:yaml.org,2002:int"; unknown tags leave a
// string.
tl::expected<Value, ScalarError> taggedScalar(std::string_view tag, std::string_view text);

// A key as text: 1 → "1", true → "true"; nullopt for null.
std::optional<std::string> keyText(const Value& key);

}  // namespace mangrove::json
