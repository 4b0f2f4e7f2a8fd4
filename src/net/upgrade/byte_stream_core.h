#pragma once
// What stands behind a ByteStream: the transport of a connection that left HTTP. Internal to net/,
// I/O thread only.

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/number/units.h"
#include "net/io_thread.h"
#include "net/server/gate.h"
#include "net/server/outbox.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net {

class ByteStreamCore final : public std::enable_shared_from_this<ByteStreamCore>,
                             public Outbox::User {
 public:
  // `early`: bytes that came behind the HTTP head. `readPending`: the former owner has asked the
  // transport for more and will pass on what comes to onRead().
  ByteStreamCore(IoThread& io, TransportPtr transport, std::string early, bool readPending);
  std::unique_ptr<ByteStream> handle();

  void onRead(const IoResult& result, std::string_view data);
  // The read under way was dropped with its loop instead of answered. Who waits for it may own the
  // stream's handle: forgetting him is what lets both go.
  void forgetReader() { reader_ = nullptr; }
  // Ends the stream when nothing has moved either way for `idle`; `seat` goes when it ends.
  void keep(Duration idle, std::shared_ptr<void> seat);

 private:
  class Handle;
  struct PendingRead;
  static constexpr size_t kReadSize = 16 * 1024;

  void read(ByteStream::ReadDone done);
  void write(std::string data, ByteStream::WriteDone done);
  void finish();
  void close();

  void readMore();
  void answerRead();
  void moved();
  void end(Error why);
  void endWrites(const Error& error);
  void onWritten(size_t bytes) override;
  void onDrained() override;
  void onWriteBroken(const std::string& why) override;

  struct PendingWrite {
    uint64_t end;  // position in the stream of bytes written
    ByteStream::WriteDone done;
  };

  IoThread& io_;
  TransportPtr transport_;
  std::shared_ptr<Outbox> outbox_;
  Gate gate_;
  std::string buffer_;
  std::string readBuffer_;
  bool readPending_;
  bool ended_ = false;
  bool finishing_ = false;
  std::optional<Error> broken_;
  ByteStream::ReadDone reader_;
  std::deque<PendingWrite> writes_;
  uint64_t added_ = 0;
  uint64_t written_ = 0;
  Duration idle_ = Duration::zero();
  std::optional<Deadline> deadline_;
  std::shared_ptr<void> seat_;
};

}  // namespace mangrove::net
