#include "agent/qos/enforcer.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "agent/gates.h"
#include "base/os/files.h"
#include "base/os/log.h"
#include "base/text/time_text.h"

namespace mangrove::agent {
namespace {

const Logger log("enforcer");

bool isHook(const StrategyInfo& info) {
  return std::any_of(hookGates().begin(), hookGates().end(),
                     [&](const GateInfo& gate) { return gate.name == info.gate; });
}

}  // namespace

Enforcer::Enforcer(EnforcerSetup setup, EnforcerOptions options,
                   std::vector<std::unique_ptr<Strategy>> strategies)
    : setup_(std::move(setup)),
      options_(std::move(options)),
      executor_(setup_.machine, setup_.clock, setup_.audit),
      deeds_(setup_.machine, setup_.clock, setup_.audit, setup_.tools),
      picture_(setup_.machine, options_.diskPath) {
  for (auto& one : strategies) {
    const StrategyInfo info = one->info();
    entries_.push_back({std::move(one), info, {}, MonoTime::min(), false});
  }
  for (const std::string& said : options_.dryStrategies) {
    const std::string_view name = std::string_view(said).substr(0, said.find(':'));
    if (std::none_of(entries_.begin(), entries_.end(),
                     [&](const Entry& one) { return one.info.name == name; }))
      log.warn("dry run of '{}': there is no such strategy, nothing of it is dry", said);
  }
  executor_.onWrite(setup_.wrote);
  load();
}

bool Enforcer::isDry(const Entry& entry) const {
  return options_.dryRun || options_.dryStrategies.count(entry.info.name) != 0;
}

// "cpu-suppress:cpuset.cpus" is one file of a strategy.
bool Enforcer::isDry(const Entry& entry, std::string_view file) const {
  return isDry(entry) ||
         (!options_.dryStrategies.empty() &&
          options_.dryStrategies.count(fmt::format("{}:{}", entry.info.name, file)));
}

void Enforcer::ask(Entry& entry, const Situation& now, bool between) {
  if (!entry.info.gate.empty() && !setup_.gates.on(entry.info.gate)) {
    entry.last = {};
    entry.decided = true;
    return;
  }
  if (!between && now.look.at < entry.next) return;
  if (!between) entry.next = now.look.at + entry.info.period;
  Wishes wishes = entry.strategy->decide(now);
  if (wishes.hold) {
    entry.last.note = std::move(wishes.note);
    return;
  }
  entry.last = std::move(wishes);
  entry.decided = true;
  evict(entry, now.look.at);
}

void Enforcer::evict(Entry& entry, MonoTime at) {
  if (isDry(entry)) saidDry_.forget(at);
  for (const Ousting& one : entry.last.evictions) {
    if (!isDry(entry)) {
      if (setup_.evict && setup_.evict(one)) entry.strategy->sent(one, at);
      continue;
    }
    if (saidDry_.has(one.pod->meta.uid.str())) continue;
    saidDry_.add(one.pod->meta.uid.str(), at);
    setup_.audit.add({.at = setup_.clock.wall(),
                      .owner = std::string(one.feature),
                      .why = one.why,
                      .cgroup = one.pod->meta.ns.str() + "/" + one.pod->meta.name.str(),
                      .file = "eviction",
                      .from = "",
                      .to = std::to_string(one.expected),
                      .outcome = "dry-run"});
  }
}

bool isSwitchedOff(const api::Node* node) {
  return node && node->meta.labels.get(kEnforcementLabel) == "off";
}

bool Enforcer::inTrouble() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.last.trouble; });
}

bool Enforcer::isBlind() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.last.blind; });
}

// What a predecessor held for a strategy that is not asked stays as it is.
void Enforcer::askAll(const Situation& now, bool knowsPods) {
  for (Entry& entry : entries_) {
    if (knowsPods || entry.info.ofTheGroup)
      ask(entry, now);
    else
      entry.last.note = "the pods are not known yet";
  }
}

ApplyReport Enforcer::tick(const Look& look, const api::Node* node,
                           const api::NodeResourceTopology* topology, bool knowsPods) {
  const bool off = isSwitchedOff(node);
  if (off != off_) log.warn("enforcement is switched {} by the node's label", off ? "off" : "on");
  off_ = off;
  if (off_) {
    for (Entry& entry : entries_) entry.last = {};
    return leave("enforcement is switched off");
  }
  picture_.renew();
  const Situation now{look, node, topology ? &topology->meta.annotations : nullptr, picture_,
                      setup_.gates};
  askAll(now, knowsPods);
  return apply();
}

ApplyReport Enforcer::podBegan(const Look& look, const api::Node* node,
                               const api::NodeResourceTopology* topology) {
  if (off_ || isSwitchedOff(node)) return {};
  picture_.renew();
  const Situation now{look, node, topology ? &topology->meta.annotations : nullptr, picture_,
                      setup_.gates};
  for (Entry& entry : entries_)
    if (isHook(entry.info)) ask(entry, now, true);
  return apply();
}

ApplyReport Enforcer::apply() {
  std::vector<OwnedWish> wishes;
  std::vector<OwnedDeeds> deeds;
  std::vector<std::string_view> undecided;
  for (const Entry& entry : entries_) {
    if (!entry.decided) undecided.push_back(entry.info.name);
    deeds.push_back({entry.info.name, &entry.last, isDry(entry)});
    for (const Wish& wish : entry.last.values)
      wishes.push_back({entry.info.name, &wish, isDry(entry, wish.resource), entry.info.files});
  }
  ApplyReport done;
  deeds_.apply(deeds, done);  // first: groups bring files
  ApplyReport report = executor_.apply(wishes, undecided);
  report.written += done.written;
  report.failed += done.failed;
  report.dryRun += done.dryRun;
  picture_.renew();  // what was read before is not what the machine has now
  save();
  return report;
}

ApplyReport Enforcer::repair(std::span<const FileKey> written) {
  if (off_ || written.empty()) return {};
  const ApplyReport report = executor_.repair(written);
  if (report.written > 0) picture_.renew();
  return report;
}

ApplyReport Enforcer::leave(std::string_view why) {
  ApplyReport report = executor_.restoreAll(why);
  deeds_.undoAll(why, report);
  save();
  return report;
}

void Enforcer::load() {
  if (options_.stateFile.empty()) return;
  auto text = readFile(options_.stateFile);
  auto state = text ? json::parse(*text) : Result<json::Value>(pass(text.error()));
  if (!state || !state->is_object()) return;
  const json::Object& top = state->get_object();
  const json::Value* boot = top.if_contains("boot");
  // After a reboot nothing of it is there any more.
  if (!boot || *boot != json::Value(setup_.machine.bootId())) return;
  executor_.load(*state);
  if (const json::Value* deeds = top.if_contains("deeds")) deeds_.load(*deeds);
  const json::Value* states = top.if_contains("strategies");
  for (Entry& entry : entries_)
    if (states && states->is_object())
      if (const json::Value* one = states->get_object().if_contains(entry.info.name))
        entry.strategy->restore(*one);
  saved_ = *text;
}

void Enforcer::save() {
  if (options_.stateFile.empty() || options_.dryRun) return;
  json::Value state = executor_.state();
  json::Object& top = state.get_object();
  top["boot"] = setup_.machine.bootId();
  top["deeds"] = deeds_.state();
  json::Object& strategies = top["strategies"].emplace_object();
  for (const Entry& entry : entries_)
    if (json::Value one = entry.strategy->state(); !one.is_null())
      strategies[entry.info.name] = std::move(one);
  std::string text = json::write(state);
  if (text == saved_) return;
  if (auto ok = keep(text); !ok) {
    if (ok.error().text() != saveTrouble_)  // once, not at every tick
      log.warn("what files had before is not kept: {}", ok.error().text());
    saveTrouble_ = ok.error().text();
    return;
  }
  saveTrouble_.clear();
  saved_ = std::move(text);
}

Result<> Enforcer::keep(const std::string& text) const {
  const auto folder = std::filesystem::path(options_.stateFile).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::kIo, "make the folder {}: {}", folder.string(), error.message());
  // Of no use after a reboot, and a killed process loses nothing it has written: no waiting for
  // disks.
  return writeFileAtomically(options_.stateFile, text, {.sync = false});
}

json::Value Enforcer::explain() const {
  json::Array files;
  for (const auto& [key, held] : executor_.held()) {
    const FileRule& rule = *ruleOf(key.resource);
    const auto now = executor_.present(key);
    files.push_back(json::Object{
        {"cgroup", key.cgroup},
        {"file", key.resource},
        {"entry", key.entry},
        {"now", now ? json::Value(showValue(rule, *now)) : json::Value()},
        {"wanted", showValue(rule, held.wanted)},
        {"owner", held.owner},
        {"why", held.why},
        {"since", formatMicroTime(held.since)},
        {"before", held.before ? json::Value(showValue(rule, *held.before)) : json::Value()},
        {"dryRun", held.dryRun},
        {"wouldBe", held.wouldBe},
        {"conflicts", held.conflicts},
        {"trouble", held.trouble}});
  }
  json::Array strategies;
  for (const Entry& entry : entries_)
    strategies.push_back(
        json::Object{{"name", entry.info.name},
                     {"gate", entry.info.gate},
                     {"on", entry.info.gate.empty() || setup_.gates.on(entry.info.gate)},
                     {"dryRun", isDry(entry)},
                     {"wishes", entry.last.values.size()},
                     {"note", entry.last.note}});
  return json::Object{{"enforcement", off_ ? "off" : "on"},
                      {"strategies", std::move(strategies)},
                      {"deeds", deeds_.explain()},
                      {"files", std::move(files)}};
}

}  // namespace mangrove::agent
