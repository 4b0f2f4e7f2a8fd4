// Our strategic merge patch against the one Kubernetes 1.35 ships: test/oracle/strategic_patch.json
// holds random objects and patches with the answer of k8s.io/apimachinery (nulls and directives
// that its typed decoding drops left out). MANGROVE_STRATEGIC_CASES names another file of the same
// form, one case per line.
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "json/strategic_patch.h"

namespace mangrove::json {
namespace {

struct Tally {
  size_t applied = 0, refused = 0, diffs = 0;
};

void checkPatch(const Object& c, const MergeSchema& schema, Tally& tally) {
  Value ours = c.at("from");
  const auto done = applyStrategicPatch(ours, c.at("patch"), schema);
  const Value* expected = c.if_contains("result");
  ASSERT_EQ(done.has_value(), expected != nullptr)
      << write(c) << "\nours: " << (done ? write(ours) : done.error().text());
  ++(done ? tally.applied : tally.refused);
  if (!done) return;
  EXPECT_EQ(writeSorted(ours), writeSorted(*expected)) << write(c);
}

void checkDiff(const Object& c, const MergeSchema& schema, Tally& tally) {
  const Value* to = c.if_contains("to");
  if (to == nullptr) return;
  const auto patch = strategicDiff(c.at("from"), *to, schema);
  ASSERT_TRUE(patch) << patch.error().text();
  Value patched = c.at("from");
  ASSERT_TRUE(applyStrategicPatch(patched, *patch, schema)) << write(c);
  EXPECT_EQ(writeSorted(patched), writeSorted(*to)) << write(*patch);
  ++tally.diffs;
}

void checkCase(const Object& c, Tally& tally) {
  const MergeSchema* schema = mergeSchemaOf(c.at("group").get_string(), c.at("kind").get_string());
  ASSERT_NE(schema, nullptr) << write(c.at("kind"));
  checkPatch(c, *schema, tally);
  checkDiff(c, *schema, tally);
}

TEST(StrategicOracle, AgreesWithKubernetes) {
  const char* asked = std::getenv("MANGROVE_STRATEGIC_CASES");
  std::ifstream in(asked != nullptr ? asked
                                    : MANGROVE_SOURCE_DIR "/test/oracle/strategic_patch.json");
  Tally tally;
  for (std::string line; std::getline(in, line);) {
    auto c = parse(line);
    ASSERT_TRUE(c) << c.error().text();
    checkCase(c->get_object(), tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.applied, 100u);
  EXPECT_GT(tally.refused, 5u);
  EXPECT_GT(tally.diffs, 100u);
  RecordProperty("applied", static_cast<int>(tally.applied));
  RecordProperty("refused", static_cast<int>(tally.refused));
  RecordProperty("diffs", static_cast<int>(tally.diffs));
}

}  // namespace
}  // namespace mangrove::json
