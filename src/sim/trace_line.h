#pragma once
// One line of a trace: a keyword, a name, "key=value" words and bare words. Each value is asked for
// by its key; what nobody asked for is a mistake, and so is what cannot be read. The first mistake
// is kept, with its line.
//
//   TraceLine line("day.trace", 7, "service web cpu=4");
//   line.cpu("cpu", service.cpu);  line.end();
//   if (line.trouble()) …                           // day.trace:7: …
//
// Values; one thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "sim/trace.h"

namespace mangrove::sim {

enum class Need : uint8_t { kOptional, kRequired };

class TraceLine {
 public:
  TraceLine(std::string_view file, size_t number, std::string_view text);

  std::string_view keyword() const { return keyword_; }
  // The word after the keyword; a mistake when it is missing or has a '='.
  std::string name();
  std::vector<std::string_view> bare();  // all other words without '='

  void number(std::string_view key, int64_t& out, int64_t least, Need need = Need::kOptional);
  void share(std::string_view key, double& out, double most);
  void cpu(std::string_view key, MilliCpu& out, Need need = Need::kOptional);
  void memory(std::string_view key, Bytes& out, Need need = Need::kOptional);
  void span(std::string_view key, Seconds& out, Seconds least, Need need = Need::kOptional);
  void spans(std::string_view key, std::vector<Seconds>& out);
  void text(std::string_view key, std::string& out, Need need = Need::kOptional);
  void end();  // nothing may be left

  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    if (!trouble_)
      trouble_ = Error(Code::kInvalid, where() + fmt::format(format, std::forward<Args>(args)...));
  }
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  struct Word {
    std::string_view key, value;
    bool asked = false;
  };
  std::string where() const;
  std::optional<std::string_view> find(std::string_view key, Need need);

  std::string_view file_;
  size_t number_;
  std::string_view keyword_;
  std::vector<Word> words_;
  std::vector<std::string_view> bare_, known_;
  std::optional<Error> trouble_;
};

}  // namespace mangrove::sim
