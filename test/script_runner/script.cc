#include "script_runner/script.h"

#include "base/text/strings.h"

namespace mangrove::scripts {

namespace {

constexpr std::string_view kRule = "----";

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(split(text, '\n')) {
    if (!lines_.empty() && lines_.back().empty()) lines_.pop_back();  // the final newline
  }

  Result<std::vector<Step>> run() {
    std::vector<Step> steps;
    while (next_ < lines_.size()) {
      Step step;
      if (auto done = commands(step); !done) return pass(done.error());
      if (auto done = reaction(step); !done) return pass(done.error());
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  bool at(std::string_view line) const { return next_ < lines_.size() && lines_[next_] == line; }

  Result<> commands(Step& step) {
    for (; next_ < lines_.size() && !at(kRule); ++next_) {
      std::string_view line = lines_[next_];
      const bool silent = trim(line).empty() || trim(line).starts_with('#');
      if (silent && step.commands.empty()) {
        step.before.emplace_back(line);
        continue;
      }
      if (step.commands.empty()) step.line = static_cast<int>(next_) + 1;
      step.lines.emplace_back(line);
      if (!silent) step.commands.emplace_back(line);
    }
    if (next_ == lines_.size() && !step.commands.empty()) {
      return invalid("line {}: commands without the rule '----' and a reaction", step.line);
    }
    return {};
  }

  Result<> reaction(Step& step) {
    if (next_ == lines_.size()) return {};  // only comments were left
    ++next_;
    const bool framed = at(kRule);
    if (framed) ++next_;
    while (next_ < lines_.size()) {
      if (framed && at(kRule)) return closeFrame();
      if (!framed && lines_[next_].empty()) break;
      step.expected += std::string(lines_[next_++]) + "\n";
    }
    if (framed)
      return invalid("line {}: the reaction's second pair of rules is missing", step.line);
    return {};
  }

  Result<> closeFrame() {
    ++next_;
    if (!at(kRule)) return invalid("line {}: want a second '----'", next_ + 1);
    ++next_;
    return {};
  }

  std::vector<std::string_view> lines_;
  size_t next_ = 0;
};

void append(std::string& out, const std::vector<std::string>& lines) {
  for (const auto& line : lines) out += line + "\n";
}

bool hasBlankLine(std::string_view text) {
  return text.starts_with('\n') || text.find("\n\n") != std::string_view::npos;
}

}  // namespace

Result<std::vector<Step>> parseScript(std::string_view text) {
  return Parser(text).run();
}

std::string writeScript(const std::vector<Step>& steps, const std::vector<std::string>& outputs) {
  std::string out;
  for (size_t i = 0; i < steps.size(); ++i) {
    append(out, steps[i].before);
    if (steps[i].commands.empty()) continue;
    append(out, steps[i].lines);
    const bool framed = hasBlankLine(outputs[i]);
    out += framed ? "----\n----\n" : "----\n";
    out += outputs[i];
    if (framed) out += "----\n----\n";
  }
  return out;
}

}  // namespace mangrove::scripts
