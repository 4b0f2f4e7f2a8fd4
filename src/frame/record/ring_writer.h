#pragma once
// Packs a recording and puts it on the disk in a thread of its own, so that neither keeps a role from
// deciding.
//
//   auto writer = RingWriter::open("/var/lib/mangrove/day", 1 << 30);
//   (*writer)->append(std::move(bytes));          // returns at once
//   if ((*writer)->isFull()) (*writer)->next();   // what follows goes to the next file
//   if (auto ok = (*writer)->state(); !ok) …      // the disk refused, or cannot keep up
//
// One thread uses it. Its destructor waits until everything is written.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "client/queue/worker.h"
#include "frame/record/packing.h"
#include "frame/record/ring_file.h"

namespace mangrove::frame::record {

class RingWriter {
 public:
  static Result<std::unique_ptr<RingWriter>> open(std::string path, uint64_t limit);
  ~RingWriter();
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;

  void append(std::string bytes);
  bool isFull() const { return full_ == file_; }
  void next();
  Result<> state() const;
  // Until what was given so far is written.
  void wait();

 private:
  explicit RingWriter(std::unique_ptr<RingFile> ring);
  void keep(Result<> outcome);

  uint64_t file_ = 1;               // the user's, counted from 1
  std::atomic<uint64_t> full_ = 0;  // the last file that was found full
  std::atomic<size_t> queued_ = 0;
  mutable std::mutex mutex_;
  Result<> state_;  // below mutex_
  // The thread's.
  uint64_t writes_ = 1;  // the file at hand, counted likewise
  std::unique_ptr<RingFile> ring_;
  Packer packer_;
  client::Worker thread_;  // last: goes first
};

}  // namespace mangrove::frame::record
