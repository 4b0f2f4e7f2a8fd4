// Objects of every kind as Kubernetes' own types wrote them in JSON and in protobuf
// (test/oracle/protobuf): both must be the same object to us, and our protobuf must be it too.
// MANGROVE_PROTOBUF_ORACLE names another recording, MANGROVE_PROTOBUF_OUT a file for our own bytes,
// for the oracle to check.
#include <cstdlib>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/protobuf/envelope.h"
#include "apiserver/schema/decoding.h"
#include "base/text/encoding.h"

namespace mangrove::apiserver::protobuf {
namespace {

std::string textOf(const json::Value& object, const char* key) {
  const json::Value* value = object.as_object().if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// Also of what is no kind of its own: Scale, Eviction, DeleteOptions. nullptr: not ours.
const Schema* schemaOf(const std::string& apiVersion, const std::string& name) {
  if (name == "DeleteOptions" || name == "Status")
    return catalogue().type("io.k8s.apimachinery.pkg.apis.meta.v1." + name);
  for (const auto& kind : catalogue().kinds()) {
    if (kind->apiVersion() != apiVersion) continue;
    const std::string_view like = kind->schema->name;
    return catalogue().type(std::string(like.substr(0, like.rfind('.') + 1)) + name);
  }
  return nullptr;
}

std::string itemKind(const std::string& kind) {
  return kind.ends_with("List") ? kind.substr(0, kind.size() - 4) : "";
}

void normalise(const Schema& schema, json::Value& object) {
  auto decoded = decode(schema, object, "object");
  EXPECT_TRUE(decoded.has_value()) << decoded.error().text();
  EXPECT_TRUE(!decoded || decoded->unknown.empty()) << json::write(object);
}

// In the one spelling that is stored.
std::string canonical(json::Value object) {
  const std::string apiVersion = textOf(object, "apiVersion"), kind = textOf(object, "kind");
  if (const Schema* schema = schemaOf(apiVersion, kind)) {
    normalise(*schema, object);
  } else if (const Schema* item = schemaOf(apiVersion, itemKind(kind))) {
    json::Value& items = object.at("items");
    if (items.is_null()) items.emplace_array();  // Go's nil
    for (json::Value& one : items.as_array()) normalise(*item, one);
  }
  return json::writeSorted(object);
}

bool isOurs(const json::Value& object) {
  const std::string apiVersion = textOf(object, "apiVersion"), kind = textOf(object, "kind");
  return schemaOf(apiVersion, kind) != nullptr || schemaOf(apiVersion, itemKind(kind)) != nullptr;
}

// Objects are long; what matters is where they part.
::testing::AssertionResult same(const std::string& got, const std::string& want) {
  if (got == want) return ::testing::AssertionSuccess();
  size_t at = 0;
  while (at < got.size() && at < want.size() && got[at] == want[at]) ++at;
  const size_t from = at > 80 ? at - 80 : 0;
  return ::testing::AssertionFailure()
         << "got  …" << got.substr(from, 200) << "\nwant …" << want.substr(from, 200);
}

std::optional<std::string> ours(const json::Value& object) {
  json::Doc doc;
  auto view = doc.parse(json::write(object));
  return view ? toProtobuf(*view) : std::nullopt;
}

std::ifstream openRecording() {
  const char* other = std::getenv("MANGROVE_PROTOBUF_ORACLE");
  return std::ifstream(other != nullptr ? other
                                        : MANGROVE_SOURCE_DIR "/test/oracle/protobuf.jsonl");
}

class Oracle : public ::testing::Test {
 protected:
  Oracle() {
    if (const char* path = std::getenv("MANGROVE_PROTOBUF_OUT")) out_.open(path);
  }

  void compare(const json::Value& recorded) {
    const json::Value& object = recorded.at("json");
    const auto bytes = base64Decode(recorded.at("protobuf").as_string());
    ASSERT_TRUE(bytes.has_value());
    if (!isOurs(object)) return;
    auto theirs = fromProtobuf(*bytes);
    ASSERT_TRUE(theirs.has_value()) << theirs.error().text();
    const std::string want = canonical(object);
    EXPECT_TRUE(same(canonical(*theirs), want));
    const auto own = ours(object);
    ASSERT_TRUE(own.has_value());
    auto back = fromProtobuf(*own);
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_TRUE(same(canonical(*back), want));
    seen_.insert(textOf(object, "apiVersion") + " " + textOf(object, "kind"));
    if (out_.is_open())
      out_ << json::write(json::Object{{"json", object}, {"protobuf", base64Encode(*own)}}) << "\n";
  }

  std::ofstream out_;
  std::set<std::string> seen_;
};

TEST_F(Oracle, KubernetesOwnTypesAgree) {
  std::ifstream in = openRecording();
  for (std::string line; std::getline(in, line);) {
    auto recorded = json::parse(line);
    ASSERT_TRUE(recorded.has_value());
    SCOPED_TRACE(textOf(recorded->at("json"), "kind"));
    compare(*recorded);
  }
  for (const auto& kind : catalogue().kinds()) {
    // Of the metrics server and the aggregator, whose types the recording does not have.
    if (kind->group == "metrics.k8s.io" || kind->group == "apiregistration.k8s.io") continue;
    EXPECT_TRUE(seen_.contains(kind->apiVersion() + " " + std::string(kind->kind)))
        << kind->apiVersion() << " " << kind->kind;
  }
}

// What clients really send: the recorded creates.
TEST(Recorded, CreatesSurviveProtobuf) {
  std::ifstream in(MANGROVE_SOURCE_DIR "/test/recorded/creates.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    json::Value object = json::parse(line)->at("object");
    const Schema* schema = schemaOf(textOf(object, "apiVersion"), textOf(object, "kind"));
    if (schema == nullptr || !decode(*schema, object, "object")) continue;
    const auto bytes = ours(object);
    ASSERT_TRUE(bytes.has_value()) << line;
    auto back = fromProtobuf(*bytes);
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_TRUE(same(canonical(*back), canonical(object)));
    ++count;
  }
  EXPECT_GE(count, 60u);
}

}  // namespace
}  // namespace mangrove::apiserver::protobuf
