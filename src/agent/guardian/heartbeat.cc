#include "agent/guardian/heartbeat.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

// One write of always the same length: a reader sees the old or the new one.
constexpr size_t kLength = 512;
constexpr std::string_view kNothing = "-";

}  // namespace

std::string formatHeartbeat(const Heartbeat& beat) {
  std::string text = fmt::format(
      "{} {} {} v{} {} {} {} {}", beat.bye ? "bye" : "beat", beat.at.time_since_epoch().count(),
      beat.safe == kUnlimited ? -1 : beat.safe, static_cast<int>(beat.version),
      beat.quotaFile.empty() ? kNothing : std::string_view(beat.quotaFile),
      beat.memory == kUnlimited ? -1 : beat.memory,
      beat.memoryBefore == kUnlimited ? -1 : beat.memoryBefore,
      beat.memoryFile.empty() ? kNothing : std::string_view(beat.memoryFile));
  text.resize(std::max(text.size() + 1, kLength), ' ');
  text.back() = '\n';
  return text;
}

Result<Heartbeat> parseHeartbeat(std::string_view text) {
  const auto words = splitTrimmed(trim(text), ' ');
  if ((words.size() != 5 && words.size() != 8) || (words[0] != "beat" && words[0] != "bye"))
    return invalid("heartbeat '{}': want 'beat TIME QUOTA VERSION FILE MEMORY BEFORE FILE'",
                   trim(text));
  const auto at = parseInt<int64_t>(words[1]);
  const auto safe = parseInt<int64_t>(words[2]);
  if (!at || !safe || (words[3] != "v1" && words[3] != "v2"))
    return invalid("heartbeat '{}': want a time, a quota and v1 or v2", trim(text));
  Heartbeat beat;
  beat.bye = words[0] == "bye";
  beat.at = MonoTime(Duration(*at));
  beat.safe = *safe < 0 ? kUnlimited : *safe;
  beat.version = words[3] == "v1" ? kernel::CgroupVersion::kV1 : kernel::CgroupVersion::kV2;
  if (words[4] != kNothing) beat.quotaFile = words[4];
  if (words.size() == 5) return beat;  // of an agent that did not guard memory yet
  const auto memory = parseInt<int64_t>(words[5]), before = parseInt<int64_t>(words[6]);
  if (!memory || !before) return invalid("heartbeat '{}': want bytes of memory", trim(text));
  beat.memory = *memory < 0 ? kUnlimited : *memory;
  beat.memoryBefore = *before < 0 ? kUnlimited : *before;
  if (words[7] != kNothing) beat.memoryFile = words[7];
  return beat;
}

Result<Heartbeat> readHeartbeat(const std::string& path) {
  auto text = readFile(path);
  if (!text) return pass(text.error());
  return parseHeartbeat(*text);
}

bool mustGuard(const Heartbeat& last, MonoTime now, bool closed, Duration patience) {
  if (last.bye || last.quotaFile.empty() || last.safe == kUnlimited) return false;
  return closed || now - last.at > patience;
}

Result<> HeartbeatFile::beat(const Heartbeat& beat) {
  if (!fd_) {
    std::error_code ignored;
    const auto folder = std::filesystem::path(path_).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!fd_) return failErrno(errno, "open " + path_);
  }
  const std::string text = formatHeartbeat(beat);
  if (::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return failErrno(errno, "write " + path_);
  return {};
}

Result<> HeartbeatFile::bye() {
  Heartbeat last;
  last.bye = true;
  return beat(last);
}

}  // namespace mangrove::agent
