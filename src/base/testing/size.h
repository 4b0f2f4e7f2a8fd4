#pragma once
// Sizes of tests that could go on for ever: small in `make test`, full in `make test-long`
// (MANGROVE_LONG=1). The seeds are the same, so that what a long run finds can be played again.
//
//   for (int seed = 1; seed <= sized(20, 500); seed++) storm(seed);

#include <cstdlib>
#include <string_view>

namespace mangrove {

inline bool isLongRun() {
  const char* said = std::getenv("MANGROVE_LONG");
  return said != nullptr && std::string_view(said) == "1";
}

template <class T>
T sized(T small, T full) {
  return isLongRun() ? full : small;
}

}  // namespace mangrove
