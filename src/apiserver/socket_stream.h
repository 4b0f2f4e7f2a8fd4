#pragma once
// A long answer over a WebSocket, for clients that cannot read one otherwise (browsers): each event of a watch
// is a message of text, each piece of a log a binary one, or text where base64 was agreed on.
//
//   if (auto stream = streamOverSocket(owner, *exchange, head)) return stream;
//
// What is written before the connection has changed over is sent as soon as it has.

#include <memory>

#include "apiserver/core/call.h"
#include "base/mailbox.h"
#include "net/server/http_server.h"

namespace mangrove::apiserver {

// nullptr: the request does not ask for one that is spoken here, and waits for its answer.
std::unique_ptr<AnswerStream> streamOverSocket(Mailbox& owner, net::Exchange& exchange,
                                               const Answer& head);

}  // namespace mangrove::apiserver
