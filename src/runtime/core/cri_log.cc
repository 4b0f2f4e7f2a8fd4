#include "runtime/core/cri_log.h"

#include <fmt/core.h>

#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::runtime {

std::string logTime(WallTime time) {
  std::string text = formatMicroTime(time);
  text.insert(text.size() - 1, "000");
  return text;
}

std::string formatLogLine(std::string_view timeText, bool isErr, bool partial,
                          std::string_view text) {
  return fmt::format("{} {} {} {}\n", timeText, isErr ? "stderr" : "stdout", partial ? 'P' : 'F',
                     text);
}

std::optional<LogLine> parseLogLine(std::string_view line) {
  const auto time = cut(line, ' ');
  const auto stream = cut(time.after, ' ');
  const auto tag = cut(stream.after, ' ');
  if (!time.found || !stream.found || !tag.found) return std::nullopt;
  if (stream.before != "stdout" && stream.before != "stderr") return std::nullopt;
  if (tag.before != "F" && tag.before != "P") return std::nullopt;
  auto when = parseTime(time.before);
  if (!when) return std::nullopt;
  return LogLine{*when, time.before, stream.before == "stderr", tag.before == "P", tag.after};
}

std::string logTail(std::string_view log, size_t lines, size_t bytes) {
  std::vector<std::string_view> all = split(log, '\n');
  if (!all.empty() && all.back().empty()) all.pop_back();
  std::string out;
  for (size_t i = all.size() > lines ? all.size() - lines : 0; i < all.size(); ++i) {
    auto line = parseLogLine(all[i]);
    if (!line) continue;
    out += line->text;
    if (!line->partial) out += '\n';
  }
  if (out.size() > bytes) out.erase(0, out.size() - bytes);
  return out;
}

}  // namespace mangrove::runtime
