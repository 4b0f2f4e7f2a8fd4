#pragma once
// "Did you mean": the known name nearest to a misspelt one.
//
//   return invalid("unknown key '{}'{}", key, didYouMean(key, knownKeys));
//     // unknown key 'replica', did you mean 'replicas'?
//
// Pure functions, any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mangrove {

// Edits (insert, delete, replace, swap of neighbours) from one text to the other, upper and lower
// case alike; gives up above `limit` and returns limit + 1.
size_t editDistance(std::string_view a, std::string_view b, size_t limit);
// The nearest of `known` within a third of the name's length; the earlier one of two equals;
// nullopt when none is near.
std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> known);
// ", did you mean 'x'?" or "".
std::string didYouMean(std::string_view name, std::span<const std::string_view> known);

}  // namespace mangrove
