#include "json/yaml.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/random_value.h"

namespace mangrove::json {
namespace {

using ::testing::HasSubstr;

// The documents as compact JSON, separated by spaces, or the error.
std::string read(std::string_view text, std::string_view name = {}) {
  auto documents = parseYaml(text, name);
  if (!documents) return documents.error().text();
  std::string out;
  for (const auto& document : *documents) out += (out.empty() ? "" : " ") + write(document.value);
  return out;
}

struct ScalarCase {
  const char* scalar;
  const char* json;
};
const ScalarCase kScalars[] = {
    {"yes", "true"},
    {"Yes", "true"},
    {"ON", "true"},
    {"y", "true"},
    {"True", "true"},
    {"no", "false"},
    {"off", "false"},
    {"N", "false"},
    {"FALSE", "false"},
    {"yEs", R"("yEs")"},
    {"tRUE", R"("tRUE")"},
    {"'yes'", R"("yes")"},
    {"\"true\"", R"("true")"},
    {"!!str true", R"("true")"},
    {"~", "null"},
    {"null", "null"},
    {"NULL", "null"},
    {"", "null"},
    {"nUll", R"("nUll")"},
    {"'~'", R"("~")"},
    {"\"\"", R"("")"},
    {"12", "12"},
    {"-7", "-7"},
    {"+5", "5"},
    {"0", "0"},
    {"1_000", "1000"},
    {"0x1F", "31"},
    {"-0x1f", "-31"},
    {"0b101", "5"},
    {"-0b11", "-3"},
    {"0o17", "15"},
    {"0644", "420"},
    {"08", "8"},
    {"09.5", "9.5"},
    {"00", "0"},
    {"0x", R"("0x")"},
    {"0xg", R"("0xg")"},
    {"9223372036854775807", "9223372036854775807"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "18446744073709552000"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"1.5", "1.5"},
    {"1.0", "1"},
    {"1e3", "1000"},
    {"1.", "1"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {"+.5e1", "5"},
    {".4_8", "0.48"},
    {"._4", R"("._4")"},
    {"+.nan", R"("+.nan")"},
    {"1e21", "1e+21"},
    {"1e999", R"("1e999")"},
    {".", R"(".")"},
    {"-", "[null]"},
    {"1.2.3", R"("1.2.3")"},
    {"1e", R"("1e")"},
    {"_1", R"("_1")"},
    {"500m", R"("500m")"},
    {"1Gi", R"("1Gi")"},
    {"2026-11-15", R"("2026-11-15")"},
    {"2026-11-15T10:00:00Z", R"("2026-11-15T10:00:00Z")"},
    {"12:30:45", R"("12:30:45")"},
    {"10.0.0.1", R"("10.0.0.1")"},
    {"!!int 7", "7"},
    {"!!float 7", "7"},
    {"!!int '7'", "7"},
    {"!custom 7", R"("7")"},
    {"|\n  two\n  lines\n", R"("two\nlines\n")"},
    {">-\n  fol\n  ded\n", R"("fol ded")"},
    {"\"\\u00e9\\n\\x41\"", "\"é\\nA\""},
    {"'it''s'", R"("it's")"},
    {R"("\N\_\L")", "\"\xC2\x85\xC2\xA0\xE2\x80\xA8\""},
    {"a # comment", R"("a")"},
    {"a#b", R"("a#b")"},
    {"http://x/y", R"("http://x/y")"},
};

TEST(YamlRead, ScalarsMeanWhatKubectlTakesThemFor) {
  for (const auto& c : kScalars)
    EXPECT_EQ(read(std::string("- ") + c.scalar), std::string("[") + c.json + "]") << c.scalar;
}

TEST(YamlRead, DocumentsContainersAndKeys) {
  struct {
    const char* text;
    const char* json;
  } const cases[] = {
      {"", ""},
      {"# nothing\n", ""},
      {"---\n---\n", ""},
      {"a: 1\n", R"({"a":1})"},
      {"a: 1\n---\n# empty\n---\nb: 2\n...\n---\n- c\n", R"({"a":1} {"b":2} ["c"])"},
      {"\xEF\xBB\xBF"
       "a: 1\r\nb:\r\n- 2\r\n",
       R"({"a":1,"b":[2]})"},
      {"{a: [1, {b: c}], d: }", R"({"a":[1,{"b":"c"}],"d":null})"},
      {R"({"a":"\ud83c\udf34\/","a":1})", R"({"a":1})"},
      {"1: a\n2.50: b\ntrue: c\n'x': d\n", R"({"1":"a","2.5":"b","true":"c","x":"d"})"},
      {"? a\n: b\n", R"({"a":"b"})"},
      {"a: &x {b: 1}\nc: *x\nd: [*x]\n", R"({"a":{"b":1},"c":{"b":1},"d":[{"b":1}]})"},
      {"base: &b {x: 1, w: 2}\nc:\n  w: 3\n  <<: *b\nd: {<<: [*b, {z: 4}]}\n",
       R"({"base":{"x":1,"w":2},"c":{"w":3,"x":1},"d":{"x":1,"w":2,"z":4}})"},
      {"'<<': 1\n", R"({"<<":1})"},
      {"text: |+\n  a\n\n", R"({"text":"a\n\n"})"},
  };
  for (const auto& c : cases) EXPECT_EQ(read(c.text), c.json) << c.text;
}

TEST(YamlRead, TellsWhereADocumentStarts) {
  auto documents = parseYaml("# first\na: 1\n---\n\nb: 2\n---\n{c: 3}\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 3u);
  EXPECT_EQ((*documents)[0].line, 2u);
  EXPECT_EQ((*documents)[1].line, 5u);
  EXPECT_EQ((*documents)[2].line, 7u);
}

TEST(YamlRead, ErrorsPointAtTheFault) {
  struct {
    std::string text;
    const char* expect;
  } const cases[] = {
      {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: the key 'a' is there twice (line 1)\n  a: 3\n  ^"},
      {"1: a\n'1': b\n", "f.yaml:2:1: the key '1' is there twice (line 1)"},
      {"a:\n  - b: [1, 2\nc: d\n", "f.yaml:3:"},
      {"a: b: c\n", "f.yaml:1:5: "},
      {"a: \"x\n", "f.yaml:1:4: the quoted text has no closing quote"},
      {"- !!str &x 'it''\n", "f.yaml:1:3: the quoted text has no closing quote"},
      {"- \"a\\\"", "f.yaml:1:7: illegal EOF in scalar"},
      {"a:\n\t- b\n", "f.yaml:2:"},
      {", a: b\n", "f.yaml:1:1: this cannot start a document"},
      {"a: 1\n---\n]\n", "f.yaml:3:1: illegal flow end"},
      {"a: .inf\n",
       "f.yaml:1:4: '.inf' is no finite number; JSON cannot express it\n  a: .inf\n     ^"},
      {"a: !!int x\n", "f.yaml:1:4: 'x' does not fit its tag !!int"},
      {"~: x\n", "f.yaml:1:1: null cannot be a key; want a string"},
      {"[a]: x\n", "f.yaml:1:1: a list or a map cannot be a key"},
      {"a: *nowhere\n", "f.yaml:1:4: "},
      {"a: &x [*x]\n", "f.yaml:1:8: the alias stands inside the value it refers to"},
      {"<<: 1\n", "f.yaml:1:5: '<<' merges a map or a list of maps"},
      {"a: \x04 b\n", "f.yaml:1:4: control character 0x04; YAML allows only tab and newline"},
      {"a: \xFF\n", "f.yaml:1:4: byte 0xff is not valid UTF-8"},
      {std::string(300, '[') + std::string(300, ']'),
       "f.yaml:1:257: nested deeper than 256 levels"},
  };
  for (const auto& c : cases) EXPECT_THAT(read(c.text, "f.yaml"), HasSubstr(c.expect)) << c.text;
  EXPECT_THAT(read("a: 1\na: 2\n"), HasSubstr("line 2, column 1: the key 'a' is there twice"));
}

TEST(YamlRead, AliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb +=
        fmt::format("a{0}: &a{0} [{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}]\n", i, before);
  }
  EXPECT_THAT(read(bomb), HasSubstr("aliases multiply to more than 400000 values"));
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 300; ++i) deep += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  EXPECT_THAT(read(deep), HasSubstr("nested deeper than 256 levels"));
}

TEST(YamlRead, WantsOneDocument) {
  EXPECT_EQ(write(*parseYamlDocument("a: 1")), R"({"a":1})");
  EXPECT_EQ(parseYamlDocument("# x", "f.yaml").error().text(),
            "f.yaml is empty; want one document");
  EXPECT_EQ(parseYamlDocument("a: 1\n---\nb: 2\n").error().text(),
            "the YAML text holds 2 documents (the second starts at line 3); want one");
  EXPECT_EQ(parseYaml("abc", "f", {.maxBytes = 2}).error().code(), Code::kTooLarge);
}

TEST(YamlWrite, LooksLikeKubectlWritesIt) {
  const Value value = *parse(
      R"({"kind":"Pod","metadata":{"labels":{},"name":"a"},"spec":{"containers":[{"name":"c","args":["-x","--y=1",""],
          "env":[]},{"name":"d"}],"nested":[[1,2],[],[[3]]],"enabled":true,"n":null,"f":0.5}})");
  EXPECT_EQ(writeYaml(value),
            "kind: Pod\nmetadata:\n  labels: {}\n  name: a\nspec:\n  containers:\n  - name: c\n    "
            "args:\n"
            "    - -x\n    - \"--y=1\"\n    - \"\"\n    env: []\n  - name: d\n  nested:\n  - - 1\n "
            "   - 2\n  - []\n"
            "  - - - 3\n  enabled: true\n  \"n\": null\n  f: 0.5\n");
  const Value documents[] = {1, "x", Array()};
  EXPECT_EQ(writeYaml(documents), "1\n---\nx\n---\n[]\n");
}

struct QuoteCase {
  std::string text;
  const char* yaml;
};
const QuoteCase kQuotes[] = {
    {"plain", "plain"},
    {"two words", "two words"},
    {"a:b", "a:b"},
    {"nginx:1.25", "nginx:1.25"},
    {"kubernetes.io/batch-cpu", "kubernetes.io/batch-cpu"},
    {"500m", "500m"},
    {"10.0.0.1", "\"10.0.0.1\""},
    {"é", "é"},
    {"", "\"\""},
    {"true", "\"true\""},
    {"No", "\"No\""},
    {"y", "\"y\""},
    {"null", "\"null\""},
    {"~", "\"~\""},
    {"12", "\"12\""},
    {"0x1F", "\"0x1F\""},
    {"1e3", "\"1e3\""},
    {"12:30", "\"12:30\""},
    {"2026-11-15", "\"2026-11-15\""},
    {"- a", "\"- a\""},
    {"a: b", "\"a: b\""},
    {"a:", "\"a:\""},
    {"a #b", "\"a #b\""},
    {"#a", "\"#a\""},
    {" a", "\" a\""},
    {"a ", "\"a \""},
    {"*a", "\"*a\""},
    {"&a", "\"&a\""},
    {"[a]", "\"[a]\""},
    {"{a}", "\"{a}\""},
    {"@a", "\"@a\""},
    {"`a", "\"`a\""},
    {"%a", "\"%a\""},
    {"!a", "\"!a\""},
    {"a\tb", "\"a\\tb\""},
    {"'a'", "\"'a'\""},
    {"say \"hi\"", "say \"hi\""},
    {"<<", "\"<<\""},
    {"---", "\"---\""},
    {".inf", "\".inf\""},
    {"\x7f", "\"\\u007f\""},
    {"\xC2\x85", "\"\\u0085\""},
    {"\xEF\xBB\xBFx", "\"\\ufeffx\""},
    {"a\nb", "|-\n  a\n  b"},
    {"a\nb\n", "|\n  a\n  b"},
    {"a\n\n\n", "|+\n  a\n\n"},
    {" a\nb", "\" a\\nb\""},
    {"a\n  \nb", "\"a\\n  \\nb\""},
    {"\na", "\"\\na\""},
    {"a\r\nb", "\"a\\r\\nb\""},
};

TEST(YamlWrite, QuotesOnlyWhereNeeded) {
  for (const auto& c : kQuotes) EXPECT_EQ(writeYaml(Value(c.text)), std::string(c.yaml) + "\n");
}

std::string randomText(RandomValue& random) {
  static const char* const kParts[] = {"a",    "b",    "0",    "1",   "x",   "e",  ".",
                                       "-",    "+",    ":",    " ",   "#",   "\n", "\n\n",
                                       "  ",   "\t",   "'",    "\"",  "\\",  "[",  "]",
                                       "{",    "}",    ",",    "&",   "*",   "!",  "|",
                                       ">",    "%",    "@",    "~",   "?",   "=",  "<<",
                                       "yes",  "null", "true", "---", "...", "é",  "\xE2\x80\xA8",
                                       "\x01", "\r"};
  std::string text;
  for (size_t i = random.below(7); i > 0; --i) text += kParts[random.below(std::size(kParts))];
  if (random.chance(20)) text += '\0';
  return text;
}

// Replaces the strings and keys of a random document by nastier ones.
Value withNastyStrings(const Value& value, RandomValue& random) {
  if (const Object* object = value.if_object()) {
    Object out;
    for (const auto& member : *object)
      out.insert_or_assign(randomText(random), withNastyStrings(member.value(), random));
    return out;
  }
  if (const Array* array = value.if_array()) {
    Array out;
    for (const Value& element : *array) out.push_back(withNastyStrings(element, random));
    return out;
  }
  return value.is_string() ? Value(randomText(random)) : value;
}

TEST(YamlWrite, ReadsBackAsTheSameValue) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    RandomValue random(seed);
    const Value value = withNastyStrings(random.document(), random);
    const std::string text = writeYaml(value);
    auto back = parseYamlDocument(text);
    ASSERT_TRUE(back) << "seed " << seed << "\n" << text << back.error().text();
    ASSERT_TRUE(equal(*back, value)) << "seed " << seed << "\n"
                                     << text << write(value) << "\n"
                                     << write(*back);
  }
}

}  // namespace
}  // namespace mangrove::json
