#pragma once
// The inside of Store: the visible state, the history, and what is on its way to the disk. Owner
// thread only.

#include <deque>
#include <memory>
#include <vector>

#include "json/view.h"
#include "store/feed.h"
#include "store/history.h"
#include "store/state.h"
#include "store/store.h"
#include "store/writer.h"

namespace mangrove::store {

class Store::Impl {
 public:
  Impl(Options options, Post post);
  ~Impl();

  Result<> open();
  void declare(ResourceSpec spec);

  Result<Revision> commit(Txn txn, Done done);
  Revision next() const { return head_ + 1; }
  // Takes over what the writer has reported: visible state, callbacks, watches.
  void settle();
  void backup(std::string path, Done done);
  void flush();
  void close();

  const State& state() const { return state_; }
  const History& history() const { return history_; }
  const std::shared_ptr<Feed>& feed() const { return feed_; }
  Revision visible() const { return visible_; }
  Stats stats() const;

 private:
  struct Pending {  // accepted, not yet durable
    uint64_t sequence = 0;
    std::vector<Change> changes;
    size_t bytes = 0;
    std::shared_ptr<const Trim> trim;
    Done done;
  };

  Result<> loadRow(const StoredRow& row, Revision windowStart);
  Result<> check(const Txn& txn) const;
  Result<std::vector<Change>> build(const Txn& txn);
  Result<Change> buildChange(const Op& op, Revision revision);
  Result<> checkRevisionInside(const Op& op, Revision revision);
  Result<> checkSize(const std::vector<Change>& changes) const;
  void advanceHead(const std::vector<Change>& changes);
  void enqueue(Pending pending);
  void tell();
  void makeVisible(const Change& change);
  // The newest objects stay as they are, since watchers are about to read them; older ones are
  // packed.
  void keepRecent(const ObjectPtr& object);
  void remember(const ObjectPtr& object);
  // Up to `most` of the old ones; whether there are more.
  bool packSome(size_t most);
  // What was loaded, in portions between other messages: a start need not wait for it.
  void packSoon();
  void settleDurable(uint64_t sequence);
  void settleFailed(const Outcome& outcome);

  Options options_;
  Post post_;
  State state_;
  History history_;
  std::shared_ptr<Feed> feed_;
  // Posted messages may come after the store has gone.
  std::shared_ptr<Impl*> self_ = std::make_shared<Impl*>(this);
  json::Doc doc_;
  Revision visible_ = kEmptyStore;
  Revision head_ = kEmptyStore;
  int64_t headBytes_ = 0;  // JSON of the newest accepted versions
  uint64_t sequence_ = 0;
  std::deque<ObjectPtr> recent_;
  size_t recentBytes_ = 0;
  std::deque<Outcome> outcomes_;  // reported, not yet acted on
  std::deque<Pending> pending_;
  size_t pendingBytes_ = 0;
  bool closed_ = false;
  uint64_t commits_ = 0, batches_ = 0, failures_ = 0;
  std::optional<Error> writeFailure_;
  std::unique_ptr<Writer> writer_;  // null: nothing goes to a disk
};

}  // namespace mangrove::store
