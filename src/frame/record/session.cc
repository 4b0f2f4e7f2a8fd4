#include "frame/record/session.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/os/files.h"
#include "frame/version.h"

namespace mangrove::frame::record {
namespace {

constexpr std::array<std::string_view, 2> kFileFlags = {"--config", "--scheduler-config"};

// Where in the arguments a file is named: the index and where its path begins; npos: nowhere.
size_t pathIn(const std::vector<std::string>& args, size_t i) {
  for (std::string_view flag : kFileFlags) {
    if (args[i].starts_with(std::string(flag) + "=")) return flag.size() + 1;
    if (i > 0 && args[i - 1] == flag) return 0;
  }
  return std::string::npos;
}

std::string textAt(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace

json::Value toJson(const Session& session) {
  json::Array args;
  for (const auto& arg : session.args) args.emplace_back(arg);
  json::Object files;
  for (const auto& [path, text] : session.files) files[path] = text;
  return json::Object{{"role", session.role},         {"version", session.version},
                      {"identity", session.identity}, {"args", std::move(args)},
                      {"files", std::move(files)},    {"part", session.part}};
}

Result<Session> sessionFrom(std::string_view text) {
  auto value = json::parse(text);
  if (!value) return value.error().in("the head of a recording");
  if (!value->is_object() || textAt(value->get_object(), "role").empty())
    return invalid("the head of a recording names no role");
  const json::Object& object = value->get_object();
  Session out;
  out.role = textAt(object, "role");
  out.version = textAt(object, "version");
  out.identity = textAt(object, "identity");
  if (const auto* args = object.if_contains("args"); args && args->is_array())
    for (const auto& arg : args->get_array())
      if (arg.is_string()) out.args.emplace_back(arg.get_string());
  if (const auto* files = object.if_contains("files"); files && files->is_object())
    for (const auto& file : files->get_object())
      if (file.value().is_string())
        out.files.emplace(file.key(), std::string(file.value().get_string()));
  if (const auto* part = object.if_contains("part"))
    out.part = part->is_int64()    ? static_cast<uint64_t>(part->get_int64())
               : part->is_uint64() ? part->get_uint64()
                                   : 1;
  return out;
}

Session sessionOf(std::string_view role, const std::vector<std::string>& args) {
  Session out;
  out.role = role;
  out.version = version();
  out.args = args;
  for (size_t i = 0; i < args.size(); i++) {
    const size_t at = pathIn(args, i);
    if (at == std::string::npos) continue;
    const std::string path = args[i].substr(at);
    if (auto text = readFile(path)) out.files.emplace(path, std::move(*text));
  }
  return out;
}

Result<std::vector<std::string>> argsIn(const Session& session, const std::string& folder) {
  std::vector<std::string> out = session.args;
  size_t written = 0;
  for (size_t i = 0; i < out.size(); i++) {
    const size_t at = pathIn(session.args, i);
    if (at == std::string::npos) continue;
    const auto file = session.files.find(out[i].substr(at));
    if (file == session.files.end()) continue;
    const std::string copy = fmt::format("{}/{}.yaml", folder, ++written);
    if (auto ok = writeFileAtomically(copy, file->second, {.sync = false}); !ok)
      return pass(ok.error());
    out[i] = out[i].substr(0, at) + copy;
  }
  return out;
}

}  // namespace mangrove::frame::record
