#include "client/informer/list_watch.h"

#include <atomic>
#include <mutex>

#include "base/number/rng.h"
#include "base/os/log.h"
#include "client/http/status_error.h"
#include "client/informer/watch_parts.h"
#include "client/queue/retry_policy.h"

namespace mangrove::client {

namespace {

const Logger log("client");

constexpr int kPatience = 3;  // bad experiences at one position before it is given up
// A watch that lived so long was healthy, even if nothing happened in it.
constexpr Duration kHealthy = std::chrono::seconds(30);
// A watch that ends properly within this time is treated as a failure, or a broken server would
// make us spin.
constexpr Duration kVeryShort = std::chrono::seconds(1);

}  // namespace

// Invariants. One list or watch is under way at a time, that of `turn_`: whatever begins another one
// counts it up first, and answers of earlier turns are dropped, so a late page cannot mix with a new
// list. The sink hears a list whole or not at all, and events only after listEnds(). After a break
// exactly one of watch_ and timer_ is set, so there is always somebody who goes on.
class ListWatch::Impl : public std::enable_shared_from_this<ListWatch::Impl> {
 public:
  Impl(ListWatchOptions options, ApiClient& client, Mailbox& home, Clock& clock, uint64_t seed,
       std::shared_ptr<ListWatchSink> sink)
      : options_(std::move(options)),
        client_(client),
        home_(home),
        clock_(clock),
        rng_(seed),
        backoff_(options_.firstBackoff, options_.longestBackoff),
        sink_(std::move(sink)) {}

  // Runs `fn` at home unless stopped by then. After stop() has returned home is not touched any
  // more, whatever thread a late answer comes on.
  void post(UniqueFn<void(Impl&)> fn) {
    std::lock_guard lock(gate_);
    if (stopped_) return;
    home_.post([self = shared_from_this(), fn = std::move(fn)]() mutable {
      if (!self->stopped_) fn(*self);
    });
  }

  void stop() {
    std::lock_guard lock(gate_);
    if (stopped_.exchange(true)) return;
    home_.post([self = shared_from_this()] {
      self->watch_.reset();
      self->timer_.reset();
    });
  }

  // ---- listing ----

  void list() {
    ++turn_;
    watch_.reset();
    timer_.reset();
    unpaged_ = false;
    sink_->listStarts();
    requestPage("");
  }

  void requestPage(std::string token) {
    Request request;
    request.verb = Verb::kList;
    request.ref = {options_.kind, options_.ns, ""};
    request.query.labelSelector = options_.labelSelector;
    request.query.fieldSelector = options_.fieldSelector;
    request.query.limit = unpaged_ ? 0 : options_.pageSize;
    request.query.continueToken = token;
    request.timeout = unpaged_ ? options_.listTimeout * 5 : options_.listTimeout;
    bool later = !token.empty();
    client_.submit(std::move(request),
                   [weak = weak_from_this(), turn = turn_, later](Result<Reply> r) {
                     auto self = weak.lock();
                     if (!self) return;
                     self->post([turn, later, r = std::move(r)](Impl& impl) mutable {
                       if (turn == impl.turn_) impl.onPage(later, std::move(r));
                     });
                   });
  }

  void onPage(bool later, Result<Reply> reply) {
    if (!reply && later && !unpaged_ && reply.error().code() == Code::kGone) return listUnpaged();
    if (!reply) return failed(reply.error());
    auto slices = sliceList(reply->body);
    if (!slices) return failed(slices.error().in("list {}", options_.kind.plural).value());
    bool last = slices->continueToken.empty();
    // The server works on the next page while we read this one.
    if (!last) requestPage(slices->continueToken);
    for (std::string_view item : slices->items) {
      auto object = receive(doc_, item);
      if (!object) return failed(object.error().in("list {}", options_.kind.plural).value());
      sink_->listItem(*object);
    }
    if (last) listed(slices->resourceVersion);
  }

  // The snapshot behind our pages was compacted meanwhile: ask for everything at once, as the
  // ecosystem's clients do.
  void listUnpaged() {
    log.info("{}: the list expired between two pages, listing in one piece", options_.kind.plural);
    ++turn_;
    unpaged_ = true;
    sink_->listStarts();
    requestPage("");
  }

  void listed(const std::string& version) {
    doc_.shrink(256 * 1024);
    position_.restart(version);
    badTries_ = 0;
    progress_ = false;
    count(&ListWatchStats::lists);
    sink_->listEnds(version);
    sink_->flush();
    watch();
  }

  // ---- watching ----

  void watch() {
    ++turn_;
    WatchRequest request;
    request.kind = options_.kind;
    request.ns = options_.ns;
    request.query.labelSelector = options_.labelSelector;
    request.query.fieldSelector = options_.fieldSelector;
    request.query.resourceVersion = position_.resume();
    Duration span = options_.longestWatch - options_.shortestWatch;
    request.timeout =
        options_.shortestWatch +
        Duration(static_cast<int64_t>(rng_.unit() * static_cast<double>(span.count())));
    request.idleTimeout = options_.idleTimeout;
    openedAt_ = clock_.mono();
    opened_ = false;
    backlog_ = std::make_shared<Backlog>();
    watch_ = client_.watch(std::move(request), handlerFor(turn_));
    if (paused_) watch_->pause();
  }

  WatchHandler handlerFor(uint64_t turn) {
    WatchHandler handler;
    auto weak = weak_from_this();
    handler.onOpen = [weak, turn] {
      if (auto self = weak.lock())
        self->post([turn](Impl& impl) {
          if (turn == impl.turn_) impl.onOpen();
        });
    };
    handler.onEvents = [weak, turn, backlog = backlog_](std::string lines) {
      auto self = weak.lock();
      if (!self) return false;
      bool more = backlog->add(lines.size());
      self->post([turn, lines = std::move(lines)](Impl& impl) {
        if (turn == impl.turn_) impl.onEvents(lines);
      });
      return more;
    };
    handler.onEnd = [weak, turn](Result<> result) {
      if (auto self = weak.lock())
        self->post([turn, result = std::move(result)](Impl& impl) {
          if (turn == impl.turn_) impl.onEnd(result);
        });
    };
    return handler;
  }

  void onOpen() {
    opened_ = true;
    openedAt_ = clock_.mono();
    count(&ListWatchStats::watches);
    setTrouble(std::nullopt);
  }

  void onEvents(std::string_view lines) {
    uint64_t turn = turn_;
    if (backlog_->remove(lines.size()) && !paused_) watch_->resume();
    while (!lines.empty() && turn == turn_) {
      size_t end = lines.find('\n');
      std::string_view line = lines.substr(0, end);
      lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
      if (!line.empty() && line != "\r") onLine(line);
    }
    sink_->flush();
    if (sink_->full()) setPaused(true);
  }

  void onLine(std::string_view line) {
    if (auto usual = usualEvent(line))
      if (auto object = receive(doc_, usual->object)) return onObject(usual->type, *object);
    auto slice = sliceEvent(line);
    if (!slice) return garbled(slice.error());
    if (slice->type == EventType::kError) return onErrorEvent(slice->object);
    if (slice->type == EventType::kBookmark) return onBookmark(slice->object);
    auto object = receive(doc_, slice->object);
    if (!object) return garbled(object.error());
    onObject(slice->type, *object);
  }

  void onObject(EventType type, const Received& object) {
    sink_->event(type, object);
    if (!object.resourceVersion.empty()) position_.saw(object.resourceVersion);
    count(&ListWatchStats::events);
    healthy();
  }

  // Bookmarks carry a version and nothing else; everything before it has been sent.
  void onBookmark(std::string_view raw) {
    auto root = doc_.parse(raw);
    if (!root) return garbled(root.error());
    std::string_view version = textOf((*root)["metadata"]["resourceVersion"]);
    if (!version.empty()) position_.restart(version);
    count(&ListWatchStats::bookmarks);
    healthy();
  }

  void onErrorEvent(std::string_view raw) {
    WatchError told =
        watchError(raw, fmt::format("watch {}", options_.kind.plural), client_.server());
    broke(told.error, told.tooLargeVersion);
  }

  void garbled(const Error& error) {
    count(&ListWatchStats::garbled);
    ++badTries_;
    log.warn("watch {}: {}; reconnecting", options_.kind.plural, error.text());
    broke(error, false);
  }

  void onEnd(const Result<>& result) {
    Duration lived = clock_.mono() - openedAt_;
    if (opened_ && lived >= kHealthy) healthy();
    if (!result) return broke(result.error(), false);
    position_.settle();
    if (lived >= kVeryShort || progress_) return watch();
    broke(Error(Code::kUnavailable, fmt::format("watch {} at {}: ended as soon as it began",
                                                options_.kind.plural, client_.server())),
          false);
  }

  void healthy() {
    progress_ = true;
    badTries_ = 0;
    backoff_.reset();
  }

  // The watch cannot go on. Resume where we are, or list when the position is no good.
  void broke(const Error& error, bool badPosition) {
    watch_.reset();
    ++turn_;
    bool gone = error.code() == Code::kGone || badPosition;
    if (error.detail() > 0 && !gone && error.code() != Code::kTooMany) ++badTries_;
    if (!gone && badTries_ < kPatience) return later(error, &Impl::watch);
    log.info("{}; listing {} again", error.text(), options_.kind.plural);
    badTries_ = 0;
    // An expired position after a good while is routine; right after a list it is trouble.
    if (gone && progress_) return list();
    later(error, &Impl::list);
  }

  void failed(const Error& error) {
    ++turn_;
    // Said once: a kind that is not installed stays so for a long time, and may be meant.
    const auto before = trouble();
    const bool isKnown = before && before->text() == error.text();
    if (isKnown)
      log.debug("{}", error.text());
    else if (error.code() == Code::kNotFound)
      log.info("{}", error.text());
    else
      log.warn("{}", error.text());
    later(error, &Impl::list);
  }

  void later(const Error& error, void (Impl::*next)()) {
    count(&ListWatchStats::failures);
    setTrouble(error);
    Duration wait = backoff_.next(rng_);
    log.debug("{}; trying again in {} ms", error.text(), wait.count() / 1000000);
    timer_ = clock_.after(wait, [weak = weak_from_this(), turn = turn_, next] {
      if (auto self = weak.lock())
        self->post([turn, next](Impl& impl) {
          if (turn == impl.turn_) (impl.*next)();
        });
    });
  }

  // ---- wishes from outside ----

  void relist(const std::string& why) {
    log.info("listing {} again: {}", options_.kind.plural, why);
    list();
  }

  void setPaused(bool paused) {
    if (paused_ == paused) return;
    paused_ = paused;
    if (!watch_) return;
    if (paused) {
      watch_->pause();
    } else if (!backlog_->choked()) {
      watch_->resume();
    }
  }

  ListWatchStats stats() const {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  std::optional<Error> trouble() const {
    std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  void count(uint64_t ListWatchStats::*what) {
    std::lock_guard lock(mutex_);
    ++(stats_.*what);
  }
  void setTrouble(std::optional<Error> trouble) {
    std::lock_guard lock(mutex_);
    trouble_ = std::move(trouble);
  }

  const ListWatchOptions options_;
  ApiClient& client_;
  Mailbox& home_;
  Clock& clock_;
  Rng rng_;
  Backoff backoff_;
  const std::shared_ptr<ListWatchSink> sink_;
  std::mutex gate_;  // between posting and stopping
  std::atomic<bool> stopped_ = false;

  // Home thread only.
  json::Doc doc_;
  Position position_;
  uint64_t turn_ = 0;  // answers that belong to an earlier turn are ignored
  std::unique_ptr<Watch> watch_;
  std::shared_ptr<Backlog> backlog_;  // of watch_
  Timer timer_;
  MonoTime openedAt_{};
  int badTries_ = 0;       // at this position
  bool progress_ = false;  // since the last list
  bool opened_ = false;
  bool unpaged_ = false;
  bool paused_ = false;

  mutable std::mutex mutex_;  // what other threads may look at
  ListWatchStats stats_;
  std::optional<Error> trouble_;
};

ListWatch::ListWatch(ListWatchOptions options, ApiClient& client, Mailbox& home, Clock& clock,
                     uint64_t seed, std::shared_ptr<ListWatchSink> sink)
    : impl_(
          std::make_shared<Impl>(std::move(options), client, home, clock, seed, std::move(sink))) {}

ListWatch::~ListWatch() {
  stop();
}

void ListWatch::start() {
  impl_->post([](Impl& impl) { impl.list(); });
}

void ListWatch::stop() {
  impl_->stop();
}

void ListWatch::relist(std::string why) {
  impl_->post([why = std::move(why)](Impl& impl) { impl.relist(why); });
}

void ListWatch::setPaused(bool paused) {
  impl_->post([paused](Impl& impl) { impl.setPaused(paused); });
}

ListWatchStats ListWatch::stats() const {
  return impl_->stats();
}

std::optional<Error> ListWatch::trouble() const {
  return impl_->trouble();
}

}  // namespace mangrove::client
