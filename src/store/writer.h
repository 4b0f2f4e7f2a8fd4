#pragma once
// The thread that makes transactions durable. What queues up while it waits for the disk goes into
// its next disk transaction, so one fsync serves many. The owner thread calls every function;
// `told` is called on the writer's thread after each batch.
//
// After a failure it stands still, since what is queued builds on what was lost, until the owner
// has taken the outcome and called resume(), which drops the queue.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fn.h"
#include "base/number/units.h"
#include "base/result.h"
#include "store/batch_report.h"
#include "store/database.h"

namespace mangrove::store {

struct Outcome {
  uint64_t sequence = 0;       // transactions up to this one …
  std::optional<Error> error;  // … are durable, or not
  BatchReport batch = {};
};

class Writer {
 public:
  struct Limits {
    Bytes wal;
    Duration idle;
  };
  Writer(Database database, Limits limits, Fn told);
  ~Writer();  // finishes what is queued, folds the log, closes the database

  void queue(WriteItem item);
  std::vector<Outcome> takeOutcomes();
  void resume();
  // A copy of the file, step by step between writes; `copied` is called on the writer's thread.
  using Copied = UniqueFn<void(Result<Revision>)>;
  void copy(std::string path, Copied copied);
  // Until nothing is queued or it stands still after a failure.
  void wait();

 private:
  enum class Job { kWrite, kCopy, kFold, kStop };
  void run();
  Job next(std::vector<WriteItem>& batch);
  void writeBatch(const std::vector<WriteItem>& batch);
  void fold();
  void copySome();
  void endCopy(Result<Revision> outcome);
  bool ready() const { return !halted_ && !queue_.empty(); }

  Limits limits_;
  Fn told_;
  Database database_;  // the thread's
  size_t foldAt_ = 0;  // the thread's: log size at which to fold
  std::mutex mutex_;
  std::condition_variable wakeWriter_, wakeOwner_;
  std::vector<WriteItem> queue_;
  std::vector<Outcome> outcomes_;
  bool busy_ = false;
  bool halted_ = false;
  bool stopping_ = false;
  struct Copying {
    std::string path;
    Copied copied;
    std::optional<BackupCopy> copy;  // the thread's
  };
  std::deque<Copying> copies_;  // the first is being made
  std::thread thread_;
};

}  // namespace mangrove::store
