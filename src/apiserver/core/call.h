#pragma once
// One request as the server's core sees it, whether it came through a socket or from inside the
// process, and the way back.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/answer.h"
#include "apiserver/identity.h"
#include "apiserver/request.h"
#include "base/fn.h"
#include "base/number/units.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {

struct Call {
  RequestInfo info;
  Identity who;
  std::string body;
  std::string contentType;  // of the body, parameters stripped, lower case
  std::string accept;
  std::string userAgent;
};

// A long answer: watch events, followed logs. Any thread may write; a reader that is too slow is
// cut off.
class AnswerStream {
 public:
  virtual ~AnswerStream() = default;  // ends the answer properly
  // False when the other side is gone or too slow; the stream is dead then.
  virtual bool write(std::string bytes) = 0;
  virtual Bytes queued() const = 0;
  // Called once, on the owner thread, when the stream ended by itself; never after destruction.
  virtual void onClosed(Fn fn) = 0;
  // Called on the owner thread each time the queue ran empty after a write.
  virtual void onDrained(Fn fn) = 0;
};

// The way back. Owner thread. Exactly one of the three, once; a Responder that is dropped answers
// 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void answer(Answer answer) = 0;
  // `head` has status, content type and warnings; its body is the first piece.
  [[nodiscard]] virtual std::unique_ptr<AnswerStream> stream(Answer head) = 0;
  // Makes the connection a WebSocket that speaks one of `protocols` (best first) and gives it to
  // `opened`, on an I/O thread. A request that did not ask for one is answered with why not, and so
  // is every request that came without a connection.
  using Opened = UniqueFn<void(std::unique_ptr<net::WebSocket>)>;
  virtual void upgrade(const std::vector<std::string_view>& protocols, Opened opened);
};
using ResponderPtr = std::shared_ptr<Responder>;

}  // namespace mangrove::apiserver
