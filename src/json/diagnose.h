#pragma once
// Finds the first thing that is wrong with a JSON text. The fast reader only says that something is
// wrong; this slower scanner runs after it and says what and where. It checks RFC 8259 plus the
// limits of the reader.
//
//   auto fault = firstFault(text, limits);   // {12, "want ',' or '}' after a member, found 'x'"}

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::json {

struct Fault {
  size_t offset = 0;
  std::string sentence;
};

// nullopt: the text is fine.
std::optional<Fault> firstFault(std::string_view text, size_t maxDepth);

// Where integers end that do not fit 64 bits. They are good JSON; the fast reader needs them
// written as doubles.
std::vector<size_t> endsOfBigIntegers(std::string_view text);

}  // namespace mangrove::json
