#include "apiserver/schema/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/schema/crd_test_support.h"
#include "apiserver/schema/formats.h"
#include "apiserver/schema/pattern.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

using ::testing::HasSubstr;

// A property "f" with this schema, a value for it, and the complaint ("" for none).
struct Row {
  const char *schema, *value, *want;
};

std::string complaintFor(const Row& row) {
  auto kind = kindFrom(crdWith("{type: object, properties: {f: " + std::string(row.schema) + "}}"));
  if (kind == nullptr) return "no kind";
  json::Value object = yaml("{f: " + std::string(row.value) + "}");
  FieldErrors errors;
  validate(*kind->schema, object, FieldPath(), errors);
  return errors.empty() ? "" : errors.text();
}

const Row kKeywords[] = {
    {"{type: string}", "a", ""},
    {"{type: string}", "1",
     "f: Invalid value: \"integer\": f in body must be of type string: \"integer\""},
    {"{type: string}", "null", "f in body must be of type string: \"null\""},
    {"{type: string, nullable: true}", "null", ""},
    {"{type: integer}", "1", ""},
    {"{type: integer}", "1.5", "must be of type integer: \"number\""},
    {"{type: integer}", "'1'", "must be of type integer: \"string\""},
    {"{type: integer, format: int32}", "3000000000", "must be of type int32"},
    {"{type: number}", "1", ""},
    {"{type: boolean}", "'yes'", "must be of type boolean"},
    {"{type: object, additionalProperties: {type: string}}", "{a: 1}", "f.a: Invalid value"},
    {"{type: array, items: {type: string}}", "[a, 1]", "f[1]: Invalid value"},
    {"{x-kubernetes-int-or-string: true}", "80", ""},
    {"{x-kubernetes-int-or-string: true}", "http", ""},
    {"{x-kubernetes-int-or-string: true}", "1.5", "must be of type int-or-string"},
    {"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", "a", ""},
    {"{x-kubernetes-preserve-unknown-fields: true}", "[1, {a: b}]", ""},
    {"{type: string, enum: [a, b]}", "c",
     "f: Unsupported value: \"c\": supported values: \"a\", \"b\""},
    {"{type: integer, enum: [1, 2]}", "2", ""},
    {"{type: integer, minimum: 1}", "0", "f in body should be greater than or equal to 1"},
    {"{type: integer, minimum: 1, exclusiveMinimum: true}", "1", "should be greater than 1"},
    {"{type: integer, maximum: 5}", "6", "should be less than or equal to 5"},
    {"{type: number, maximum: 0.5, exclusiveMaximum: true}", "0.5", "should be less than 0.5"},
    {"{type: integer, multipleOf: 5}", "12", "should be a multiple of 5"},
    {"{type: integer, multipleOf: 5}", "15", ""},
    {"{type: string, maxLength: 2}", "éé", ""},
    {"{type: string, maxLength: 2}", "abc", "f: Too long: may not be more than 2 bytes"},
    {"{type: string, minLength: 1}", "''", "should be at least 1 chars long"},
    {"{type: string, pattern: '^a+$'}", "aab", "should match '^a+$'"},
    {"{type: string, pattern: 'b'}", "abc", ""},
    {"{type: string, format: date-time}", "yesterday", "must be of type date-time"},
    {"{type: string, format: made-up}", "x", ""},
    {"{type: array, maxItems: 1, items: {type: integer}}", "[1, 2]", "f: Too many: 2"},
    {"{type: array, minItems: 1, items: {type: integer}}", "[]", "should have at least 1 items"},
    {"{type: object, maxProperties: 1, additionalProperties: true}", "{a: 1, b: 2}", "Too many"},
    {"{type: object, minProperties: 1}", "{}", "should have at least 1 properties"},
    {"{type: object, required: [a], properties: {a: {type: string}}}", "{}", "f.a: Required value"},
    {"{type: array, x-kubernetes-list-type: set, items: {type: string}}", "[a, b, a]",
     "f[2]: Duplicate value: \"a\""},
    {"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: "
     "object, required: [k], properties: {k: {type: string}}}}",
     "[{k: a}, {k: a}]", "f[1]: Duplicate value: {\"k\":\"a\"}"},
    {"{type: integer, allOf: [{minimum: 1}, {maximum: 5}]}", "9", "less than or equal to 5"},
    {"{type: integer, anyOf: [{maximum: 1}, {minimum: 5}]}", "3", "at least one schema (anyOf)"},
    {"{type: integer, anyOf: [{maximum: 1}, {minimum: 5}]}", "7", ""},
    {"{type: integer, oneOf: [{minimum: 1}, {minimum: 5}]}", "7", "(oneOf). Found 2 valid"},
    {"{type: integer, oneOf: [{minimum: 1}, {minimum: 5}]}", "2", ""},
    {"{type: integer, not: {minimum: 5}}", "7", "must not validate the schema (not)"},
    {"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: "
     "[a]}, {required: [b]}]}",
     "{a: x, b: z}", "(oneOf)"},
    {"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: "
     "[a]}, {required: [b]}]}",
     "{b: z}", ""},
};

TEST(Validation, EachKeyword) {
  for (const Row& row : kKeywords) {
    std::string got = complaintFor(row);
    if (*row.want == '\0')
      EXPECT_EQ(got, "") << row.schema << " " << row.value;
    else
      EXPECT_THAT(got, HasSubstr(row.want)) << row.schema << " " << row.value;
  }
}

TEST(Formats, KnowsWhatKubernetesKnows) {
  struct FormatRow {
    const char *format, *good, *bad;
  };
  const FormatRow kRows[] = {
      {"date-time", "2026-01-02T03:04:05Z", "2026-01-02"},
      {"date", "2026-02-28", "2026-02-31"},
      {"duration", "1h30m", "300"},
      {"duration", "2 days", "soon"},
      {"byte", "aGVsbG8=", "!"},
      {"ipv4", "10.0.0.1", "10.0.0.256"},
      {"ipv6", "fe80::1", "fe80::g"},
      {"cidr", "10.0.0.0/8", "10.0.0.0/33"},
      {"uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"},
      {"mac", "00:1a:2b:3c:4d:5e", "00:1a:2b"},
      {"email", "a@b.c", "a.b.c"},
      {"hostname", "Example.com", "under_score"},
      {"uri", "https://a/b", "a b"},
      {"k8s-short-name", "abc", "a.b"},
      {"k8s-long-name", "a.b", "A"},
  };
  for (const FormatRow& row : kRows) {
    EXPECT_TRUE(hasFormat(row.good, row.format)) << row.format << " " << row.good;
    EXPECT_FALSE(hasFormat(row.bad, row.format)) << row.format << " " << row.bad;
  }
}

TEST(Pattern, IsBoundedInTime) {
  auto pattern = Pattern::compile("^(a+)+$");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_FALSE((*pattern)->matches(std::string(64, 'a') + "b"));
  EXPECT_FALSE(Pattern::compile("(unclosed").has_value());
  EXPECT_FALSE((*Pattern::compile("^a$"))->matches("a\nb"));
}

}  // namespace
}  // namespace mangrove::apiserver
