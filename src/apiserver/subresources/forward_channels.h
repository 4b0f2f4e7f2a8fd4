#pragma once
// The older way of forwarding ports: port number i of the query has channel 2i for its data and
// 2i+1 for what went wrong; each channel begins with the port as two bytes, low one first.

#include <memory>
#include <vector>

#include "frame/node_runner.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {

void forwardOverChannels(std::unique_ptr<net::WebSocket> socket, const frame::PortConnect& connect,
                         const std::vector<uint16_t>& ports);

}  // namespace mangrove::apiserver
