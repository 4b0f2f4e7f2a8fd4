#pragma once
// FNV-1a of 64 bits: the same number in every build and on every machine, for names and digests
// that outlive a process. Any thread.

#include <cstdint>
#include <string_view>

namespace mangrove {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325;

constexpr uint64_t fnv1a(std::string_view text, uint64_t hash = kFnvStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace mangrove
