#include "report/batch_ledger.h"

#include <algorithm>

#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "json/value.h"
#include "stakes/stake.h"
#include "victims/cost.h"

namespace mangrove::report {
namespace {

// Longer gaps between two looks are not known to have been worked through.
constexpr double kLongestGap = 600;

double secondsBetween(WallTime from, WallTime to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

std::string keyOf(const api::Pod& pod) {
  return pod.meta.ns.str() + "|" + stakes::jobOf(pod);
}

// Who is thrown out is marked so, or deleted while it runs.
bool isMarkedEvicted(const api::Pod& pod) {
  return api::isTrue(pod.status.conditions, "DisruptionTarget") ||
         pod.status.reason.view() == "Evicted" || pod.status.reason.view() == "Preempting";
}

json::Object toJson(const BatchAccount& one) {
  return {{"tenant", one.tenant},
          {"job", one.job},
          {"kind", one.kind},
          {"pods", one.pods},
          {"finished", one.finished},
          {"failed", one.failed},
          {"evicted", one.evicted},
          {"soldSeconds", one.soldSeconds},
          {"usedSeconds", one.usedSeconds},
          {"lostSeconds", one.lostSeconds},
          {"finishedSeconds", one.finishedSeconds},
          {"waitedSeconds", one.waitedSeconds}};
}

double number(const json::Object& from, std::string_view name) {
  const json::Value* value = from.if_contains(name);
  return value && value->is_number() ? value->to_number<double>() : 0;
}
std::string text(const json::Object& from, std::string_view name) {
  const json::Value* value = from.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}
WallTime timeOf(const json::Object& from, std::string_view name) {
  return parseTime(text(from, name)).value_or(kZeroTime);
}

BatchAccount accountFrom(const json::Object& from) {
  const auto count = [&](std::string_view name) {
    return static_cast<int64_t>(number(from, name));
  };
  return {text(from, "tenant"),
          text(from, "job"),
          text(from, "kind"),
          count("pods"),
          count("finished"),
          count("failed"),
          count("evicted"),
          number(from, "soldSeconds"),
          number(from, "usedSeconds"),
          number(from, "lostSeconds"),
          number(from, "finishedSeconds"),
          number(from, "waitedSeconds")};
}

}  // namespace

void BatchLedger::open(const api::Pod& pod) {
  const std::string key = keyOf(pod);
  BatchAccount& account = accounts_[key];
  account.tenant = pod.meta.ns.str();
  account.job = stakes::jobOf(pod);
  account.kind = stakes::kindOf(pod);
  account.pods++;
  Life& life = lives_[pod.meta.uid.str()];
  life.account = key;
  life.created = life.seen = pod.meta.creationTimestamp;
}

void BatchLedger::advance(Life& life, const api::Pod& pod, double cores, WallTime now) {
  const auto progress = stakes::progressOf(pod);
  life.cores = progress.cores;
  BatchAccount& account = accounts_[life.account];
  const bool starts = life.started == kZeroTime && pod.status.startTime != kZeroTime;
  if (starts) {
    life.started = pod.status.startTime;
    life.seen = std::max(life.seen, life.started);
    account.waitedSeconds += secondsBetween(life.created, life.started);
  }
  if (pod.status.phase != api::PodPhase::kRunning) return;
  const double gap = std::min(secondsBetween(life.seen, now), kLongestGap);
  life.soldSeconds += life.cores * gap;
  life.usedSeconds += cores * gap;
  account.soldSeconds += life.cores * gap;
  account.usedSeconds += cores * gap;
  life.seen = now;
  victims::Candidate one = stakes::candidateOf(pod, {.measuredCpuSeconds = life.usedSeconds});
  life.lost = victims::costs(std::span(&one, 1), now).front().lost;
}

void BatchLedger::end(Life& life, const api::Pod& pod, bool evicted) {
  if (life.ended) return;
  const bool succeeded = pod.status.phase == api::PodPhase::kSucceeded;
  if (!succeeded && !evicted && pod.status.phase != api::PodPhase::kFailed) return;
  life.ended = true;
  BatchAccount& account = accounts_[life.account];
  if (succeeded) {
    account.finished++;
    account.finishedSeconds += life.soldSeconds;
  } else if (evicted) {
    account.evicted++;
    account.lostSeconds += life.lost;
  } else {
    account.failed++;
  }
}

void BatchLedger::vanish(Life& life, bool evicted) {
  if (life.ended || !evicted) return;
  accounts_[life.account].evicted++;
  accounts_[life.account].lostSeconds += life.lost;
}

void BatchLedger::look(std::span<const api::Pod* const> pods, const Usage& usage,
                       const Uids& evicted, WallTime now) {
  if (since_ == kZeroTime) since_ = now;
  until_ = now;
  Uids there;
  for (const api::Pod* one : pods) {
    const api::Pod& pod = *one;
    const std::string uid = pod.meta.uid.str();
    there.insert(uid);
    if (!lives_.contains(uid)) open(pod);
    Life& life = lives_.find(uid)->second;
    const auto used = usage.find(api::keyOf(pod.meta).text());
    if (!life.ended) advance(life, pod, used == usage.end() ? 0 : used->second, now);
    end(life, pod, evicted.contains(uid) || isMarkedEvicted(pod));
  }
  for (auto& [uid, life] : lives_)
    if (!there.contains(uid)) vanish(life, evicted.contains(uid));
  std::erase_if(lives_, [&](const auto& one) { return !there.contains(one.first); });
}

std::vector<BatchAccount> BatchLedger::accounts() const {
  std::vector<BatchAccount> out;
  for (const auto& [key, account] : accounts_) out.push_back(account);
  std::stable_sort(out.begin(), out.end(), [](const BatchAccount& a, const BatchAccount& b) {
    return a.tenant != b.tenant ? a.tenant < b.tenant : a.soldSeconds > b.soldSeconds;
  });
  return out;
}

json::Value BatchLedger::state() const {
  json::Array accounts;
  json::Object lives;
  for (const auto& [key, account] : accounts_) accounts.push_back(toJson(account));
  for (const auto& [uid, life] : lives_)
    lives[uid] = json::Object{{"account", life.account},
                              {"created", formatMicroTime(life.created)},
                              {"started", formatMicroTime(life.started)},
                              {"seen", formatMicroTime(life.seen)},
                              {"soldSeconds", life.soldSeconds},
                              {"usedSeconds", life.usedSeconds},
                              {"lost", life.lost},
                              {"ended", life.ended}};
  return json::Object{{"since", formatMicroTime(since_)},
                      {"until", formatMicroTime(until_)},
                      {"accounts", accounts},
                      {"lives", lives}};
}

Result<> BatchLedger::restore(const json::Value& state) {
  const json::Object* object = state.if_object();
  const json::Value* accounts = object ? object->if_contains("accounts") : nullptr;
  const json::Value* lives = object ? object->if_contains("lives") : nullptr;
  if (!accounts || !accounts->is_array() || !lives || !lives->is_object())
    return invalid("no ledger: want an object with accounts and lives");
  since_ = timeOf(*object, "since");
  until_ = timeOf(*object, "until");
  for (const json::Value& one : accounts->get_array())
    if (const json::Object* from = one.if_object()) {
      const BatchAccount account = accountFrom(*from);
      accounts_[account.tenant + "|" + account.job] = account;
    }
  for (const auto& member : lives->get_object())
    if (const json::Object* from = member.value().if_object()) {
      const json::Value* ended = from->if_contains("ended");
      lives_[std::string(member.key())] = {text(*from, "account"),
                                           0,
                                           timeOf(*from, "created"),
                                           timeOf(*from, "started"),
                                           timeOf(*from, "seen"),
                                           number(*from, "soldSeconds"),
                                           number(*from, "usedSeconds"),
                                           number(*from, "lost"),
                                           ended && ended->is_bool() && ended->get_bool()};
    }
  return {};
}

}  // namespace mangrove::report
