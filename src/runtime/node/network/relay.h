#pragma once
// Carries bytes between two sockets until both directions have ended. Keeps itself alive; the
// loop's thread only.

#include "base/os/fd.h"
#include "runtime/node/network/fd_loop.h"
#include "runtime/node/network/relay_room.h"

namespace mangrove::runtime {

// `to` may still be connecting. `place` goes when the relay ends.
void startRelay(FdLoop& loop, UniqueFd from, UniqueFd to, RelayRoom::Place place);

}  // namespace mangrove::runtime
