#include "cli/manual.h"

#include <gtest/gtest.h>

namespace mangrove::cli {
namespace {

constexpr std::string_view kHelp = R"(mangrove check config says what is wrong
Usage: mangrove check config [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --key                       which key a bare JSON file is
  --node-strategy-name-need-check=false
                              node entries must have distinct names
)";

int nothing(const std::vector<std::string>&) {
  return 0;
}
const std::vector<Command> kSome = {{"up", "a machine", &nothing},
                                    {"check config", "lints", &nothing},
                                    {"check node", "looks", &nothing},
                                    {"pod-shim", "", &nothing}};
std::string help(std::string_view command) {
  return command == "check config" ? std::string(kHelp) : "";
}

TEST(ReadHelp, FindsFlagsTheirDefaultsAndTexts) {
  const auto flags = readHelp(kHelp);
  ASSERT_EQ(flags.size(), 2u);
  EXPECT_EQ(flags[0].name, "--key");
  EXPECT_EQ(flags[0].about, "which key a bare JSON file is");
  EXPECT_EQ(flags[1].name, "--node-strategy-name-need-check");
  EXPECT_EQ(flags[1].defaultValue, "false");
  EXPECT_EQ(flags[1].about, "node entries must have distinct names");
}

TEST(Candidates, AreTheNextWordsAndThenTheFlags) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(candidates(kSome, {}, help), (Words{"check", "up"}));
  EXPECT_EQ(candidates(kSome, {"check"}, help), (Words{"config", "node"}));
  EXPECT_EQ(candidates(kSome, {"check", "config"}, help),
            (Words{"--key", "--node-strategy-name-need-check"}));
  EXPECT_EQ(candidates(kSome, {"check", "config", "--key", "x"}, help),
            (Words{"--key", "--node-strategy-name-need-check"}));
  EXPECT_TRUE(candidates(kSome, {"nonsense"}, help).empty());
}

TEST(ManPage, EscapesWhatManWouldTakeForItsOwn) {
  const auto page =
      manPage("0.1.0", {{"up", ".starts with a dot", {{"--data-dir", "/var", "where"}}}});
  EXPECT_NE(page.find("\n\\&.starts with a dot\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-\\-data\\-dir\\fR=/var\nwhere"), std::string::npos) << page;
}

TEST(CompletionScript, IsThereForThreeShells) {
  for (auto shell : {"bash", "zsh", "fish"})
    EXPECT_NE(completionScript(shell).find("mangrove complete"), std::string_view::npos);
  EXPECT_EQ(completionScript("tcsh"), "");
}

}  // namespace
}  // namespace mangrove::cli
