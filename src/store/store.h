#pragma once
// The durable, revisioned objects under the embedded API server.
//
//   Mailbox owner;
//   auto store = Store::open({.dir = "/var/lib/mangrove", .resources = specs},
//                            [&](Fn fn) { owner.post(std::move(fn)); });
//   Txn txn;
//   auto body = encode(pod, store->nextRevision(txn));        // resourceVersion inside the bytes
//   txn.create({pods, "default", "web"}, body);
//   auto taken = store->commit(std::move(txn), [=](Result<Revision> r) { respond(r, body); });
//   if (!taken) respond(taken.error());           // a precondition failed; done is not called
//
// Two states. The *head* is what has been accepted; preconditions and getHead() look at it. The
// *visible* state is what has reached the disk; get, list and watch look at it alone. So nothing
// that was shown to anybody can be lost, and writers need not wait for each other's fsync.
//
// Threads: one owner thread calls everything and runs all callbacks; a thread of the store's own
// writes to disk, everything that queued up meanwhile in one transaction. `post` is called from
// that thread and must bring its argument to the owner thread. Callbacks may call the store again,
// but must not destroy it.
//
// When writing fails (disk full, I/O error) all writes that are not yet durable fail with the
// reason (kUnavailable), the head falls back to the visible state, reads and watches go on, and
// every further commit tries the disk again. When it is the fsync that failed, nobody can say
// whether the write is on the disk: it is told "outcome unknown" (kTimeout), is not shown, and the
// next write that succeeds takes its place; only a restart in between may bring it back.
//
// With an empty `dir` nothing touches a disk and no thread is started: for tests and the simulator.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fn.h"
#include "base/number/units.h"
#include "base/result.h"
#include "base/text/interned.h"
#include "store/batch_report.h"
#include "store/object.h"
#include "store/query.h"
#include "store/resource.h"
#include "store/revision.h"
#include "store/sealer.h"
#include "store/txn.h"
#include "store/watch.h"

namespace mangrove::store {

struct Options {
  std::string dir = {};  // made (mode 0700) when missing; one process at a time
  std::vector<ResourceSpec> resources = {};
  // The window of history that watches and later list pages can go back to, here and after a
  // restart. The bytes are the JSON of superseded versions, which are kept packed in about a tenth
  // of that; the newest ones are held anyway.
  size_t windowEvents = 16384;
  Bytes windowBytes = kMiB * 24;
  // Writes that wait for the disk; beyond that commit() says kTooMany.
  Bytes maxPending = kMiB * 64;
  // JSON of all objects; beyond, creates and growth are refused (kUnavailable), while deletes go on
  // (store/size_limit.h). Zero: no limit.
  Bytes maxSize = {};
  // The write-ahead log is folded into the database when it is larger than this or after a pause.
  Bytes walLimit = kMiB * 8;
  Duration idleBeforeFold = std::chrono::seconds(1);
  // Told of every disk transaction, on the owner thread, before its callbacks run.
  std::function<void(const BatchReport&)> onBatch = {};
  std::shared_ptr<const Sealer> seal = {};  // of rows on the disk; null: all plain
  std::string vfs = {};  // SQLite's name of the file system to use; tests inject faults through it
};

struct Stats {
  Revision visible, head, windowStart;  // changes after windowStart can be replayed
  size_t objects = 0;
  Bytes objectBytes;  // JSON of the newest versions
  size_t windowEvents = 0;
  Bytes windowBytes;
  size_t pending = 0;                 // transactions that wait for the disk
  uint64_t commits = 0;               // transactions made durable since open
  uint64_t batches = 0;               // in how many disk transactions
  uint64_t failures = 0;              // disk transactions that failed
  std::optional<Error> writeFailure;  // nullopt: the last write to disk succeeded
};

class Store {
 public:
  using Post = UniqueFn<void(Fn)>;
  using Done = UniqueFn<void(Result<Revision>)>;

  // Reads everything into memory. Refuses a damaged database, one of a newer version and a
  // directory that another process has open, and says what to do.
  static Result<std::unique_ptr<Store>> open(Options options, Post post);
  ~Store();  // close()
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Adds a resource or changes its fields; existing objects and history are indexed anew. Objects
  // of resources never declared are kept and served without fields.
  void declare(ResourceSpec spec);

  // Checks against the head and queues. Returns the revision of the last change, or at once, with
  // `done` not called: kExists, kNotFound, kConflict for preconditions, kInvalid for bytes that are
  // no JSON object or a key named twice, kTooMany when too much waits, kUnavailable when the store
  // has reached its size. After that `done` is called exactly once: durable and visible,
  // kUnavailable and as if it had never been, or kTimeout when nobody can say.
  [[nodiscard]] Result<Revision> commit(Txn txn, Done done);
  // The revision the next change added to `txn` would get if `txn` were committed next. When the
  // bytes of a change have a metadata.resourceVersion it must be this (kInternal otherwise).
  Revision nextRevision(const Txn& txn = {}) const;
  ObjectPtr getHead(Interned resource, std::string_view ns, std::string_view name) const;

  Revision revision() const;  // of the visible state
  ObjectPtr get(Interned resource, std::string_view ns, std::string_view name) const;
  // kGone: the state of a continue token or of an exact revision is no longer known. kTimeout: that
  // revision is ahead of the store.
  Result<Page> list(const Query& query) const;
  // Objects that name this uid as an owner, over all resources.
  std::vector<ObjectPtr> ownedBy(std::string_view uid) const;
  size_t count(Interned resource, std::string_view ns = {}) const;
  std::vector<Interned> resources() const;  // those that have objects or were declared

  // Changes after `from`, in `ns` or (empty) everywhere. kGone: older than the window, or ahead of
  // the store, which happens when the data directory was replaced.
  Result<Watch> watch(Interned resource, std::string_view ns, Revision from, Fn wake);

  // Objects whose time has come, oldest first; the caller removes them with ordinary transactions.
  std::vector<ObjectPtr> expired(WallTime now, size_t max) const;
  std::optional<WallTime> nextExpiry() const;

  Stats stats() const;
  // A copy of everything in one new file, while writes go on. `done` on the owner thread: the
  // revision it is of, which is at least the one visible now. kUnsupported without a directory.
  void backup(std::string path, Done done);
  // Waits until everything queued is durable or has failed, and runs the callbacks. For tools and
  // tests; a server has no need to wait.
  void flush();
  // flush(), folds the log into the database, gives the directory back. Later commits fail with
  // kUnavailable; reads go on.
  void close();

 private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::store
