#pragma once
// A long answer over a WebSocket, for clients that ask for their watches that way (fabric8's, which
// Spark and Flink use, and browsers): one text message for each line of a watch, binary messages of
// what comes for anything else, as a kube-apiserver sends them.
//
//   auto stream = std::make_unique<SocketStream>(owner, SocketStream::Pieces::kLines);
//   exchange->upgrade(head, [to = stream->door()](auto bytes) { to(WebSocket::over(…)); });
//
// It may be written before the connection has been switched over; what is written waits. Owner thread,
// but for the door, which is opened on an I/O thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/core/call.h"
#include "base/mailbox.h"

namespace mangrove::apiserver {

class SocketStream final : public AnswerStream {
 public:
  enum class Pieces { kLines, kAsWritten };
  // What a client may ask for: pieces as they are, or in base64 for those who can only read text.
  static std::vector<std::string_view> protocols();
  SocketStream(Mailbox& owner, Pieces pieces);
  ~SocketStream() override;

  // Whoever gets the socket hands it in here, once; null: the connection ended before.
  Responder::Opened door();

  bool write(std::string bytes) override;
  Bytes queued() const override;
  void onClosed(Fn fn) override;
  void onDrained(Fn fn) override;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace mangrove::apiserver
