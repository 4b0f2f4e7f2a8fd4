// mangrove sim replay: a recorded role lives through its recording again and must decide the same.
#include <fmt/core.h>

#include "base/os/log.h"
#include "base/text/time_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "descheduler/role.h"
#include "frame/flags.h"
#include "frame/record/entry_file.h"
#include "frame/record/ring_file.h"
#include "frame/record/role_subject.h"
#include "manager/role.h"
#include "scheduler/role.h"
#include "up/mate_subject.h"

namespace mangrove::cli {
namespace {

using frame::record::Entry;
using frame::record::Mark;
using frame::record::ReplayHouse;
using frame::record::ReplayResult;
using frame::record::Session;
using frame::record::Subject;

Result<std::unique_ptr<Subject>> subjectOf(const Session& session, ReplayHouse& house) {
  if (session.role.starts_with("up/")) return up::mateSubject(session, house);
  std::unique_ptr<frame::Role> role;
  if (session.role == "scheduler") role = std::make_unique<scheduler::SchedulerRole>();
  if (session.role == "manager") role = std::make_unique<manager::ManagerRole>();
  if (session.role == "descheduler") role = std::make_unique<descheduler::DeschedulerRole>();
  if (!role)
    return invalid("the recording is of '{}': want scheduler, manager, descheduler or a role of up",
                   session.role);
  return frame::record::roleSubject(std::move(role), session, house);
}

// What `up` records has a ring for each role behind the name that it was given.
std::vector<std::string> ringsOf(const std::string& name) {
  if (!frame::record::ringParts(name).empty()) return {name};
  std::vector<std::string> out;
  for (const char* role : {"koord-manager", "koord-scheduler", "koord-descheduler"})
    if (!frame::record::ringParts(name + "." + role).empty()) out.push_back(name + "." + role);
  return out.empty() ? std::vector<std::string>{name} : out;
}

json::Value toJson(const std::string& name, const ReplayResult& result) {
  json::Array roles, notes;
  for (const auto& role : result.roles) roles.emplace_back(role);
  for (const auto& note : result.notes) notes.emplace_back(note);
  json::Object out{{"recording", name},
                   {"roles", std::move(roles)},
                   {"sessions", result.sessions},
                   {"turns", result.turns},
                   {"decisions", result.decisions},
                   {"bytes", result.bytes},
                   {"identical", !result.difference},
                   {"notes", std::move(notes)}};
  if (const auto& found = result.difference)
    out["difference"] = json::Object{{"session", found->session}, {"turn", found->turn},
                                     {"cause", found->cause},     {"recorded", found->recorded},
                                     {"now", found->replayed},    {"where", found->where}};
  return out;
}

std::string toText(const std::string& name, const ReplayResult& result) {
  std::string out = fmt::format("{}: {} sessions, {} turns, {} decisions: ", name, result.sessions,
                                result.turns, result.decisions);
  out += result.difference ? "not the same\n" + result.difference->text() : "identical\n";
  for (const auto& note : result.notes) out += "  " + note + "\n";
  return out;
}

std::string_view wordOf(Mark mark) {
  switch (mark) {
    case Mark::kSession:
      return "session";
    case Mark::kStart:
      return "start";
    case Mark::kTimer:
      return "timer";
    case Mark::kReply:
      return "answer to";
    case Mark::kOpen:
      return "opening of";
    case Mark::kEvents:
      return "events of";
    case Mark::kEnd:
      return "end of";
    case Mark::kStop:
      return "stop";
    case Mark::kRequest:
      return "  request";
    case Mark::kWatch:
      return "  watch";
  }
  return "?";
}

std::string bodyOf(const Entry& entry) {
  if (entry.mark == Mark::kReply) {
    const auto reply = frame::record::replyFrom(entry.body);
    return reply ? fmt::format("{} {}", reply->status, reply->body) : reply.error().text();
  }
  if (entry.mark != Mark::kEnd) return entry.body;
  const auto end = frame::record::outcomeFrom(entry.body);
  return end ? "" : end.error().text();
}

Result<> print(const std::string& ring) {
  for (const auto& part : frame::record::ringParts(ring)) {
    const auto file = frame::record::EntryFile::open(part.file);
    if (!file) return pass(file.error());
    while (const auto entry = (*file)->next())
      fmt::print("{} {} {} {}\n", formatTime(entry->at.wall), wordOf(entry->mark), entry->id,
                 bodyOf(*entry));
  }
  return {};
}

}  // namespace

int simReplay(const std::vector<std::string>& args) {
  std::vector<std::string> names;
  bool prints = false;
  Output output;
  frame::Flags flags("mangrove sim replay",
                     "lives through what --record wrote, with this program's own decisions, and "
                     "names the first that differs");
  flags.positionals("FILE", names, "as --record was given");
  flags.add("print", prints, "show what is in it instead: requests stand below what led to them");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  if (names.size() != 1)
    return complain(flags, Error(Code::kInvalid, "want one FILE"), kWrongUsage);
  if (prints) {
    for (const std::string& ring : ringsOf(names.front()))
      if (auto ok = print(ring); !ok) return complain(flags, ok.error());
    return 0;
  }
  configureLog({.level = LogLevel::kError, .components = {}, .json = false});  // it said it then
  bool same = true;
  json::Array all;
  std::string text;
  for (const std::string& name : ringsOf(names.front())) {
    auto result = frame::record::replay(name, subjectOf);
    if (!result) return complain(flags, result.error());
    same = same && !result->difference && result->sessions > 0;
    all.push_back(toJson(name, *result));
    text += toText(name, *result);
  }
  output.show(json::write(all), text);
  return same ? 0 : 1;
}

}  // namespace mangrove::cli
