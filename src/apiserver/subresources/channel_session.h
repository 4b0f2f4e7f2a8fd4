#pragma once
// A command's streams over one WebSocket, as Kubernetes' clients speak it: each message begins with
// a byte that names the channel. 0 input, 1 output, 2 errors, 3 the verdict as a Status, 4 the size
// of the terminal; 255 (v5) says which channel is at its end. In the oldest form the verdict is a
// sentence when something went wrong, and nothing otherwise.
//
//   to->upgrade(channelProtocols(), [start = …](std::unique_ptr<net::WebSocket> socket) mutable {
//     start(channelSession(std::move(socket), options));
//   });
//
// Any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frame/node_runner.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {

std::vector<std::string_view> channelProtocols();  // best first
std::unique_ptr<frame::Session> channelSession(std::unique_ptr<net::WebSocket> socket,
                                               const frame::SessionOptions& options);

// One message of the client's. Pure; what makes no sense is kData of nothing.
frame::SessionInput readChannelMessage(std::string_view message);
// The size of a terminal, {"Width":80,"Height":25}; what makes no sense is kData of nothing.
frame::SessionInput readResize(std::string_view text);
// The Status that says how a command ended.
std::string sessionStatus(const frame::SessionEnd& end);

}  // namespace mangrove::apiserver
