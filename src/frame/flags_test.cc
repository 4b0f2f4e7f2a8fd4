#include "frame/flags.h"

#include <array>

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"

namespace mangrove::frame {
namespace {

using std::chrono::seconds;

struct Example {
  std::string node = "n1";
  bool dry = false;
  int64_t count = 3;
  double ratio = 0.5;
  Duration period = seconds(60);
  std::vector<std::string> zones = {"a"};
  std::vector<std::string> files;
  Flags flags{"mangrove test", "tests flags"};

  Example() {
    flags.add("node-name", node, "name of the node");
    flags.add("dry-run", dry, "change nothing");
    flags.add("count", count, "how many");
    flags.add("ratio", ratio, "how much");
    flags.add("period", period, "how often");
    flags.add("zones", zones, "where");
    flags.add("v", count, "verbosity");
    flags.positionals("files", files, "what to read");
    constexpr std::array<std::string_view, 1> kOld = {"logtostderr"};
    flags.ignore(kOld);
    flags.withConfigFile();
  }
  std::string error(const std::vector<std::string>& args) {
    auto done = flags.parse(args);
    return done ? "" : done.error().text();
  }
};

class TempFile {
 public:
  explicit TempFile(std::string_view content) { EXPECT_TRUE(writeFileAtomically(path(), content)); }
  std::string path() const { return folder_.file("flags"); }

 private:
  TempFolder folder_;
};

TEST(Flags, AnEmptyValueIsOne) {
  Example e;
  EXPECT_EQ(e.error({"--node-name=", "--count=7"}), "");
  EXPECT_EQ(e.node, "");
  EXPECT_EQ(e.count, 7);
}

TEST(Flags, DefaultsStayWithoutArguments) {
  Example e;
  EXPECT_EQ(e.error({}), "");
  EXPECT_EQ(e.node, "n1");
  EXPECT_EQ(e.zones, std::vector<std::string>{"a"});
}

TEST(Flags, TakesTheSpellingsOfGoAndOfLongOptions) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--node-name=x", "--dry-run"},
                                             {"-node-name=x", "-dry-run=true"},
                                             {"--node-name", "x", "--dry-run=1"},
                                             {"-node-name", "x", "--logtostderr", "-dry-run"}}) {
    Example e;
    EXPECT_EQ(e.error(args), "");
    EXPECT_EQ(e.node, "x");
    EXPECT_TRUE(e.dry);
  }
}

TEST(Flags, ReadsEveryType) {
  Example e;
  EXPECT_EQ(e.error({"-v=4", "--ratio", "0.25", "--period=1m30s", "--zones=b,c", "--zones", "d",
                     "file.yaml"}),
            "");
  EXPECT_EQ(e.count, 4);
  EXPECT_EQ(e.ratio, 0.25);
  EXPECT_EQ(e.period, seconds(90));
  EXPECT_EQ(e.zones, (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(e.files, std::vector<std::string>{"file.yaml"});
}

TEST(Flags, MistakesNameFlagValueAndNearestName) {
  EXPECT_NE(Example().error({"--node-nam=x"}).find("did you mean 'node-name'"), std::string::npos);
  EXPECT_NE(Example().error({"--count=many"}).find("--count: 'many'"), std::string::npos);
  EXPECT_NE(Example().error({"--period=5"}).find("--period"), std::string::npos);
  EXPECT_NE(Example().error({"--dry-run=maybe"}).find("'maybe' is neither true nor false"),
            std::string::npos);
  EXPECT_NE(Example().error({"--node-name"}), "");
}

TEST(Flags, NegativeNumbersAreValues) {
  Example e;
  EXPECT_EQ(e.error({"--count", "-5"}), "");
  EXPECT_EQ(e.count, -5);
}

TEST(Flags, ConfigFileFillsWhatTheCommandLineLeavesOpen) {
  TempFile file("node-name: from-file\ncount: 9\nzones: [x, z]\ndry-run: true\nperiod: 2m\n");
  Example e;
  EXPECT_EQ(e.error({"--config", file.path(), "--count=1"}), "");
  EXPECT_EQ(e.node, "from-file");
  EXPECT_EQ(e.count, 1);
  EXPECT_EQ(e.zones, (std::vector<std::string>{"x", "z"}));
  EXPECT_TRUE(e.dry);
  EXPECT_EQ(e.period, seconds(120));
}

TEST(Flags, ConfigFileMistakesNameTheFileAndTheKey) {
  TempFile unknown("node-nme: x\n");
  auto text = Example().error({"--config", unknown.path()});
  EXPECT_NE(text.find(unknown.path()), std::string::npos);
  EXPECT_NE(text.find("did you mean 'node-name'"), std::string::npos);
  TempFile list("- a\n");
  EXPECT_NE(Example().error({"--config", list.path()}).find("mapping"), std::string::npos);
  EXPECT_NE(Example().error({"--config", "/does/not/exist"}).find("/does/not/exist"),
            std::string::npos);
}

TEST(Flags, HelpListsFlagsWithDefaultsButNotIgnoredOnes) {
  Example e;
  auto text = e.flags.help();
  EXPECT_NE(text.find("--period"), std::string::npos);
  EXPECT_NE(text.find("1m0s"), std::string::npos);
  EXPECT_EQ(text.find("logtostderr"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::frame
