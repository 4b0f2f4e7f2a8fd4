#pragma once
// Forwarded ports over one WebSocket, in the two ways clients speak: kubectl tunnels SPDY, where
// each connection is a pair of streams (data and error) that name their port; the older way names
// the ports in the query and gives each a pair of channels.
//
//   to->upgrade(forwardProtocols(), [connect, ports](std::unique_ptr<net::WebSocket> socket) {
//     forwardPorts(std::move(socket), connect, ports);
//   });
//
// Any thread. The connection keeps itself alive until the client goes.

#include <memory>
#include <string_view>
#include <vector>

#include "frame/node_runner.h"
#include "net/web_socket.h"

namespace mangrove::apiserver {

std::vector<std::string_view> forwardProtocols();  // best first
void forwardOver(std::unique_ptr<net::WebSocket> socket, frame::PortConnect connect,
                 const std::vector<uint16_t>& ports);

}  // namespace mangrove::apiserver
