#pragma once
// Bytes on their way out of one connection, in order. Small pieces are merged, so that a burst of
// events is one write. Internal to net/, I/O thread only.

#include <deque>
#include <memory>
#include <string>

#include "net/transport.h"

namespace mangrove::net {

class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  // Who is told; not owned. detach() must come before its end.
  class User {
   public:
    virtual void onWritten(size_t bytes) = 0;
    // Everything added so far has left.
    virtual void onDrained() = 0;
    virtual void onWriteBroken(const std::string& why) = 0;

   protected:
    ~User() = default;
  };

  Outbox(TransportPtr transport, User* user) : transport_(std::move(transport)), user_(user) {}

  void add(std::string data);
  // A message's head and body: one write when the body is small.
  void add(std::string head, std::string body);
  bool empty() const { return queue_.empty(); }
  // No more events, no more writes.
  void detach();

 private:
  void pump();
  void onWrite(IoResult result);

  TransportPtr transport_;
  User* user_;
  std::deque<std::string> queue_;
  size_t offset_ = 0;  // written of the front
  bool writing_ = false;
};

}  // namespace mangrove::net
