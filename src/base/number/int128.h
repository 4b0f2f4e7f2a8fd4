#pragma once
// The compiler's 128-bit integers under names of ours: -Wpedantic objects to the spelling, not to
// the type.

namespace mangrove {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

}  // namespace mangrove
