#include "apiserver/audit/log.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apiserver/core/object.h"
#include "apiserver/core/spdy_upgrade.h"
#include "apiserver/protobuf/envelope.h"
#include "base/os/log.h"
#include "base/text/time_text.h"
#include "json/value.h"
#include "json/yaml.h"

namespace mangrove::apiserver::audit {

namespace {

const Logger logger("audit");
constexpr size_t kMostQueued = 10'000;

std::string randomUuid() {
  unsigned char b[16] = {};
  (void)!::getrandom(b, sizeof b, 0);
  b[6] = static_cast<unsigned char>((b[6] & 0x0f) | 0x40);
  b[8] = static_cast<unsigned char>((b[8] & 0x3f) | 0x80);
  std::string out;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", b[i]);
  }
  return out;
}

json::Array listOf(const std::vector<std::string>& texts) {
  json::Array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

json::Object userOf(const Identity& who) {
  if (who.user.empty()) return {};  // nobody we know
  json::Object out{{"username", who.user}, {"groups", listOf(who.groups)}};
  if (!who.uid.empty()) out["uid"] = who.uid;
  json::Object extra;
  for (const auto& [key, values] : who.extra) extra[key] = listOf(values);
  if (!extra.empty()) out["extra"] = std::move(extra);
  return out;
}

// Who has to answer for it, whatever name he took.
const Identity& askerOf(const Identity& who) {
  return who.behind ? *who.behind : who;
}

json::Object referenceOf(const RequestInfo& info) {
  json::Object out{{"resource", info.resource}, {"apiVersion", info.version}};
  if (!info.ns.empty()) out["namespace"] = info.ns;
  if (!info.name.empty()) out["name"] = info.name;
  if (!info.group.empty()) out["apiGroup"] = info.group;
  if (!info.subresource.empty()) out["subresource"] = info.subresource;
  return out;
}

// In whatever way it was sent: a client must not be able to choose that his body is not written.
json::Value bodyIn(std::string_view text, std::string_view type) {
  auto value = type == protobuf::kMediaType     ? protobuf::fromProtobuf(text)
               : type.find("yaml") != type.npos ? json::parseYamlDocument(text)
                                                : json::parse(text);
  return value ? std::move(*value) : json::Value(nullptr);
}

// One object only: lists may be larger than the disk likes, and hold others' secrets.
json::Value objectIn(std::string_view text, std::string_view type) {
  json::Value value = bodyIn(text, type);
  const json::Object* object = value.if_object();
  const bool list =
      object && textAt(*object, "kind").ends_with("List") && findArray(*object, "items");
  return list ? json::Value(nullptr) : value;
}

Result<UniqueFd> openFile(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return failErrno(errno, "audit log " + path);
  return fd;
}

}  // namespace

// The way back of one request, which writes a line at each stage that the policy wants.
class Watched final : public Responder, public SpdyUpgrade {
 public:
  Watched(AuditLog& log, const Call& call, std::string uri, std::string address, Verdict verdict,
          ResponderPtr to)
      : log_(log), verdict_(std::move(verdict)), to_(std::move(to)) {
    event_ = {{"kind", "Event"},
              {"apiVersion", "audit.k8s.io/v1"},
              {"level", levelName(verdict_.level)},
              {"auditID", randomUuid()},
              {"requestURI", std::move(uri)},
              {"verb", Attributes::of(call.info).verb},
              {"user", userOf(askerOf(call.who))},
              {"sourceIPs", json::Array{std::move(address)}},
              {"userAgent", call.userAgent},
              {"requestReceivedTimestamp", formatMicroTime(log_.clock_.wall())}};
    if (call.who.behind) event_["impersonatedUser"] = userOf(call.who);
    if (call.info.isResource) event_["objectRef"] = referenceOf(call.info);
    say(Stage::kRequestReceived);
    if (verdict_.level >= Level::kRequest && !call.body.empty())
      event_["requestObject"] = bodyIn(call.body, call.contentType);
  }
  ~Watched() override {
    if (!ended_) end(answer::status(500, "InternalError", "nobody answered"));
  }

  void answer(Answer answer) override {
    for (auto& [name, text] : answer.auditNotes) notes_[name] = text;
    end(answer);
    to_->answer(std::move(answer));
  }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    begin(head.status);
    return to_->stream(std::move(head));
  }
  void upgrade(const std::vector<std::string_view>& protocols, Responder::Opened opened) override {
    begin(101);
    to_->upgrade(protocols, std::move(opened));
  }
  bool wantsSpdy() const override { return spdyOf(*to_) != nullptr; }
  void upgradeToSpdy(const std::vector<std::string_view>& protocols,
                     SpdyUpgrade::Opened opened) override {
    begin(101);
    if (auto* spdy = spdyOf(*to_)) spdy->upgradeToSpdy(protocols, std::move(opened));
  }

 private:
  void say(Stage stage) {
    if (!verdict_.writes(stage)) return;
    event_["stage"] = stageName(stage);
    event_["stageTimestamp"] = formatMicroTime(log_.clock_.wall());
    log_.write(json::write(event_) + "\n");
  }
  void judge(int status) {
    event_["responseStatus"] = json::Object{{"metadata", json::Object()}, {"code", status}};
    // What admission refuses was allowed by the roles: its notes tell the two apart.
    const bool forbidden = status == 403 && notes_.empty();
    if (status != 401) notes_["authorization.k8s.io/decision"] = forbidden ? "forbid" : "allow";
    event_["annotations"] = std::move(notes_);
  }
  // A long answer: that it began is written; when it ends is up to the other side.
  void begin(int status) {
    if (std::exchange(ended_, true)) return;
    judge(status);
    say(Stage::kResponseStarted);
    say(Stage::kResponseComplete);
  }
  void end(const Answer& answer) {
    if (std::exchange(ended_, true)) return;
    judge(answer.status);
    if (verdict_.level == Level::kRequestResponse && !answer.body.empty())
      event_["responseObject"] = objectIn(answer.body, answer.contentType);
    say(Stage::kResponseComplete);
  }

  AuditLog& log_;
  const Verdict verdict_;
  ResponderPtr to_;
  json::Object event_;
  json::Object notes_;  // what becomes "annotations"
  bool ended_ = false;
};

Result<std::unique_ptr<AuditLog>> AuditLog::open(LogOptions options, Clock& clock) {
  auto file = openFile(options.path);
  if (!file) return pass(file.error());
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(options), clock, std::move(*file)));
}

AuditLog::AuditLog(LogOptions options, Clock& clock, UniqueFd file)
    : options_(std::move(options)), clock_(clock), file_(std::move(file)) {
  struct stat about {};
  if (::fstat(file_.get(), &about) == 0) bytes_ = about.st_size;
  thread_ = std::thread([this] { run(); });
}

AuditLog::~AuditLog() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

ResponderPtr AuditLog::watched(const Call& call, std::string uri, std::string address,
                               ResponderPtr to) {
  Verdict verdict = judge(options_.policy, askerOf(call.who), Attributes::of(call.info));
  if (verdict.level == Level::kNone) return to;
  return std::make_shared<Watched>(*this, call, std::move(uri), std::move(address),
                                   std::move(verdict), std::move(to));
}

uint64_t AuditLog::dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

void AuditLog::write(std::string line) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= kMostQueued) {
      if (dropped_++ == 0)
        logger.warn("the audit log is slower than the requests: some are missing");
      return;
    }
    queue_.push_back(std::move(line));
  }
  wake_.notify_one();
}

void AuditLog::run() {
  for (;;) {
    std::string lines;
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      for (const auto& line : queue_) lines += line;
      queue_.clear();
      last = stopping_;
    }
    append(lines);
    if (last) return;
  }
}

void AuditLog::append(const std::string& lines) {
  if (lines.empty()) return;
  if (bytes_ > 0 && bytes_ + static_cast<int64_t>(lines.size()) > options_.maxBytes) turnOver();
  size_t written = 0;
  while (written < lines.size()) {
    const ssize_t n = ::write(file_.get(), lines.data() + written, lines.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  bytes_ += static_cast<int64_t>(written);
  if (written < lines.size())
    logger.warn("audit log {}: {}; some requests are missing", options_.path,
                std::error_code(errno, std::generic_category()).message());
}

// PATH becomes PATH.1, PATH.1 becomes PATH.2, …; the last goes.
void AuditLog::turnOver() {
  for (int i = options_.maxFiles; i > 0; --i) {
    const std::string from = i == 1 ? options_.path : fmt::format("{}.{}", options_.path, i - 1);
    (void)!::rename(from.c_str(), fmt::format("{}.{}", options_.path, i).c_str());
  }
  auto fresh = openFile(options_.path);
  if (!fresh) return logger.warn("{}", fresh.error().text());
  file_ = std::move(*fresh);
  bytes_ = 0;
}

}  // namespace mangrove::apiserver::audit
