#include "apiserver/protobuf/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/protobuf/decode.h"
#include "base/text/wire.h"

namespace mangrove::apiserver::protobuf {
namespace {

using ::testing::HasSubstr;

std::string packed(std::string_view text) {
  json::Doc doc;
  auto root = doc.parse(text);
  EXPECT_TRUE(root.has_value()) << text;
  auto bytes = toProtobuf(*root);
  EXPECT_TRUE(bytes.has_value()) << text;
  return bytes.value_or("");
}

std::string enveloped(std::string_view apiVersion, std::string_view kind, std::string_view raw) {
  std::string out("k8s\0", 4);
  appendNested(1, out, [&](std::string& inner) {
    appendBytes(1, apiVersion, inner);
    appendBytes(2, kind, inner);
  });
  appendBytes(2, raw, out);
  return out;
}

TEST(Envelope, WhatGoesInComesOut) {
  const char* kObjects[] = {
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"ä","y":""}},)"
      R"("data":{"k":"v"},"binaryData":{"b":"AAH/"},"immutable":false})",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","creationTimestamp":)"
      R"("2026-03-01T12:00:00Z","managedFields":[{"manager":"m","fieldsV1":{"f:a":{".":{}}}}]},)"
      R"("spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"500m"}},)"
      R"("readinessProbe":{"httpGet":{"port":"http"},"periodSeconds":3}}],"volumes":[{"name":"v",)"
      R"("emptyDir":{"sizeLimit":"1Gi"}},{"name":"w","configMap":{"name":"cm","optional":true}}],)"
      R"("terminationGracePeriodSeconds":0,"priority":-10},"status":{}})",
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":)"
      R"({"renewTime":"2026-03-01T12:00:00.250000Z","leaseDurationSeconds":15}})",
      R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0,)"
      R"("preconditions":{"uid":"u"},"propagationPolicy":"Foreground","dryRun":["All"]})",
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","metadata":{},)"
      R"("spec":{"token":"t"},"status":{"user":{"extra":{"a":["1","2"],"b":[]}}}})",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{},)"
      R"("spec":{"versions":[{"name":"v1","served":true,"storage":false,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","default":{"a":[1,null]},"maximum":0.5,)"
      R"("additionalProperties":false,"items":{"additionalProperties":{"type":"string"}},)"
      R"("not":{"additionalProperties":true,"enum":["a",1]},"dependencies":{"x":["y"],)"
      R"("z":{"type":"integer"}}}}}]}})",
      R"({"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"7",)"
      R"("remainingItemCount":3},"items":[{"metadata":{"name":"a"}},{}]})",
  };
  for (const char* text : kObjects) {
    auto back = fromProtobuf(packed(text));
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_EQ(json::writeSorted(*back), json::writeSorted(*json::parse(text)));
  }
}

TEST(Envelope, ZerosThatMeanNotSetAreLeftOut) {
  std::string meta;
  appendBytes(1, "a", meta);
  appendBytes(2, "", meta);    // generateName
  appendNumber(7, 0, meta);    // generation
  appendBytes(8, "", meta);    // creationTimestamp
  appendNumber(10, 0, meta);   // deletionGracePeriodSeconds: zero is a value there
  appendNumber(999, 0, meta);  // nobody knows
  std::string raw;
  appendBytes(1, meta, raw);
  auto object = fromProtobuf(enveloped("v1", "ConfigMap", raw));
  ASSERT_TRUE(object.has_value()) << object.error().text();
  EXPECT_EQ(json::write(*object), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",)"
                                  R"("deletionGracePeriodSeconds":0}})");
}

TEST(Envelope, NumbersInOnePieceAndMessagesInTwo) {
  std::string packedNumbers;
  appendVarint(1, packedNumbers);
  appendVarint(300, packedNumbers);
  std::string codes, rule, policy, spec, raw;
  appendBytes(3, packedNumbers, codes);  // values
  appendNumber(3, 7, codes);
  appendBytes(2, codes, rule);
  appendBytes(1, rule, policy);
  appendBytes(11, policy, spec);
  appendBytes(2, spec, raw);
  std::string more;
  appendNumber(1, 2, more);  // parallelism
  appendBytes(2, more, raw);
  auto job = fromProtobuf(enveloped("batch/v1", "Job", raw));
  ASSERT_TRUE(job.has_value()) << job.error().text();
  EXPECT_EQ(json::write(job->at("spec")),
            R"({"podFailurePolicy":{"rules":[{"onExitCodes":{"values":[1,300,7]}}]},)"
            R"("parallelism":2})");
}

TEST(Envelope, NamesMayBeAssumed) {
  EXPECT_TRUE(fromProtobuf(enveloped("", "", ""), {"v1", "Pod"}).has_value());
  EXPECT_THAT(fromProtobuf(enveloped("", "", "")).error().text(), HasSubstr("is missing"));
}

TEST(Envelope, EventsTravelInFrames) {
  json::Doc doc;
  const auto event = doc.parse(
      R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}})");
  const auto frame = watchFrame(*event);
  ASSERT_TRUE(frame.has_value());
  ASSERT_EQ(frame->substr(0, 4), std::string({0, 0, 0, static_cast<char>(frame->size() - 4)}));
  WireReader in(std::string_view(*frame).substr(4));
  EXPECT_EQ(in.tag()->number, 1u);
  EXPECT_EQ(*in.bytes(), "ADDED");
  EXPECT_EQ(in.tag()->number, 2u);
  WireReader extension(*in.bytes());
  EXPECT_EQ(extension.tag()->number, 1u);
  auto object = fromProtobuf(*extension.bytes());
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(json::write(object->at("metadata")), R"({"name":"a"})");
}

TEST(Envelope, WhatProtobufCannotSayStaysJson) {
  json::Doc doc;
  for (const char* text : {R"({"apiVersion":"meta.k8s.io/v1","kind":"Table","rows":[]})",
                           R"({"apiVersion":"example.com/v1","kind":"Thing"})", R"({})", "[]"})
    EXPECT_FALSE(toProtobuf(*doc.parse(text)).has_value()) << text;
}

// 24: items; in it 1: the schema.
std::string nestedSchema(int depth) {
  std::string inside;
  for (int i = 0; i < depth; ++i) {
    std::string items, around;
    appendBytes(1, inside, items);
    appendBytes(24, items, around);
    inside = around;
  }
  std::string validation, version, spec, raw;
  appendBytes(1, inside, validation);
  appendBytes(4, validation, version);
  appendBytes(7, version, spec);
  appendBytes(2, spec, raw);
  return enveloped("apiextensions.k8s.io/v1", "CustomResourceDefinition", raw);
}

TEST(Envelope, NestingHasAnEnd) {
  EXPECT_TRUE(fromProtobuf(nestedSchema(kDeepest / 2)).has_value());
  EXPECT_THAT(fromProtobuf(nestedSchema(kDeepest)).error().text(), HasSubstr("inside each other"));
}

TEST(Envelope, HostileBytesAreRefusedWithASentence) {
  const auto with = [](uint32_t number, std::string_view bytes) {
    std::string raw;
    appendBytes(number, bytes, raw);
    return raw;
  };
  std::string wrong, time;
  appendNumber(1, 5, wrong);
  appendNumber(1, ~uint64_t{0} >> 1, time);
  struct Row {
    std::string bytes;
    const char* want;
  };
  const Row kRows[] = {
      {"", "want the bytes 'k8s'"},
      {"k8s", "want the bytes 'k8s'"},
      {R"({"kind":"Pod"})", "want the bytes 'k8s'"},
      {enveloped("v1", "Pod", "\x0a\x7f"), "127 bytes are announced"},
      {enveloped("v1", "Nothing", ""), "Nothing in version \"v1\""},
      {enveloped("example.com/v1", "Pod", ""), "no such kind is known"},
      {enveloped("v1", "Pod", wrong), "metadata: wire type 0 where 2 is expected"},
      {enveloped("v1", "Pod", with(1, with(1, "\xff\xfe"))),
       "metadata: name: the text is not UTF-8"},
      {enveloped("v1", "Pod", with(1, with(8, time))), "creationTimestamp: 9223372036854775807 s"},
      {enveloped("v1", "Pod", with(1, with(17, with(7, with(1, "{oops"))))), "fieldsV1"},
      {enveloped("v1", std::string("P\xff"), ""), "not UTF-8"},
  };
  for (const Row& row : kRows) {
    auto object = fromProtobuf(row.bytes);
    ASSERT_FALSE(object.has_value()) << row.want;
    EXPECT_THAT(object.error().text(), HasSubstr(row.want));
  }
}

TEST(Envelope, EveryTruncationIsHandled) {
  const std::string whole =
      packed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":)"
             R"({"containers":[{"name":"c","ports":[{"containerPort":80}]}]}})");
  for (size_t length = 0; length < whole.size(); ++length)
    (void)fromProtobuf(std::string_view(whole).substr(0, length));
  EXPECT_TRUE(fromProtobuf(whole).has_value());
}

}  // namespace
}  // namespace mangrove::apiserver::protobuf
