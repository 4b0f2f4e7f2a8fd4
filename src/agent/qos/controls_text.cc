#include "agent/qos/controls_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/cgroup_layout.h"

namespace mangrove::agent {
namespace {

std::string textAt(const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  if (value == nullptr || value->is_null()) return "";
  return value->is_string() ? std::string(value->get_string()) : json::write(*value);
}

const json::Array& listAt(const json::Value& told, std::string_view key) {
  static const json::Array none;
  const json::Object* top = told.if_object();
  const json::Value* list = top ? top->if_contains(key) : nullptr;
  return list && list->is_array() ? list->get_array() : none;
}

// A directory's name carries the uid, with "_" for "-" under systemd.
bool isAbout(const json::Object& one, std::string uid) {
  std::string where = textAt(one, "cgroup") + textAt(one, "where");
  std::replace(where.begin(), where.end(), '_', '-');
  std::replace(uid.begin(), uid.end(), '_', '-');
  return where.find(uid) != std::string::npos;
}

std::string fileLine(const json::Object& file) {
  const std::string entry = textAt(file, "entry");
  const std::string now = textAt(file, "now"), wanted = textAt(file, "wanted");
  std::string out = fmt::format("    {}{} = {}", textAt(file, "file"),
                                entry.empty() ? "" : "[" + entry + "]", now.empty() ? "?" : now);
  if (now != wanted) out += fmt::format(" (wanted {})", wanted);
  out += fmt::format(", was {}; {} since {}{}\n", textAt(file, "before"), textAt(file, "owner"),
                     textAt(file, "since"), textAt(file, "dryRun") == "true" ? ", dry run" : "");
  out += fmt::format("        {}\n", textAt(file, "why"));
  if (const std::string trouble = textAt(file, "trouble"); !trouble.empty())
    out += fmt::format("        trouble: {}\n", trouble);
  return out;
}

std::string filesText(const json::Value& told) {
  std::string out, last;
  for (const json::Value& one : listAt(told, "files")) {
    const json::Object* file = one.if_object();
    if (file == nullptr) continue;
    if (const std::string cgroup = textAt(*file, "cgroup"); cgroup != last || out.empty()) {
      out += fmt::format("  {}\n", cgroup.empty() ? "(root)" : cgroup);
      last = cgroup;
    }
    out += fileLine(*file);
  }
  return out;
}

std::string deedsText(const json::Value& told) {
  std::string out;
  for (const json::Value& one : listAt(told, "deeds"))
    if (const json::Object* deed = one.if_object())
      out += fmt::format("  {} {}: {}; {}: {}\n", textAt(*deed, "what"), textAt(*deed, "where"),
                         textAt(*deed, "value"), textAt(*deed, "owner"), textAt(*deed, "why"));
  return out;
}

std::string strategiesText(const json::Value& told) {
  std::string out;
  for (const json::Value& one : listAt(told, "strategies")) {
    const json::Object* strategy = one.if_object();
    if (strategy == nullptr) continue;
    const std::string note = textAt(*strategy, "note");
    out += fmt::format("  {:<18} {:<4} {:>4} values{}\n", textAt(*strategy, "name"),
                       textAt(*strategy, "on") == "true" ? "on" : "off",
                       textAt(*strategy, "wishes"), note.empty() ? "" : "  " + note);
  }
  return out;
}

}  // namespace

json::Value controlsOf(const json::Value& told, std::string_view podUid) {
  if (podUid.empty()) return told;
  json::Array files, deeds;
  for (const json::Value& one : listAt(told, "files"))
    if (const json::Object* file = one.if_object(); file && isAbout(*file, std::string(podUid)))
      files.push_back(one);
  for (const json::Value& one : listAt(told, "deeds"))
    if (const json::Object* deed = one.if_object(); deed && isAbout(*deed, std::string(podUid)))
      deeds.push_back(one);
  return json::Object{{"enforcement", textAt(told.get_object(), "enforcement")},
                      {"files", std::move(files)},
                      {"deeds", std::move(deeds)}};
}

std::string controlsText(const json::Value& told, std::string_view podUid) {
  const json::Object* top = told.if_object();
  if (top == nullptr) return "the agent's answer is no object\n";
  const json::Value mine = controlsOf(told, podUid);
  const std::string files = filesText(mine), deeds = deedsText(mine);
  std::string out = fmt::format("Controls (enforcement {}):\n", textAt(*top, "enforcement"));
  out += files.empty() && deeds.empty() ? std::string("  none\n") : files + deeds;
  if (podUid.empty()) out += "Strategies:\n" + strategiesText(told);
  if (const json::Value* nri = top->if_contains("nri"); nri && nri->is_object() && podUid.empty())
    out += fmt::format("Runtime hooks (NRI): {}{}\n",
                       textAt(nri->get_object(), "registered") == "true"
                           ? "registered with " + textAt(nri->get_object(), "runtime")
                           : "not connected",
                       textAt(nri->get_object(), "trouble").empty()
                           ? ""
                           : ", " + textAt(nri->get_object(), "trouble"));
  return out;
}

}  // namespace mangrove::agent
