#include "api/object/meta.h"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "api/select/label_syntax.h"
#include "api/wire/kind.h"
#include "api/wire/names.h"

namespace mangrove::api {
namespace {

TEST(ObjectMeta, ReadsEveryField) {
  auto meta = decodeText<ObjectMeta>(R"({"name":"web-0","generateName":"web-","namespace":"shop",
    "uid":"6bcd9cf4-2f2a-4a55-8b6d-0b8c7c2b2d60","resourceVersion":"123","generation":4,
    "creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:05:05Z",
    "deletionGracePeriodSeconds":30,"labels":{"b":"2","a":"1","n":null},
    "annotations":{"x":"y","kubectl.kubernetes.io/last-applied-configuration":"{}"},
    "finalizers":["f1"],"managedFields":[{"manager":"x"}],
    "ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"u1"},
      {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u2","controller":true,
       "blockOwnerDeletion":true}]})");
  ASSERT_TRUE(meta) << meta.error().text();
  EXPECT_EQ(meta->name, "web-0");
  EXPECT_EQ(meta->generateName.view(), "web-");
  EXPECT_EQ(keyOf(*meta).text(), "shop/web-0");
  EXPECT_EQ(meta->uid.str(), "6bcd9cf4-2f2a-4a55-8b6d-0b8c7c2b2d60");
  EXPECT_EQ(meta->resourceVersion, "123");
  EXPECT_EQ(meta->generation, 4);
  EXPECT_EQ(formatTime(meta->creationTimestamp), "2026-01-02T03:04:05Z");
  EXPECT_TRUE(meta->isDeleting());
  EXPECT_EQ(meta->deletionGracePeriodSeconds, 30);
  EXPECT_EQ(meta->labels, (Labels{{"a", "1"}, {"b", "2"}, {"n", ""}}));
  EXPECT_EQ(meta->annotations, (Annotations{{"x", "y"}}));
  EXPECT_EQ(meta->finalizers.front(), Interned("f1"));
  ASSERT_NE(meta->controller(), nullptr);
  EXPECT_EQ(meta->controller()->name, "web");
  EXPECT_TRUE(meta->controller()->blockOwnerDeletion);
}

TEST(ObjectMeta, AbsentIsEmpty) {
  auto meta = decodeText<ObjectMeta>(R"({"creationTimestamp":null,"labels":null})");
  ASSERT_TRUE(meta) << meta.error().text();
  EXPECT_EQ(meta->creationTimestamp, kZeroTime);
  EXPECT_FALSE(meta->isDeleting());
  EXPECT_EQ(meta->controller(), nullptr);
}

TEST(ObjectMeta, SiblingsShareTheirOwners) {
  const char* text = R"({"ownerReferences":[{"kind":"ReplicaSet","name":"rs","uid":"u"}]})";
  auto a = decodeText<ObjectMeta>(text), b = decodeText<ObjectMeta>(text);
  EXPECT_TRUE(a->owners.same(b->owners));
}

TEST(Labels, LookUpByTextAndByHandle) {
  Labels labels{{"b", "2"}, {"a", "1"}};
  EXPECT_EQ(labels.get("a"), "1");
  EXPECT_EQ(labels.get("c"), std::nullopt);
  ASSERT_NE(labels.find(Interned("b")), nullptr);
  EXPECT_EQ(*labels.find(Interned("b")), Interned("2"));
  EXPECT_EQ(labels.find(Interned("zz")), nullptr);
  labels.set("b", "3");
  labels.set("0", "x");
  labels.erase("a");
  EXPECT_EQ(labels, (Labels{{"0", "x"}, {"b", "3"}}));
  EXPECT_EQ(labels.begin()->key.view(), "0");
}

TEST(NamespacedName, ReadsBackItsText) {
  for (const char* text : {"ns/name", "name"}) EXPECT_EQ(NamespacedName::parse(text).text(), text);
  EXPECT_EQ(NamespacedName::parse("a/b").ns, "a");
}

TEST(ObjectHead, KnowsAnyKind) {
  auto head = decodeText<ObjectHead>(R"({"apiVersion":"x/v1","kind":"Y","metadata":{"name":"n"}})");
  EXPECT_EQ(head->kind, "Y");
  EXPECT_EQ(head->meta.name, "n");
}

struct PathCase {
  const Kind& kind;
  const char *ns, *name, *sub, *path;
};

TEST(Kind, BuildsPaths) {
  const PathCase table[] = {
      {kind::kPod, "", "", "", "/api/v1/pods"},
      {kind::kPod, "default", "", "", "/api/v1/namespaces/default/pods"},
      {kind::kPod, "default", "web-0", "status", "/api/v1/namespaces/default/pods/web-0/status"},
      {kind::kNode, "", "n1", "", "/api/v1/nodes/n1"},
      {kind::kNode, "ignored", "n1", "status", "/api/v1/nodes/n1/status"},
      {kind::kNamespace, "", "kube-system", "", "/api/v1/namespaces/kube-system"},
      {kind::kReplicaSet, "a", "b", "", "/apis/apps/v1/namespaces/a/replicasets/b"},
      {kind::kNodeMetric, "", "n1", "", "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/n1"},
      {kind::kClusterRole, "", "system:x", "",
       "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax"},
  };
  for (const auto& row : table) {
    const std::string name = row.name;
    EXPECT_EQ(name.empty() ? row.kind.path(row.ns) : row.kind.path(row.ns, name, row.sub),
              row.path);
  }
}

TEST(Kind, IsFoundByNameAndByPlural) {
  for (const Kind& kind : allKinds()) {
    ASSERT_NE(findKind(kind.apiVersion(), kind.kind), nullptr) << kind.kind;
    EXPECT_EQ(*findKind(kind.apiVersion(), kind.kind), kind);
    EXPECT_EQ(*findPlural(kind.group, kind.version, kind.plural), kind);
  }
  EXPECT_EQ(findKind("v1", "ReplicaSet"), nullptr);
  EXPECT_EQ(findKind("apps/v1", "Pod"), nullptr);
  EXPECT_EQ(findPlural("apps", "", "replicasets")->kind, "ReplicaSet");
  EXPECT_EQ(kind::kNodeSlo.listKind(), "NodeSLOList");
}

TEST(Kind, ParsesApiVersions) {
  EXPECT_EQ(parseApiVersion("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(parseApiVersion("apps/v1"), (GroupVersion{"apps", "v1"}));
  for (const char* bad : {"", "/v1", "apps/", "a/b/c"})
    EXPECT_EQ(parseApiVersion(bad), GroupVersion{}) << bad;
}

struct Constant {
  std::string ns, name, text;
};

std::vector<Constant> constantsOfNamesHeader() {
  std::ifstream file(std::string(MANGROVE_SOURCE_DIR) + "/src/api/wire/names.h");
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string source = buffer.str();
  const std::regex token(R"re((namespace (\w+) \{)|(std::string_view (k\w+)\s*=\s*"([^"]+)"))re");
  std::vector<Constant> constants;
  std::string ns;
  for (std::sregex_iterator at(source.begin(), source.end(), token), end; at != end; ++at) {
    if ((*at)[1].matched) ns = (*at)[2];
    if ((*at)[3].matched) constants.push_back({ns, (*at)[4], (*at)[5]});
  }
  return constants;
}

// Two constants with one text under one roof are a copy that was not edited.
TEST(Names, NoTextIsSpelledTwiceInOneNamespace) {
  std::set<std::string> seen;
  for (const Constant& c : constantsOfNamesHeader())
    EXPECT_TRUE(seen.insert(c.ns + " " + c.text).second) << c.ns << "::" << c.name;
  EXPECT_GT(seen.size(), 180u);
}

// Keys live under the family's prefixes, and every key is one a server
// accepts.
TEST(Names, KeysStandUnderKnownPrefixes) {
  std::set<std::string> prefixes;
  for (const Constant& c : constantsOfNamesHeader())
    if (c.ns == "domain") prefixes.insert(c.text);
  EXPECT_EQ(prefixes.size(), 10u);
  for (const Constant& c : constantsOfNamesHeader()) {
    const bool isKey = c.ns == "label" || c.ns == "annotation" || c.ns == "resource";
    if (!isKey || c.text.ends_with('-')) continue;
    EXPECT_EQ(labelKeyTrouble(c.text), "") << c.name;
    if (c.text.find("koordinator.sh") == std::string::npos) continue;
    EXPECT_TRUE(prefixes.contains(c.text.substr(0, c.text.find('/') + 1))) << c.name;
  }
}

}  // namespace
}  // namespace mangrove::api
