#include "cli/voice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/yaml.h"

namespace mangrove::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Told some() {
  return {.answer = "node n1 sells nothing",
          .good = false,
          .terms = "  − margin  1\n",
          .todo = {"wait"},
          .data = {{"node", "n1"}}};
}

TEST(Voice, AnswerThenTermsThenWhatToDo) {
  EXPECT_EQ(toldText(some(), false),
            "node n1 sells nothing\n\n  − margin  1\n\nwhat to do\n  - wait\n");
  Told short_ = some();
  short_.terms = short_.answer = "fine";
  short_.todo.clear();
  EXPECT_THAT(toldText(short_, false), Not(HasSubstr("what to do")));
}

// Without colour the same words.
TEST(Voice, ColourAddsNothingButColour) {
  std::string text = toldText(some(), true);
  EXPECT_THAT(text, HasSubstr("\x1b[1m"));
  for (auto code : {"\x1b[1m", "\x1b[0m"})
    for (size_t at; (at = text.find(code)) != std::string::npos;)
      text.erase(at, std::string_view(code).size());
  EXPECT_EQ(text, toldText(some(), false));
}

TEST(Voice, JsonHasTheSameThreeAndTheData) {
  const auto value = json::parse(toldJson(some()));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->at("answer"), "node n1 sells nothing");
  EXPECT_EQ(value->at("good"), false);
  EXPECT_EQ(value->at("todo").at(0), "wait");
  EXPECT_EQ(value->at("node"), "n1");
}

TEST(Table, CountsLettersNotBytes) {
  EXPECT_EQ(tableText({{"A", "B"}, {"−x", "y"}, {"long", ""}}), "A     B\n−x    y\nlong\n");
}

TEST(Output, HasThreeFormats) {
  Output output;
  frame::Flags flags("x", "y");
  output.declare(flags);
  ASSERT_TRUE(flags.parse({"-o", "yaml"}));
  EXPECT_EQ(output.text(R"({"a":[1,"no"]})", "table"), "a:\n- 1\n- \"no\"\n");
  ASSERT_TRUE(flags.parse({"-o=json"}));
  EXPECT_EQ(output.text("{}", "table"), "{}\n");
  const auto wrong = flags.parse({"-o", "xml"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(), "-o: 'xml': want table, json or yaml");
  EXPECT_THAT(flags.help(), HasSubstr("\n  -o=table "));
}

}  // namespace
}  // namespace mangrove::cli
