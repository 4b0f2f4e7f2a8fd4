#pragma once
// A client's session carried to a command in a container runtime, over the streams that the runtime
// serves at an address of its own (SPDY, as Kubernetes' clients speak it).
//
//   startRemote(loop, io, "http://127.0.0.1:41233/exec/AbCd", order, std::move(session));
//
// Keeps itself alive until the command or the client has gone; moves at the pace of the slower.

#include <memory>
#include <string>

#include "frame/node_runner.h"
#include "net/loop.h"
#include "runtime/cri/messages.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime::cri {

void startRemote(FdLoop& loop, net::Loop& io, const std::string& url, const ExecOrder& order,
                 std::unique_ptr<frame::Session> session);

// How a command ended, from the Status object that a runtime writes last; "" is a good end. Pure.
frame::SessionEnd endOf(std::string_view status);

}  // namespace mangrove::runtime::cri
