#include "json/strategic_content.h"

namespace mangrove::json::strategic {

bool isDirective(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kOrderPrefix) ||
         key.starts_with(kDeletePrefix);
}

bool isMarked(const Value& patch) {
  return patch.is_object() && patch.get_object().contains(kPatch);
}

bool says(const Value& value, std::string_view text) {
  return value.is_string() && std::string_view(value.get_string()) == text;
}

Value content(const Value& patch, Marked marked) {
  if (const Array* array = patch.if_array()) {
    Array out;
    for (const Value& element : *array)
      if (!isMarked(element)) out.push_back(content(element, marked));
    return out;
  }
  const Object* object = patch.if_object();
  if (object == nullptr) return patch;
  Object out;
  for (const auto& member : *object) {
    if (member.value().is_null() || isDirective(member.key())) continue;
    if (marked == Marked::kLeaveOut && isMarked(member.value())) continue;
    out.emplace(member.key(), content(member.value(), marked));
  }
  return out;
}

std::optional<Value> fresh(const Value& patch) {
  if (patch.is_null() || isMarked(patch)) return std::nullopt;
  return content(patch, Marked::kLeaveOut);
}

}  // namespace mangrove::json::strategic
