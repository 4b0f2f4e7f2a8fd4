#include "dashboard/hub.h"

#include <algorithm>

#include <fmt/format.h>

#include "dashboard/overview.h"
#include "frame/version.h"

namespace mangrove::dashboard {
namespace {

std::string event(std::string_view name, std::string_view json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

std::string arrayOf(const std::deque<std::string>& parts) {
  return fmt::format("[{}]", fmt::join(parts, ","));
}

// Times as milliseconds, as everywhere on the pages.
std::string decisionJson(const agent::AuditRecord& record) {
  const auto at =
      std::chrono::duration_cast<std::chrono::milliseconds>(record.at.time_since_epoch());
  return json::write(json::Object{{"number", record.number},
                                  {"at", at.count()},
                                  {"owner", record.owner},
                                  {"why", record.why},
                                  {"cgroup", record.cgroup},
                                  {"file", record.file},
                                  {"from", record.from},
                                  {"to", record.to},
                                  {"outcome", record.outcome}});
}

}  // namespace

void Hub::setLiveNode(std::string node) {
  std::lock_guard lock(mutex_);
  liveNode_ = std::move(node);
  send("hello", hello());
}

void Hub::setControls(Teller teller) {
  std::lock_guard lock(mutex_);
  controls_ = std::move(teller);
}

std::optional<std::string> Hub::controls() const {
  std::lock_guard lock(mutex_);
  if (!controls_) return std::nullopt;
  return controls_();
}

void Hub::setAlmanac(Almanac almanac) {
  std::lock_guard lock(mutex_);
  almanac_ = std::move(almanac);
}

// Reads a file, so not under the lock.
Result<std::string> Hub::almanac(std::string_view target) const {
  Almanac asked;
  {
    std::lock_guard lock(mutex_);
    asked = almanac_;
  }
  if (!asked) return fail(Code::kNotFound, "no agent keeps an almanac here");
  return asked(target);
}

void Hub::send(std::string_view name, const std::string& json) {
  const std::string text = event(name, json);
  std::erase_if(readers_, [&](const auto& reader) { return !reader->write(text); });
}

void Hub::look(const agent::Look& look, const agent::AuditLog* audit) {
  std::string tick = json::write(tickOf(look));
  std::lock_guard lock(mutex_);
  live_ = std::make_shared<LiveNode>(liveNodeOf(look, liveNode_));
  send("tick", tick);
  ticks_.push_back(std::move(tick));
  if (ticks_.size() > kTicks) ticks_.pop_front();
  if (audit) takeDecisions(*audit);
}

void Hub::takeDecisions(const agent::AuditLog& audit) {
  auto news = audit.last(0, kDecisions);
  std::erase_if(news, [&](const auto& record) { return record.number <= lastDecision_; });
  for (auto it = news.rbegin(); it != news.rend(); ++it) {
    lastDecision_ = it->number;
    decisions_.push_front(decisionJson(*it));
    send("decision", decisions_.front());
  }
  while (decisions_.size() > kDecisions) decisions_.pop_back();
}

void Hub::nodes(std::string json) {
  std::lock_guard lock(mutex_);
  if (json == nodes_) return;
  nodes_ = std::move(json);
  send("nodes", nodes_);
}

void Hub::moment(std::string json) {
  std::lock_guard lock(mutex_);
  send("moment", json);
  moments_.push_back(std::move(json));
  if (moments_.size() > kMoments) moments_.pop_front();
}

void Hub::join(std::unique_ptr<net::ResponseStream> stream) {
  std::lock_guard lock(mutex_);
  const bool open =
      stream->write(event("hello", hello()) + event("nodes", nodes_) + event("ticks", ticks()) +
                    event("moments", arrayOf(moments_)) + event("decisions", decisions()));
  if (open) readers_.push_back(std::move(stream));
}

std::string Hub::hello() const {
  return json::write(json::Object{
      {"version", frame::version()},
      {"liveNode", liveNode_.empty() ? json::Value(nullptr) : json::Value(liveNode_)}});
}
std::string Hub::nodesNow() const {
  if (liveNode_.empty() || ticks_.empty()) return nodes_;
  auto rows = json::parse(nodes_);
  const auto tick = json::parse(ticks_.back());
  if (!rows || !tick) return nodes_;
  showTick(rows->as_array(), liveNode_, tick->as_object());
  return json::write(*rows);
}
std::string Hub::ticks() const {
  return arrayOf(ticks_);
}
std::string Hub::decisions() const {
  return arrayOf(decisions_);
}

std::string Hub::state() const {
  std::lock_guard lock(mutex_);
  return fmt::format(R"({{"hello":{},"nodes":{},"tick":{},"decisions":{}}})", hello(), nodesNow(),
                     ticks_.empty() ? "null" : ticks_.back(), decisions());
}

std::shared_ptr<const LiveNode> Hub::live() const {
  std::lock_guard lock(mutex_);
  return live_;
}

size_t Hub::readers() const {
  std::lock_guard lock(mutex_);
  return readers_.size();
}

}  // namespace mangrove::dashboard
