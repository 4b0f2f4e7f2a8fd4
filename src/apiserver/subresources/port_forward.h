#pragma once
// Forwarded ports over one connection, in the ways clients speak: kubectl uses SPDY, plain before
// 1.31 and tunnelled through a WebSocket since, where each connection is a pair of streams (data
// and error) that name their port; others name the ports in the query and have a pair of channels
// for each in a WebSocket.
//
//   to->upgrade(forwardProtocols(), [connect, ports](std::unique_ptr<net::WebSocket> socket) {
//     forwardOver(std::move(socket), connect, ports);
//   });
//
// Any thread. The connection keeps itself alive until the client goes.

#include <memory>
#include <string_view>
#include <vector>

#include "frame/node_runner.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {

std::vector<std::string_view> forwardProtocols();  // best first
void forwardOver(std::unique_ptr<net::WebSocket> socket, frame::PortConnect connect,
                 const std::vector<uint16_t>& ports);

std::vector<std::string_view> spdyForwardProtocols();
void forwardOverSpdy(std::unique_ptr<net::ByteStream> bytes, frame::PortConnect connect);

}  // namespace mangrove::apiserver
