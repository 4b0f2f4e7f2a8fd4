#include "frame/record/replay.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "frame/record/entry_file.h"
#include "frame/record/redact.h"
#include "frame/record/ring_file.h"
#include "frame/version.h"
#include "json/view.h"

namespace mangrove::frame::record {
namespace {

std::string firstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

struct Decision {
  Mark mark;
  uint64_t id;
  std::string text;
  bool operator==(const Decision&) const = default;
};

// No time passes beside the turns of a replay.
class StillClock final : public Clock {
 public:
  explicit StillClock(const Moment& now) : now_(now) {}
  WallTime wall() const override { return now_.wall; }
  MonoTime mono() const override { return now_.mono; }
  Timer at(MonoTime, Fn) override { return {}; }

 private:
  const Moment& now_;
};

// One process of the recording.
class Life final : private Stage {
 public:
  Life(Session session, uint64_t number)
      : session_(std::move(session)),
        number_(number),
        turns_(owner_, *this),
        still_(turns_.now()) {}
  ~Life() override { subject_.reset(); }

  Result<> begin(const MakeSubject& make) {
    house_.emplace(ReplayHouse{owner_, turns_});
    auto made = make(session_, *house_);
    if (!made) return pass(made.error());
    subject_ = std::move(*made);
    return {};
  }
  const Session& session() const { return session_; }
  uint64_t turns() const { return turn_; }

  // `isCut`: the recording ends in this turn, perhaps before its last decision.
  std::optional<Difference> live(const Entry& came, const std::vector<Decision>& then, bool isCut) {
    turn_++;
    made_.clear();
    Input input = inputOf(came);
    const std::string cause = describe(came);
    if (!turns_.expects(input))
      return Difference{number_,
                        turn_,
                        came.at.wall,
                        cause,
                        "it was waited for",
                        "nobody waits for it",
                        "this program has not asked for it"};
    turns_.run(came.at, std::move(input));
    if (!started_)
      return Difference{number_,
                        turn_,
                        came.at.wall,
                        cause,
                        "it started",
                        started_.error().text(),
                        "it does not start"};
    return compare(came, cause, then, isCut);
  }

 private:
  Input inputOf(const Entry& came) {
    Input out{.mark = came.mark, .id = came.id};
    if (came.mark == Mark::kEvents) out.lines = came.body;
    if (came.mark == Mark::kReply) out.reply = replyFrom(came.body);
    if (came.mark == Mark::kEnd) out.end = outcomeFrom(came.body);
    if (came.mark == Mark::kStart) out.task = [this] { started_ = subject_->start(); };
    if (came.mark == Mark::kStop) out.task = [this] { subject_->stop([] {}); };
    return out;
  }

  std::optional<Difference> compare(const Entry& came, const std::string& cause,
                                    const std::vector<Decision>& then, bool isCut) const {
    const size_t most = isCut ? then.size() : std::max(then.size(), made_.size());
    for (size_t i = 0; i < most; i++) {
      const bool was = i < then.size(), is = i < made_.size();
      if (was && is && then[i] == made_[i]) continue;
      const std::string recorded = was ? then[i].text : "", now = is ? made_[i].text : "";
      return Difference{number_,
                        turn_,
                        came.at.wall,
                        cause,
                        firstLine(recorded),
                        firstLine(now),
                        whereTheyDiffer(recorded, now)};
    }
    return std::nullopt;
  }

  std::string describe(const Entry& came) const {
    const auto asked = [](const std::map<uint64_t, std::string>& by, uint64_t id) {
      const auto found = by.find(id);
      return found == by.end() ? fmt::format("number {}", id) : found->second;
    };
    switch (came.mark) {
      case Mark::kStart:
        return "the start";
      case Mark::kStop:
        return "being told to stop";
      case Mark::kTimer:
        return fmt::format("timer {}", came.id);
      case Mark::kReply:
        return "the answer to " + asked(requests_, came.id);
      case Mark::kEvents:
        return fmt::format("{} of {}", eventsIn(came.body), asked(watches_, came.id));
      case Mark::kOpen:
        return "the opening of " + asked(watches_, came.id);
      default:
        return "the end of " + asked(watches_, came.id);
    }
  }

  // "MODIFIED default/web-1 and 2 more"
  static std::string eventsIn(const std::string& lines) {
    json::Doc doc;
    const auto event = doc.parse(std::string_view(lines).substr(0, lines.find('\n')));
    std::string out = "events";
    if (event) {
      const json::View meta = (*event)["object"]["metadata"];
      const std::string ns(meta["namespace"].string().value_or(""));
      out = fmt::format("{} {}{}{}", (*event)["type"].string().value_or("?"), ns,
                        ns.empty() ? "" : "/", meta["name"].string().value_or("?"));
    }
    const auto count = std::count(lines.begin(), lines.end(), '\n');
    if (count > 1) out += fmt::format(" and {} more", count - 1);
    return out;
  }

  void request(uint64_t id, client::Request request) override {
    if (isSecret(request)) request.body = withoutSecrets(request.body);
    made_.push_back({Mark::kRequest, id, textOf(request)});
    requests_[id] = firstLine(made_.back().text);
  }
  void watch(uint64_t id, client::WatchRequest request) override {
    made_.push_back({Mark::kWatch, id, textOf(request)});
    watches_[id] = firstLine(made_.back().text);
  }
  void unwatch(uint64_t id) override { watches_.erase(id); }
  void flow(uint64_t, bool) override {}
  void timer(uint64_t, MonoTime) override {}
  void cancel(uint64_t) override {}
  Clock& outsideClock() override { return still_; }
  client::ApiClient* outsideClient() override { return nullptr; }

  Session session_;
  uint64_t number_;
  Mailbox owner_;
  Turns turns_;
  StillClock still_;
  std::optional<ReplayHouse> house_;
  std::unique_ptr<Subject> subject_;
  Result<> started_ = {};
  uint64_t turn_ = 0;
  std::vector<Decision> made_;  // in the turn at hand
  std::map<uint64_t, std::string> requests_, watches_;
};

class Replay {
 public:
  explicit Replay(const MakeSubject& make) : make_(make) {}

  Result<> file(const std::string& path) {
    auto opened = EntryFile::open(path);
    if (!opened) return pass(opened.error());
    EntryFile& file = **opened;
    bool isFirst = true;
    while (auto entry = file.next()) {
      if (out_.difference) return {};
      if (std::exchange(isFirst, false) && entry->mark != Mark::kSession)
        return invalid("{}: this is no recording of mangrove --record", path);
      if (auto ok = take(std::move(*entry)); !ok) return ok.error().in("{}", path);
    }
    out_.bytes += file.bytes();
    if (isFirst && file.bytes() > 0)
      return invalid("{}: this is no recording of mangrove --record", path);
    if (file.isTorn()) out_.notes.push_back(path + ": it has no end, as after a kill");
    return {};
  }

  ReplayResult end() {
    endTurn(true);
    life_.reset();
    return std::move(out_);
  }

 private:
  Result<> take(Entry entry) {
    if (entry.mark == Mark::kSession) return session(entry);
    if (isDecision(entry.mark)) {
      then_.push_back({entry.mark, entry.id, std::move(entry.body)});
      return {};
    }
    endTurn(false);
    came_ = std::move(entry);
    return {};
  }

  Result<> session(const Entry& entry) {
    auto session = sessionFrom(entry.body);
    if (!session) return pass(session.error());
    if (session->part > 1) {  // goes on from the file before
      const bool goesOn = part_ > 0 && session->part == part_ + 1;
      part_ = session->part;
      if (goesOn) return {};
      endTurn(true);
      life_.reset();
      out_.notes.push_back(
          fmt::format("{}: the beginning was overwritten (it goes on from part {}), so it cannot "
                      "be replayed; a larger --record-limit keeps more",
                      session->role, session->part));
      return {};
    }
    endTurn(true);
    life_.reset();
    part_ = 1;
    out_.sessions++;
    out_.roles.push_back(session->role);
    if (session->version != version())
      out_.notes.push_back(fmt::format("{} was recorded by version {}, this is {}", session->role,
                                       session->version, version()));
    life_ = std::make_unique<Life>(std::move(*session), out_.sessions);
    return life_->begin(make_);
  }

  void endTurn(bool isCut) {
    auto came = std::exchange(came_, std::nullopt);
    const auto then = std::exchange(then_, {});
    if (!came || !life_ || out_.difference) return;
    out_.difference = life_->live(*came, then, isCut);
    out_.turns++;
    out_.decisions += then.size();
  }

  const MakeSubject& make_;
  ReplayResult out_;
  std::unique_ptr<Life> life_;  // null: none can be lived
  uint64_t part_ = 0;
  std::optional<Entry> came_;
  std::vector<Decision> then_;
};

}  // namespace

Result<ReplayResult> replay(const std::string& path, const MakeSubject& make) {
  const auto parts = ringParts(path);
  if (parts.empty())
    return fail(Code::kNotFound, "{}: there is no recording {}.1, {}.2, …", path, path, path);
  Replay all(make);
  for (const RingPart& part : parts)
    if (auto ok = all.file(part.file); !ok) return pass(ok.error());
  return all.end();
}

}  // namespace mangrove::frame::record
