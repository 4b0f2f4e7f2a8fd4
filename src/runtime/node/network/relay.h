#pragma once
// Carries bytes between two sockets until both directions have ended. Keeps itself alive; the
// loop's thread only.

#include "base/os/fd.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime {

// `to` may still be connecting.
void startRelay(FdLoop& loop, UniqueFd from, UniqueFd to);

}  // namespace mangrove::runtime
