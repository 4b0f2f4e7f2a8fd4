#include "cli/dispatch.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::cli {
namespace {

using Args = std::vector<std::string>;

TEST(Commands, TheLongestWordsAreMeant) {
  const struct {
    Args args;
    const char* meant;  // null: none
  } kRows[] = {
      {{"agent"}, "agent"},
      {{"agent", "--help"}, "agent"},
      {{"agent", "guardian", "--pipe", "3"}, "agent guardian"},
      {{"explain", "-f", "x.yaml"}, "explain"},
      {{"explain", "node", "n1"}, "explain node"},
      {{"check", "pods"}, nullptr},
      {{"check"}, nullptr},
      {{"agents"}, nullptr},
      {{}, nullptr},
  };
  for (const auto& row : kRows) {
    const Command* found = commandOf(allCommands(), row.args);
    const std::string meant = found ? std::string(found->words) : "none";
    EXPECT_EQ(meant, row.meant ? row.meant : "none");
  }
}

TEST(Commands, AreListedOnce) {
  std::set<std::string_view> words;
  for (const auto& command : allCommands()) {
    EXPECT_TRUE(words.insert(command.words).second) << command.words;
    EXPECT_NE(command.run, nullptr) << command.words;
  }
}

TEST(Commands, SayWhatCouldHaveBeenMeant) {
  const auto said = [](Args args) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(dispatch(std::move(args)), kWrongUsage);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said({"mangaer"}), ::testing::HasSubstr("did you mean 'manager'"));
  EXPECT_THAT(said({"check", "nodes"}), ::testing::HasSubstr("there is no 'nodes'"));
  EXPECT_THAT(said({}), ::testing::HasSubstr("usage: mangrove COMMAND"));
}

}  // namespace
}  // namespace mangrove::cli
