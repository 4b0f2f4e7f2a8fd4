// Our patch code against a second library, nlohmann::json, on random documents: a thousand, or a
// hundred thousand in `make test-long`.
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/testing/size.h"
#include "json/json_patch.h"
#include "json/merge_patch.h"
#include "json/pointer.h"
#include "json/random_value.h"

namespace mangrove::json {
namespace {

using Other = nlohmann::json;

size_t documents() {
  return sized<size_t>(1000, 100000);
}

Other other(const Value& value) {
  return Other::parse(write(value));
}

// What the other library makes of a patch; nullopt: refused.
std::optional<Other> otherPatched(const Value& document, const Value& patch) {
  try {
    return other(document).patch(other(patch));
  } catch (const Other::exception&) {
    return std::nullopt;
  }
}

// The RFC says the parent of an added value must be an array or an object. The other library makes
// an object of a null parent and asserts on scalars, so it has no say there.
bool editsBelowScalar(const Value& before, const Object& operation) {
  const auto& name = operation.at("op").get_string();
  if (name == "replace" || name == "test") return false;
  const auto path = *Pointer::parse(operation.at("path").get_string());
  if (path.isRoot()) return false;
  Value document = before;
  if (name == "move" && !remove(document, *Pointer::parse(operation.at("from").get_string())))
    return false;
  const Value* parent = find(document, path.parent());
  return parent != nullptr && !parent->is_object() && !parent->is_array();
}

// The RFC forbids to move a value into itself, and moving it onto itself changes nothing. The other
// library checks neither: it removes first and then follows the path in what is left.
bool movesIntoItself(const Object& operation) {
  if (operation.at("op") != "move") return false;
  return Pointer::parse(operation.at("from").get_string())
      ->contains(*Pointer::parse(operation.at("path").get_string()));
}

bool oracleHasNoSay(const Value& document, const Value& patch) {
  Value at = document;
  for (const Value& operation : patch.get_array()) {
    if (editsBelowScalar(at, operation.get_object())) return true;
    if (movesIntoItself(operation.get_object())) return true;
    if (!applyJsonPatch(at, Array{operation})) return false;
  }
  return false;
}

TEST(Oracle, JsonPatchAgrees) {
  size_t applied = 0, refused = 0;
  for (uint64_t seed = 0; applied + refused < documents(); ++seed) {
    RandomValue random(seed);
    const Value document = random.document();
    const Value patch = random.jsonPatch(document, 1 + random.below(3));
    if (oracleHasNoSay(document, patch)) continue;
    Value ours = document;
    const auto done = applyJsonPatch(ours, patch);
    const auto theirs = otherPatched(document, patch);
    ASSERT_EQ(done.has_value(), theirs.has_value())
        << "seed " << seed << " " << write(document) << " " << write(patch) << " "
        << (done ? write(ours) : done.error().text());
    ++(done ? applied : refused);
    if (!done) continue;
    ASSERT_EQ(other(ours), *theirs) << "seed " << seed;
  }
  EXPECT_GT(applied, documents() / 4);
  EXPECT_GT(refused, documents() / 20);
  RecordProperty("applied", static_cast<int>(applied));
  RecordProperty("refused", static_cast<int>(refused));
}

TEST(Oracle, DiffsWorkInBothLibraries) {
  for (uint64_t seed = 0; seed < documents(); ++seed) {
    RandomValue random(seed);
    const Value from = random.document();
    const Value to = random.changed(from);
    EXPECT_EQ(other(from).patch(other(jsonDiff(from, to))), other(to)) << "seed " << seed;
    Value patched = from;
    const Value theirs = *parse(Other::diff(other(from), other(to)).dump());
    ASSERT_TRUE(applyJsonPatch(patched, theirs)) << "seed " << seed;
    EXPECT_TRUE(equal(patched, to)) << "seed " << seed << " " << write(theirs);
  }
}

TEST(Oracle, MergePatchAgrees) {
  for (uint64_t seed = 0; seed < documents(); ++seed) {
    RandomValue random(seed);
    Value ours = random.document();
    const Value patch = random.changed(ours);
    Other theirs = other(ours);
    theirs.merge_patch(other(patch));
    applyMergePatch(ours, patch);
    ASSERT_EQ(other(ours), theirs) << "seed " << seed;
  }
}

TEST(Oracle, MergeDiffsWorkInBothLibraries) {
  for (uint64_t seed = 0; seed < documents(); ++seed) {
    RandomValue random(seed);
    const Value from = random.withoutNulls(random.document());
    const Value to = random.withoutNulls(random.changed(from));
    const auto patch = mergeDiff(from, to);
    ASSERT_TRUE(patch) << patch.error().text();
    Value patched = from;
    applyMergePatch(patched, *patch);
    EXPECT_TRUE(equal(patched, to)) << "seed " << seed;
    Other theirs = other(from);
    theirs.merge_patch(other(*patch));
    EXPECT_EQ(theirs, other(to)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mangrove::json
