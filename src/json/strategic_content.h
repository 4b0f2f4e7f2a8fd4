#pragma once
// Which parts of a strategic patch become document content. Inside the strategic patch only; see
// strategic_patch.h.

#include <optional>
#include <string_view>

#include "json/value.h"

namespace mangrove::json::strategic {

inline constexpr std::string_view kPatch = "$patch";
inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kOrderPrefix = "$setElementOrder";
inline constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList";

bool isDirective(std::string_view key);
bool isMarked(const Value& patch);  // an object with a $patch directive
bool says(const Value& value, std::string_view text);

// What to do with an object inside new content that carries a $patch directive and so has nothing
// to act on. An API server leaves it out where the document had no such member, and takes the rest
// of it where it replaces something whole.
enum class Marked { kLeaveOut, kTakeRest };

// Patch content that becomes document content: without nulls and directives.
Value content(const Value& patch, Marked marked);

// For something the document has and the patch replaces whole.
inline Value replacing(const Value& patch) {
  return content(patch, Marked::kTakeRest);
}

// For a member the document does not have, or has with another type. nullopt: no member.
std::optional<Value> fresh(const Value& patch);

}  // namespace mangrove::json::strategic
