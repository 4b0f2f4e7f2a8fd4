#include "apiserver/core/watch.h"

#include <deque>

#include <fmt/core.h>

#include "apiserver/core/filter.h"
#include "apiserver/core/read.h"
#include "apiserver/output/encode.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr size_t kEventsPerTake = 64;
constexpr Bytes kQueueMark =
    kKiB * 256;  // a stream with more unsent bytes than this is not given more
constexpr size_t kPortion = 64 * 1024;  // encoded at once; the last line may exceed it
constexpr Duration kBookmarkEvery = std::chrono::seconds(30);
constexpr Duration kShortestWatch =
    std::chrono::minutes(30);  // without timeoutSeconds; doubled at random

// Where a watch begins, as the parameters say.
struct Start {
  std::optional<store::Revision> after;  // nullopt: the present state first
  bool initialEvents = false;            // the present state as ADDED events …
  bool markEnd = false;                  // … and a bookmark behind them
};

Outcome<Start> startOf(const RequestInfo& info) {
  auto revision = revisionParameter(info);
  if (!revision) return tl::unexpected(revision.error());
  if (!info.has("sendInitialEvents")) return Start{*revision, !*revision, false};
  if (info.parameter("resourceVersionMatch") != "NotOlderThan") {
    FieldErrors errors;
    errors.forbidden(FieldPath("resourceVersionMatch"),
                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    return refuse(answer::invalid("meta.k8s.io", "ListOptions", "", errors));
  }
  const bool wanted = info.flag("sendInitialEvents");
  if (!wanted) return Start{*revision, false, false};
  return Start{std::nullopt, true, info.flag("allowWatchBookmarks")};
}

Outcome<std::optional<Duration>> timeoutOf(const RequestInfo& info) {
  const std::string_view text = info.parameter("timeoutSeconds");
  if (text.empty()) return std::nullopt;
  auto seconds = parseInt<int64_t>(text);
  if (!seconds || *seconds < 0 || *seconds > 86400) {
    return refuse(answer::badRequest(fmt::format("timeoutSeconds '{}': want 0 to 86400", text)));
  }
  if (*seconds == 0) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace

class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  WatchSession(Watches& all, ResourcePtr resource, ObjectFilter filter, Shape shape, bool bookmarks)
      : all_(all),
        resource_(std::move(resource)),
        filter_(std::move(filter)),
        shape_(std::move(shape)),
        bookmarks_(bookmarks) {}

  Outcome<> begin(const RequestInfo& info, const Start& start, Duration timeout, Responder& to) {
    ns_ = info.ns;
    if (resource_->kind->kind == "Namespace") ns_.clear();
    store::Revision from = start.after.value_or(store::Revision{});
    if (!start.after) {
      auto page = all_.context_.store.list({.resource = resource_->stored, .ns = ns_});
      if (!page) return refuse(answer::ofError(page.error()));
      from = page->revision;
      if (start.initialEvents) initial_.assign(page->items.begin(), page->items.end());
    }
    auto watch = all_.context_.store.watch(resource_->stored, ns_, from, [this] { pump(); });
    if (!watch) return refuse(answer::ofError(watch.error()));
    watch_.emplace(std::move(*watch));
    markEnd_ = start.markEnd;
    open(to, timeout);
    return {};
  }

  void pump() {
    if (!stream_ || pumping_) return;
    pumping_ = true;
    while (stream_ && stream_->queued() < kQueueMark && step()) {
    }
    pumping_ = false;
  }

 private:
  void open(Responder& to, Duration timeout) {
    Answer head;
    head.contentType = "application/json;stream=watch";
    stream_ = to.stream(head);
    std::weak_ptr<WatchSession> weak = weak_from_this();
    auto onOwner = [weak, &owner = all_.context_.owner](auto method) {
      return [weak, &owner, method] {
        owner.post([weak, method] {
          if (auto self = weak.lock()) (self.get()->*method)();
        });
      };
    };
    stream_->onClosed([weak] {
      if (auto self = weak.lock()) self->end();
    });
    stream_->onDrained([weak] {
      if (auto self = weak.lock()) self->pump();
    });
    timeout_ = all_.context_.clock.after(timeout, onOwner(&WatchSession::end));
    scheduleBookmark();
    pump();
  }

  // One portion; false when there is nothing to send now.
  bool step() {
    if (!initial_.empty()) return sendInitial();
    if (markEnd_) {
      markEnd_ = false;
      return send(encodeBookmark(*resource_, std::to_string(watch_->position().v), true, shape_));
    }
    if (ready_.empty() && !takeEvents()) return false;
    std::string lines;
    while (!ready_.empty() && hasRoom(lines)) {
      lines += lineOf(ready_.front());
      ready_.pop_front();
    }
    return lines.empty() || send(std::move(lines));
  }

  // False when there are none, or never will be.
  bool takeEvents() {
    auto events = watch_->take(kEventsPerTake);
    if (!events) {
      send(encodeErrorEvent(answer::ofError(events.error())));
      end();
      return false;
    }
    ready_.assign(events->begin(), events->end());
    return !ready_.empty();
  }

  // Objects may be large and readers slow: what is encoded waits in memory, once per watcher.
  static bool hasRoom(const std::string& lines) { return lines.size() < kPortion; }

  bool sendInitial() {
    std::string lines;
    while (!initial_.empty() && hasRoom(lines)) {
      if (filter_.matches(*initial_.front())) lines += encode("ADDED", *initial_.front());
      initial_.pop_front();
    }
    return lines.empty() || send(std::move(lines));
  }

  // An object that starts or stops matching appears or disappears for this watcher.
  std::string lineOf(const store::Event& event) {
    const bool deleted = event.type == store::EventType::kDeleted;
    const bool before = event.previous && filter_.matches(*event.previous);
    const bool now = !deleted && filter_.matches(*event.object);
    if (now) return encode(before ? "MODIFIED" : "ADDED", *event.object);
    if (before) return encode("DELETED", *event.object);
    return {};
  }

  std::string encode(std::string_view type, const store::Object& object) {
    shape_.now = all_.context_.clock.wall();
    return encodeEvent(type, *resource_, object, shape_, std::exchange(first_, false));
  }

  bool send(std::string lines) {
    if (!stream_) return false;
    if (stream_->write(std::move(lines))) return true;
    end();
    return false;
  }

  void scheduleBookmark() {
    if (!bookmarks_) return;
    bookmark_ = all_.context_.clock.after(kBookmarkEvery,
                                          [weak = weak_from_this(), &owner = all_.context_.owner] {
                                            owner.post([weak] {
                                              if (auto self = weak.lock()) self->sendBookmark();
                                            });
                                          });
  }

  // Only when everything before it has been sent: a bookmark says that there is nothing left up to
  // here.
  void sendBookmark() {
    pump();
    const bool caughtUp =
        stream_ && initial_.empty() && ready_.empty() && stream_->queued() < kQueueMark;
    if (caughtUp)
      send(encodeBookmark(*resource_, std::to_string(watch_->position().v), false, shape_));
    if (stream_) scheduleBookmark();
  }

  void end() {
    stream_.reset();
    timeout_.reset();
    bookmark_.reset();
    // Not inside our own callbacks: whoever called us still stands on this object.
    all_.context_.owner.post([&all = all_, weak = weak_from_this()] {
      if (auto self = weak.lock()) all.forget(self.get());
    });
  }

  Watches& all_;
  ResourcePtr resource_;
  ObjectFilter filter_;
  Shape shape_;
  bool bookmarks_;
  std::string ns_;
  std::optional<store::Watch> watch_;
  std::deque<store::ObjectPtr> initial_;
  std::deque<store::Event> ready_;  // taken, not yet encoded
  bool markEnd_ = false;
  bool first_ = true;  // Tables carry their columns once
  bool pumping_ = false;
  std::unique_ptr<AnswerStream> stream_;
  Timer timeout_;
  Timer bookmark_;
};

Watches::~Watches() = default;

void Watches::start(Call call, ResourcePtr resource, ResponderPtr to) {
  auto shape = shapeOf(call.accept, call.info, *resource->kind);
  if (!shape) return to->answer(shape.error());
  auto filter = ObjectFilter::of(call.info, *resource);
  if (!filter) return to->answer(filter.error());
  auto start = startOf(call.info);
  if (!start) return to->answer(start.error());
  auto timeout = timeoutOf(call.info);
  if (!timeout) return to->answer(timeout.error());
  const Duration longest = kShortestWatch + std::chrono::seconds(context_.rng.below(1800));
  auto session = std::make_shared<WatchSession>(*this, std::move(resource), std::move(*filter),
                                                *shape, call.info.flag("allowWatchBookmarks"));
  sessions_.insert(session);
  auto begun = session->begin(call.info, *start, timeout->value_or(longest), *to);
  if (begun) return;
  sessions_.erase(session);
  to->answer(begun.error());
}

void Watches::forget(WatchSession* session) {
  std::erase_if(sessions_, [&](const auto& s) { return s.get() == session; });
}

}  // namespace mangrove::apiserver
