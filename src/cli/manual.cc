#include "cli/manual.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text/strings.h"

namespace mangrove::cli {
namespace {

constexpr std::string_view kBash =
    R"SH(# bash completion of mangrove: source <(mangrove completion bash)
_mangrove() {
  COMPREPLY=($(compgen -W "$(mangrove complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _mangrove mangrove kubectl-mangrove
)SH";

constexpr std::string_view kZsh = R"SH(#compdef mangrove
# zsh completion of mangrove: source <(mangrove completion zsh)
_mangrove() {
  local -a found
  found=(${(f)"$(mangrove complete -- ${words[2,CURRENT-1]} 2>/dev/null)"})
  (( ${#found} )) && compadd -a found || _files
}
compdef _mangrove mangrove
)SH";

constexpr std::string_view kFish =
    R"(# fish completion of mangrove: mangrove completion fish | source
complete -c mangrove -f -a '(mangrove complete -- (commandline -opc)[2..-1] 2>/dev/null)'
)";

// "  --data-dir=/var/lib/mangrove   where …": two blanks, the flag, perhaps its default, the text.
bool startsFlag(std::string_view line) {
  return line.starts_with("  -") && !line.starts_with("  -h,");
}

// Characters that man's language would take for its own.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// A bar would end the cell of a table.
std::string barless(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

std::vector<std::string> wordsOf(std::string_view command) {
  std::vector<std::string> out;
  for (auto word : split(command, ' ')) out.emplace_back(word);
  return out;
}

}  // namespace

std::vector<HelpFlag> readHelp(std::string_view text) {
  std::vector<HelpFlag> flags;
  for (auto line : split(text, '\n')) {
    if (!startsFlag(line)) {
      // A long flag has its text on the next line.
      if (!flags.empty() && flags.back().about.empty()) flags.back().about = trim(line);
      continue;
    }
    const auto body = line.substr(2);
    const size_t end = std::min(body.find(' '), body.size());
    const auto [name, value, found] = cut(body.substr(0, end), '=');
    flags.push_back({std::string(name), std::string(value), std::string(trim(body.substr(end)))});
  }
  return flags;
}

std::vector<std::string> candidates(std::span<const Command> commands,
                                    const std::vector<std::string>& words,
                                    std::string (*helpOf)(std::string_view command)) {
  std::vector<std::string> out;
  for (const auto& command : commands) {
    if (command.about.empty()) continue;
    const auto own = wordsOf(command.words);
    const size_t common = std::min(own.size(), words.size());
    if (!std::equal(own.begin(), own.begin() + static_cast<long>(common), words.begin())) continue;
    if (own.size() > words.size())
      out.push_back(own[words.size()]);
    else
      for (const auto& flag : readHelp(helpOf(command.words))) out.push_back(flag.name);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string manPage(std::string_view version, const std::vector<ManualEntry>& entries) {
  std::string out = fmt::format(
      ".TH MANGROVE 1 \"\" \"mangrove {}\" \"\"\n.SH NAME\nmangrove \\- services and batch work on "
      "the same machines\n.SH SYNOPSIS\n.B mangrove\n.I COMMAND\n[\\fIFLAGS\\fR]\n.SH COMMANDS\n",
      escaped(version));
  for (const auto& entry : entries) {
    out += fmt::format(".SS {}\n{}\n", escaped("mangrove " + entry.command), escaped(entry.about));
    for (const auto& flag : entry.flags)
      out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(flag.name),
                         flag.defaultValue.empty() ? "" : "=" + escaped(flag.defaultValue),
                         escaped(flag.about));
  }
  return out +
         ".SH EXIT STATUS\n.TP\n0\nfine\n.TP\n1\nit went wrong, or the check found errors\n"
         ".TP\n2\ncalled wrongly\n.PP\n\\fBmangrove run\\fR returns the exit status of its "
         "command (126: not executable, 127: no such command).\n.SH OUTPUT\n\\fB\\-o\\fR table, "
         "json or yaml works for "
         "every command that answers. Colour appears on a terminal only, never as the only sign; "
         "\\fBNO_COLOR\\fR switches it off.\n.SH FILES\n/var/lib/mangrove/kubeconfig: of the "
         "machine under "
         "\\fBmangrove up\\fR, used when nothing else is said.\n.SH SEE ALSO\nkubectl(1)\n";
}

std::string commandReference(const std::vector<ManualEntry>& entries) {
  std::string out =
      "# Commands\n\nWritten by `scripts/reference` from the code; do not edit. The same as `man "
      "mangrove`.\n\nInstalled as `kubectl-mangrove` in the PATH, everything works as `kubectl "
      "mangrove …` too.\n\n| exit code | |\n|---|---|\n| 0 | fine |\n| 1 | it went wrong, or a "
      "check "
      "found errors |\n| 2 | called wrongly |\n\n`mangrove run` returns the exit code of its "
      "command (126: not executable, 127: no such command).\n`-o table|json|yaml` works for every "
      "command that answers. Colour appears on a terminal only, `NO_COLOR` switches it off, and\n"
      "nothing is said by colour alone.\n";
  for (const auto& entry : entries) {
    out += fmt::format("\n## mangrove {}\n\n{}.\n", entry.command, capital(entry.about));
    if (!entry.flags.empty()) out += "\n| flag | default | |\n|---|---|---|\n";
    for (const auto& flag : entry.flags)
      out += fmt::format("| `{}` | {} | {} |\n", flag.name,
                         flag.defaultValue.empty() ? "" : "`" + flag.defaultValue + "`",
                         barless(flag.about));
  }
  return out;
}

std::string_view completionScript(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return "";
}

}  // namespace mangrove::cli
