#include "api/wire/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::api {

enum class Colour { kUnknown, kRed, kGreen };
struct Leaf {
  std::string name;
  int32_t count = 7;
  std::optional<bool> flag;
  Colour colour = Colour::kUnknown;
};
struct Tree {
  std::string kind;
  int64_t size = 0;
  double ratio = 0;
  std::vector<Leaf> leaves;
  std::map<std::string, int64_t> counts;
  std::unique_ptr<Leaf> top;
  RawJson rest;
  std::string nested;
  Interned zone;
  Quantity cpu;
  WallTime since = kZeroTime;
  Duration wait{};
  IntOrString share;
};

static bool readColour(const In& in, Leaf& out) {
  static constexpr Word<Colour> words[] = {{"red", Colour::kRed}, {"green", Colour::kGreen}};
  return readWord(in, out.colour, words);
}

static bool read(const In& in, Leaf& out) {
  static constexpr Fields fields{
      field<&Leaf::name>("name"),
      field<&Leaf::count>("count"),
      field<&Leaf::flag>("flag"),
      via<readColour>("colour"),
  };
  return fields.read(in, out);
}

static bool readInner(const In& in, Tree& out) {
  static constexpr Fields fields{field<&Tree::nested>("nested")};
  return fields.read(in, out);
}

static bool read(const In& in, Tree& out) {
  static constexpr Fields fields{
      field<&Tree::kind>("kind"),     field<&Tree::size>("size"),     field<&Tree::ratio>("ratio"),
      field<&Tree::leaves>("leaves"), field<&Tree::counts>("counts"), field<&Tree::top>("top"),
      field<&Tree::rest>("rest"),     via<readInner>("inner"),        field<&Tree::zone>("zone"),
      field<&Tree::cpu>("cpu"),       field<&Tree::since>("since"),   field<&Tree::wait>("wait"),
      field<&Tree::share>("share"),
  };
  return fields.read(in, out);
}

namespace {

TEST(Decode, ReadsKnownMembersInOnePass) {
  auto tree = decodeText<Tree>(R"({"unknown":{"deep":[1,2]},"kind":"oak","size":12,"ratio":0.5,
    "leaves":[{"name":"a","count":1,"flag":false,"colour":"green"},{"name":"b","colour":"mauve"},null],
    "counts":{"x":1,"y":2},"top":{"name":"t"},"rest":{"a":[1,"x"]},"inner":{"nested":"in"}})");
  ASSERT_TRUE(tree) << tree.error().text();
  EXPECT_EQ(tree->kind, "oak");
  EXPECT_EQ(tree->size, 12);
  EXPECT_EQ(tree->ratio, 0.5);
  ASSERT_EQ(tree->leaves.size(), 3u);
  EXPECT_EQ(tree->leaves[0].flag, std::optional<bool>(false));
  EXPECT_EQ(tree->leaves[0].colour, Colour::kGreen);
  EXPECT_EQ(tree->leaves[1].colour, Colour::kUnknown);
  EXPECT_EQ(tree->leaves[1].count, 7);
  EXPECT_EQ(tree->leaves[1].flag, std::nullopt);
  EXPECT_EQ(tree->leaves[2].name, "");
  EXPECT_EQ(tree->counts, (std::map<std::string, int64_t>{{"x", 1}, {"y", 2}}));
  EXPECT_EQ(tree->top->name, "t");
  EXPECT_EQ(tree->rest.text, R"({"a":[1,"x"]})");
  EXPECT_EQ(tree->nested, "in");
}

TEST(Decode, ReadsKubernetesValues) {
  auto tree = decodeText<Tree>(
      R"({"zone":"z1","cpu":"1500m","since":"1970-01-01T00:00:01Z","wait":"1m0s","share":"30%"})");
  ASSERT_TRUE(tree) << tree.error().text();
  EXPECT_EQ(tree->zone, Interned("z1"));
  EXPECT_EQ(tree->cpu.milliValue(), 1500);
  EXPECT_EQ(tree->since, WallTime(std::chrono::seconds(1)));
  EXPECT_EQ(tree->wait, std::chrono::minutes(1));
  EXPECT_EQ(tree->share, (IntOrString{true, 0, "30%"}));
  auto numbers = decodeText<Tree>(R"({"cpu":0.5,"share":30})");
  ASSERT_TRUE(numbers) << numbers.error().text();
  EXPECT_EQ(numbers->cpu.milliValue(), 500);
  EXPECT_EQ(numbers->share, (IntOrString{false, 30, ""}));
  EXPECT_EQ(numbers->since, kZeroTime);
}

TEST(Decode, NullIsAbsentAndTheLastDuplicateWins) {
  auto tree = decodeText<Tree>(R"({"kind":null,"leaves":null,"top":null,"size":1,"size":2})");
  ASSERT_TRUE(tree) << tree.error().text();
  EXPECT_EQ(tree->kind, "");
  EXPECT_EQ(tree->top, nullptr);
  EXPECT_EQ(tree->size, 2);
  EXPECT_TRUE(decodeText<Tree>("null"));
  EXPECT_TRUE(decode<Tree>(json::View()));
}

struct Refused {
  const char* text;
  const char* error;
};

class DecodeRefusals : public ::testing::TestWithParam<Refused> {};

TEST_P(DecodeRefusals, NamesPlaceFoundAndWanted) {
  auto tree = decodeText<Tree>(GetParam().text);
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().code(), Code::kInvalid);
  EXPECT_EQ(tree.error().text(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DecodeRefusals,
    ::testing::Values(
        Refused{"[]", "found array, want an object"},
        Refused{"3", "found number 3, want an object"},
        Refused{R"({"kind":3})", "kind: found number 3, want a string"},
        Refused{R"({"size":"3"})", "size: found string '3', want an integer"},
        Refused{R"({"size":1.0})", "size: found number 1, want an integer"},
        Refused{R"({"leaves":{}})", "leaves: found object, want an array"},
        Refused{R"({"leaves":[{},{"count":2147483648}]})",
                "leaves[1].count: 2147483648 does not fit, want -2147483648 to 2147483647"},
        Refused{R"({"leaves":[{"flag":"true"}]})",
                "leaves[0].flag: found string 'true', want true or false"},
        Refused{R"({"counts":{"a.b/c":true}})",
                "counts[a.b/c]: found boolean true, want an integer"},
        Refused{R"({"ratio":"x"})", "ratio: found string 'x', want a number"},
        Refused{R"({"inner":{"nested":[]}})", "inner.nested: found array, want a string"},
        Refused{R"({"cpu":"x"})", "cpu: 'x' is not a quantity"},
        Refused{R"({"cpu":true})", "cpu: found boolean true, want a quantity"},
        Refused{R"({"since":"yesterday"})", "since: 'yesterday' is not an RFC 3339 time"},
        Refused{R"({"wait":"5"})", "wait: '5' is not a duration such as 1h30m"},
        Refused{R"({"share":1.5})", "share: found number 1.5, want an integer or a string"},
        Refused{R"({"zone":1})", "zone: found number 1, want a string"},
        Refused{R"({"top":{"colour":1}})", "top.colour: found number 1, want a string"}));

TEST(Decode, EqualPartsHaveEqualDigests) {
  const auto digest = [](std::string_view text) {
    json::Doc doc;
    Reading reading;
    Tree tree;
    EXPECT_TRUE(read(In(*doc.parse(text), reading), tree));
    return reading.digest;
  };
  const auto base = digest(R"({"kind":"oak","leaves":[{"name":"a"}]})");
  EXPECT_EQ(base, digest(R"({"kind":"oak","strange":1,"leaves":[{"name":"a"}]})"));
  EXPECT_NE(base, digest(R"({"kind":"oak","leaves":[{"name":"b"}]})"));
  EXPECT_NE(base, digest(R"({"kind":"oak","leaves":[{"name":"a"},{}]})"));
}

TEST(Decode, TextsMayNest) {
  TextDoc outer;
  auto view = outer.parse(R"({"name":"outer"})");
  EXPECT_EQ(decodeText<Leaf>(R"({"name":"inner"})")->name, "inner");
  EXPECT_EQ((*view)["name"].string(), "outer");
}

}  // namespace
}  // namespace mangrove::api
