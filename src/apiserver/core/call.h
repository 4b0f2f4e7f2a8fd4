#pragma once
// One request as the server's core sees it, whether it came through a socket or from inside the
// process, and the way back.

#include <memory>
#include <string>

#include "apiserver/answer.h"
#include "apiserver/identity.h"
#include "apiserver/request.h"
#include "base/fn.h"
#include "base/units.h"

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

// The way back. Owner thread. Exactly one of the two, once; a Responder that is dropped answers
// 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void answer(Answer answer) = 0;
  // `head` has status, content type and warnings; its body is the first piece.
  [[nodiscard]] virtual std::unique_ptr<AnswerStream> stream(Answer head) = 0;
};
using ResponderPtr = std::shared_ptr<Responder>;

}  // namespace mangrove::apiserver
