#include "runtime/cni/install.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/os/files.h"
#include "json/value.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFile = "05-mangrove.conflist";
constexpr std::string_view kMark = "# written by mangrove up";

std::string scriptFor(const std::string& program) {
  return fmt::format("#!/bin/sh\n{}\nexec '{}' cni\n", kMark, program);
}

std::string firstWord(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  if (value && value->is_array() && !value->get_array().empty())
    value = &value->get_array().front();
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

// The first by name counts.
std::vector<std::string> configurationsIn(const std::string& dir) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string extension = entry.path().extension();
    if (extension == ".conf" || extension == ".conflist" || extension == ".json")
      out.push_back(entry.path().filename());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<> writeScript(const std::string& path, const std::string& program) {
  auto there = readFile(path);
  if (there && there->find(kMark) == std::string::npos) return {};  // somebody else's
  return writeFileAtomically(path, scriptFor(program), {.mode = 0755, .sync = false});
}

}  // namespace

CniFolders cniFoldersIn(const cri::Texts& info) {
  CniFolders out{"/opt/cni/bin", "/etc/cni/net.d"};
  const auto found = info.find("config");
  const auto parsed =
      found == info.end() ? Result<json::Value>(json::Value()) : json::parse(found->second);
  if (!parsed || !parsed->is_object()) return out;
  const json::Value* cni = parsed->get_object().if_contains("cni");
  if (!cni || !cni->is_object()) return out;
  for (const char* key : {"binDirs", "binDir"})
    if (auto dir = firstWord(cni->get_object(), key); !dir.empty()) {
      out.programs = dir;
      break;
    }
  if (auto dir = firstWord(cni->get_object(), "confDir"); !dir.empty()) out.configurations = dir;
  return out;
}

Result<bool> installCni(const CniFolders& folders, const CniOptions& options,
                        const std::string& program) {
  const auto present = configurationsIn(folders.configurations);
  if (!present.empty() && present.front() != kFile) return false;
  std::error_code error;
  for (const auto& dir : {folders.programs, folders.configurations}) {
    fs::create_directories(dir, error);
    if (error) return failErrno(error.value(), dir);
  }
  for (std::string_view name : {kCniType, std::string_view("loopback")})
    if (auto ok = writeScript(fmt::format("{}/{}", folders.programs, name), program); !ok)
      return pass(ok.error());
  auto ok = writeFileAtomically(fmt::format("{}/{}", folders.configurations, kFile),
                                cniConfiguration(options), {.mode = 0644, .sync = false});
  if (!ok) return pass(ok.error());
  return true;
}

void removeCni(const CniFolders& folders) {
  std::error_code error;
  fs::remove(fmt::format("{}/{}", folders.configurations, kFile), error);
  for (std::string_view name : {kCniType, std::string_view("loopback")}) {
    const std::string path = fmt::format("{}/{}", folders.programs, name);
    auto text = readFile(path);
    if (text && text->find(kMark) != std::string::npos) fs::remove(path, error);
  }
}

}  // namespace mangrove::runtime
