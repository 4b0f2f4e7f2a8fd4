// The way of a transaction: checked against the head, queued, durable, visible.

#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/os/log.h"
#include "store/size_limit.h"
#include "store/store_impl.h"

namespace mangrove::store {
namespace {

const Logger log("store");

// Rows the window has outgrown travel with a later transaction; this many make it worth a page.
constexpr size_t kTrimRows = 64;

// Small portions: packing an object takes ten times as long as reading it, and others wait.
constexpr size_t kPackPerChange = 4;
constexpr size_t kPackAtOnce = 64;

// Room for the largest batch of ordinary objects that the writer reports at once.
constexpr size_t kRecentObjects = 1024;
constexpr size_t kRecentBytes = 2 * 1024 * 1024;

// Objects are a few KiB; buffers that a rare large one made grow are given back.
constexpr size_t kKeptText = 256 * 1024;

Result<> checkOp(const Op& op, const ObjectPtr& head) {
  using Kind = Precondition::Kind;
  if (op.expect.kind == Kind::kNone) return {};
  if (op.expect.kind == Kind::kAbsent) {
    if (head) return fail(Code::kExists, "{} exists already", keyText(op.key));
    return {};
  }
  if (!head) return fail(Code::kNotFound, "{} does not exist", keyText(op.key));
  if (op.expect.kind == Kind::kAtRevision && head->revision() != op.expect.revision)
    return fail(Code::kConflict, "{} is at revision {}, not {}: it has been changed meanwhile",
                keyText(op.key), head->revision().v, op.expect.revision.v);
  return {};
}

Result<> checkKeys(const Txn& txn) {
  if (txn.writes() == 0) return invalid("a transaction without a change");
  if (txn.writes() == 1) return {};
  std::unordered_set<std::string> seen;
  for (const Op& op : txn.ops())
    if (op.kind != Op::Kind::kRequire && !seen.insert(keyText(op.key)).second)
      return invalid("{} is changed twice in one transaction", keyText(op.key));
  return {};
}

}  // namespace

Result<> Store::Impl::check(const Txn& txn) const {
  if (closed_) return fail(Code::kUnavailable, "the store was closed");
  if (pendingBytes_ > static_cast<size_t>(options_.maxPending.v))
    return fail(Code::kTooMany, "{} transactions with {} bytes wait for the disk, try again later",
                pending_.size(), pendingBytes_);
  if (auto keys = checkKeys(txn); !keys) return keys;
  for (const Op& op : txn.ops()) {
    const Collection* collection = state_.find(op.key.resource);
    const ObjectPtr head =
        collection ? collection->findHead(pathOf(op.key.ns, op.key.name)) : nullptr;
    if (auto fine = checkOp(op, head); !fine) return fine;
  }
  return {};
}

Result<> Store::Impl::checkRevisionInside(const Op& op, Revision revision) {
  const auto inside = doc_.root()["metadata"]["resourceVersion"].string();
  if (!inside || *inside == std::to_string(revision.v)) return {};
  return fail(Code::kInternal, "{}: resourceVersion '{}' inside the object, want '{}'",
              keyText(op.key), *inside, revision.v);
}

Result<Change> Store::Impl::buildChange(const Op& op, Revision revision) {
  const Collection& collection = state_.of(op.key.resource);
  const ObjectPtr before = collection.findHead(pathOf(op.key.ns, op.key.name));
  const bool remove = op.kind == Op::Kind::kRemove;
  const Revision created = before ? before->createRevision() : revision;
  Body body = op.body || !remove ? op.body : before->json();
  auto object = Object::make({op.key, revision, created, op.expireAt}, std::move(body),
                             collection.spec(), doc_);
  if (!object) return pass(object.error());
  if (op.body)
    if (auto inside = checkRevisionInside(op, revision); !inside) return pass(inside.error());
  const auto was = static_cast<int64_t>(before ? before->bytes() : 0);
  const auto is = static_cast<int64_t>(remove ? 0 : (*object)->bytes());
  return Change{std::move(*object), remove, is - was};
}

Result<std::vector<Change>> Store::Impl::build(const Txn& txn) {
  std::vector<Change> changes;
  changes.reserve(txn.writes());
  for (const Op& op : txn.ops()) {
    if (op.kind == Op::Kind::kRequire) continue;
    auto change = buildChange(op, next() + changes.size());
    if (!change) return pass(change.error());
    changes.push_back(std::move(*change));
  }
  return changes;
}

Result<> Store::Impl::checkSize(const std::vector<Change>& changes) const {
  int64_t growth = 0;
  bool creates = false;
  for (const Change& change : changes) {
    growth += change.growth;
    creates |= !change.deleted && change.object->createRevision() == change.object->revision();
  }
  if (mayGrow({headBytes_, options_.maxSize.v}, growth, creates)) return {};
  return fail(Code::kUnavailable,
              "the store holds {} bytes, of {} it may: nothing can be added until something is "
              "deleted, or the server is started with a larger --store-size",
              headBytes_, options_.maxSize.v);
}

void Store::Impl::advanceHead(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    head_ = change.object->revision();
    headBytes_ += change.growth;
    state_.of(change.object->resource())
        .setHead(std::string(change.object->path()), head_,
                 change.deleted ? nullptr : change.object);
  }
}

Result<Revision> Store::Impl::commit(Txn txn, Done done) {
  if (auto fine = check(txn); !fine) return pass(fine.error());
  auto changes = build(txn);
  doc_.shrink(kKeptText);
  if (!changes) return pass(changes.error());
  if (auto fits = checkSize(*changes); !fits) return pass(fits.error());
  advanceHead(*changes);
  Pending pending{++sequence_, std::move(*changes), 0, nullptr, std::move(done)};
  for (const Change& change : pending.changes) pending.bytes += change.object->bytes();
  if (history_.trimSize() >= kTrimRows)
    pending.trim = std::make_shared<const Trim>(history_.takeTrim());
  enqueue(std::move(pending));
  return head_;
}

void Store::Impl::enqueue(Pending pending) {
  WriteItem item{pending.sequence, pending.changes, pending.trim};
  pendingBytes_ += pending.bytes;
  pending_.push_back(std::move(pending));
  if (writer_) return writer_->queue(std::move(item));
  tell();
}

// On the writer's thread, or on the owner's when there is no writer.
void Store::Impl::tell() {
  post_([weak = std::weak_ptr<Impl*>(self_)] {
    if (const auto self = weak.lock()) (*self)->settle();
  });
}

void Store::Impl::settle() {
  if (!writer_) {
    if (!pending_.empty()) settleDurable(pending_.back().sequence);
    return;
  }
  for (Outcome& outcome : writer_->takeOutcomes()) outcomes_.push_back(std::move(outcome));
  // Callbacks may come back here: each outcome is taken off before it is acted on.
  while (!outcomes_.empty()) {
    const Outcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    if (options_.onBatch) options_.onBatch(outcome.batch);
    outcome.error ? settleFailed(outcome) : settleDurable(outcome.sequence);
  }
}

void Store::Impl::makeVisible(const Change& change) {
  const ObjectPtr& object = change.object;
  ObjectPtr before =
      change.deleted ? state_.erase(object->resource(), object->path()) : state_.put(object);
  state_.settleHead(*object);
  visible_ = object->revision();
  const EventType type = change.deleted ? EventType::kDeleted
                         : before       ? EventType::kModified
                                        : EventType::kAdded;
  const Event event{type, object, std::move(before)};
  feed_->note(event);
  history_.push(event);
  keepRecent(object);
}

void Store::Impl::keepRecent(const ObjectPtr& object) {
  remember(object);
  packSome(kPackPerChange);
}

void Store::Impl::remember(const ObjectPtr& object) {
  recent_.push_back(object);
  recentBytes_ += object->bytes();
}

bool Store::Impl::packSome(size_t most) {
  const auto tooMany = [this] {
    return recent_.size() > kRecentObjects || recentBytes_ > kRecentBytes;
  };
  for (; most > 0 && tooMany(); --most) {
    const ObjectPtr old = std::move(recent_.front());
    recent_.pop_front();
    recentBytes_ -= old->bytes();
    if (old.use_count() > 1) old->pack(state_.of(old->resource()).packer());
  }
  return tooMany();
}

void Store::Impl::packSoon() {
  post_([weak = std::weak_ptr<Impl*>(self_)] {
    const auto self = weak.lock();
    if (self && (*self)->packSome(kPackAtOnce)) (*self)->packSoon();
  });
}

// First everything becomes visible, then callbacks run: they may look around and commit again.
void Store::Impl::settleDurable(uint64_t sequence) {
  std::vector<std::pair<Done, Result<Revision>>> calls;
  for (; !pending_.empty() && pending_.front().sequence <= sequence; pending_.pop_front()) {
    Pending& settled = pending_.front();
    for (const Change& change : settled.changes) makeVisible(change);
    pendingBytes_ -= settled.bytes;
    calls.emplace_back(std::move(settled.done), visible_);
  }
  feed_->advance(visible_);
  commits_ += calls.size();
  batches_ += 1;
  if (std::exchange(writeFailure_, std::nullopt)) log.info("writing to the store works again");
  for (auto& [done, result] : calls)
    if (done) done(std::move(result));
  feed_->wake();
}

// Everything that waits was built on what has failed, so all of it fails. Of the batch whose fsync
// failed nobody can say what the disk has; what stood behind it was never written.
void Store::Impl::settleFailed(const Outcome& outcome) {
  const Error& error = *outcome.error;
  const bool unknown = error.code() == Code::kTimeout;
  const Error unwritten(
      Code::kUnavailable,
      fmt::format("cannot write to the store, nothing was changed: {}; reads go on, and "
                  "writes work again once the cause is gone",
                  error.text()),
      error.detail());
  const Error unsure(Code::kTimeout,
                     fmt::format("outcome unknown: the disk did not confirm the write ({}); read "
                                 "the object before you try again",
                                 error.text()),
                     error.detail());
  std::deque<Pending> failed = std::exchange(pending_, {});
  pendingBytes_ = 0;
  state_.dropHead();
  headBytes_ = static_cast<int64_t>(state_.bytes());
  for (const Pending& pending : failed)
    if (pending.trim) history_.giveBack(*pending.trim);
  if (writer_) writer_->resume();
  failures_ += 1;
  if (!writeFailure_) log.error("{}", (unknown ? unsure : unwritten).text());
  writeFailure_ = unknown ? unsure : unwritten;
  for (Pending& pending : failed)
    if (pending.done)
      pending.done(Failure(unknown && pending.sequence <= outcome.sequence ? unsure : unwritten));
}

void Store::Impl::backup(std::string path, Done done) {
  if (!writer_)
    return done(fail(Code::kUnsupported, "this store keeps nothing on disk, or is closed"));
  writer_->copy(std::move(path), [this, done = std::move(done)](Result<Revision> made) mutable {
    post_([done = std::move(done), made = std::move(made)]() mutable { done(std::move(made)); });
  });
}

void Store::Impl::flush() {
  const uint64_t last = sequence_;
  while (!pending_.empty() && pending_.front().sequence <= last) {
    if (writer_) writer_->wait();
    settle();
  }
}

void Store::Impl::close() {
  if (std::exchange(closed_, true)) return;
  flush();
  writer_.reset();
}

Stats Store::Impl::stats() const {
  Stats stats;
  stats.visible = visible_;
  stats.head = head_;
  stats.windowStart = history_.start();
  stats.objects = state_.objects();
  stats.objectBytes.v = static_cast<int64_t>(state_.bytes());
  stats.windowEvents = history_.size();
  stats.windowBytes.v = static_cast<int64_t>(history_.bytes());
  stats.pending = pending_.size();
  stats.commits = commits_;
  stats.batches = batches_;
  stats.failures = failures_;
  stats.writeFailure = writeFailure_;
  return stats;
}

}  // namespace mangrove::store
