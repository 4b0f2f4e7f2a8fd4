#include "api/select/label_selector.h"

#include <gtest/gtest.h>

#include "api/pod/affinity.h"
#include "api/select/field_selector.h"

namespace mangrove::api {
namespace {

struct ObjectCase {
  const char* json;  // nullptr: no selector
  Labels labels;
  bool matches;
};

TEST(LabelSelector, MissingMatchesNothingEmptyEverything) {
  const Labels web{{"app", "web"}, {"tier", "front"}};
  const ObjectCase table[] = {
      {nullptr, web, false},
      {nullptr, {}, false},
      {"{}", web, true},
      {"{}", {}, true},
      {R"({"matchLabels":{}})", web, true},
      {R"({"matchLabels":{"app":"web"}})", web, true},
      {R"({"matchLabels":{"app":"db"}})", web, false},
      {R"({"matchLabels":{"app":"web","x":"y"}})", web, false},
      {R"({"matchExpressions":[{"key":"app","operator":"In","values":["db","web"]}]})", web, true},
      {R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["web"]}]})", web, false},
      {R"({"matchExpressions":[{"key":"zone","operator":"NotIn","values":["a"]}]})", web, true},
      {R"({"matchExpressions":[{"key":"app","operator":"Exists"}]})", web, true},
      {R"({"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]})", web, false},
      {R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"x","operator":"Exists"}]})", web,
       false},
  };
  for (const auto& row : table) {
    std::optional<LabelSelector> selector;
    if (row.json) selector = *decodeText<LabelSelector>(row.json);
    auto compiled = compile(selector);
    ASSERT_TRUE(compiled) << compiled.error().text();
    EXPECT_EQ(compiled->matches(row.labels), row.matches) << (row.json ? row.json : "none");
  }
}

struct RefusedObject {
  const char* json;
  const char* error;
};

TEST(LabelSelector, RefusalsAreSentences) {
  const RefusedObject table[] = {
      {R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})",
       "matchExpressions: 'a': operator 'Gt' is unknown, want In, NotIn, Exists, DoesNotExist"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "matchExpressions: 'a' in needs at least one value"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]})",
       "matchExpressions: 'a' with Exists or DoesNotExist takes no values, found 1"},
      {R"({"matchLabels":{"a/b/c":"x"}})",
       "matchLabels: label key 'a/b/c' has more than one '/', want [prefix/]name"},
  };
  for (const auto& row : table) {
    auto compiled = compile(*decodeText<LabelSelector>(row.json));
    ASSERT_FALSE(compiled) << row.json;
    EXPECT_EQ(compiled.error().text(), row.error);
  }
}

TEST(LabelSelector, PlainMaps) {
  EXPECT_TRUE(contains({{"a", "1"}, {"b", "2"}}, {{"a", "1"}}));
  EXPECT_TRUE(contains({}, {}));
  EXPECT_FALSE(contains({{"a", "2"}}, {{"a", "1"}}));
  EXPECT_FALSE(contains({}, {{"a", "1"}}));
}

struct NodeCase {
  const char* json;
  bool matches;
};

TEST(NodeSelector, TermsAreOredExpressionsAnded) {
  const Labels labels{{"zone", "a"}, {"cores", "16"}};
  const NodeCase table[] = {
      {R"({"nodeSelectorTerms":[]})", false},
      {R"({"nodeSelectorTerms":[{}]})", false},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[]}]})", false},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}]}]})",
       true},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]},
          {"matchExpressions":[{"key":"cores","operator":"Gt","values":["8"]}]}]})",
       true},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]},
          {"key":"cores","operator":"Lt","values":["16"]}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"gpu","operator":"DoesNotExist"}]}]})",
       true},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"cores","operator":"Gt","values":["x"]}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Like","values":["a"]}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]})",
       true},
      {R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n1"]}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1","n2"]}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"Exists"}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.uid","operator":"In","values":["n1"]}]}]})",
       false},
      {R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}],
          "matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]}]})",
       false},
  };
  for (const auto& row : table) {
    auto selector = decodeText<NodeSelector>(row.json);
    ASSERT_TRUE(selector) << selector.error().text();
    EXPECT_EQ(NodeTerms(*selector).match("n1", labels), row.matches) << row.json;
  }
}

TEST(NodeSelector, KnowsPinnedNamesAndTrouble) {
  auto selector = *decodeText<NodeSelector>(R"({"nodeSelectorTerms":[
    {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]},
    {"matchExpressions":[{"key":"z","operator":"Like"}]}]})");
  NodeTerms terms(selector);
  EXPECT_EQ(terms.terms()[0].pinnedName(), "n1");
  EXPECT_EQ(terms.terms()[1].pinnedName(), std::nullopt);
  EXPECT_EQ(terms.terms()[1].trouble(),
            "matchExpressions: 'z': operator 'Like' is unknown, want In, NotIn, Exists, "
            "DoesNotExist, Gt or Lt");
}

struct FieldCase {
  const char *in, *out;
};

TEST(FieldSelector, ParsesPrintsAndMatches) {
  const FieldCase table[] = {
      {"", ""},
      {",", ""},
      {"metadata.name=x", "metadata.name=x"},
      {"metadata.name==x", "metadata.name=x"},
      {"status.phase!=Running,spec.nodeName=n1", "spec.nodeName=n1,status.phase!=Running"},
      {"a=", "a="},
      {"=x", "=x"},
      {R"(a=b\,c\=d\\e)", R"(a=b\,c\=d\\e)"},
  };
  for (const auto& row : table) {
    auto selector = FieldSelector::parse(row.in);
    ASSERT_TRUE(selector) << selector.error().text();
    EXPECT_EQ(selector->text(), row.out);
    EXPECT_EQ(*FieldSelector::parse(selector->text()), *selector);
  }
  auto wanted = *FieldSelector::parse("spec.nodeName=n1,status.phase!=Running");
  const auto phase = [&](std::string_view value) {
    return wanted.matches([&](std::string_view field) {
      return field == "spec.nodeName" ? std::string_view("n1") : value;
    });
  };
  EXPECT_TRUE(phase("Pending"));
  EXPECT_FALSE(phase("Running"));
  EXPECT_EQ(wanted.exact("spec.nodeName"), "n1");
  EXPECT_EQ(wanted.exact("status.phase"), std::nullopt);
  EXPECT_EQ(FieldSelector::parse(R"(x=a\,b)")->terms()[0].value, "a,b");
}

TEST(FieldSelector, RefusalsAreSentences) {
  const FieldCase table[] = {
      {"abc", "field selector 'abc': 'abc' must be field=value or field!=value"},
      {"a=b=c", "field selector 'a=b=c': '=' in 'b=c' must be written '\\='"},
      {R"(a=\x)", R"(field selector 'a=\x': '\x' in '\x' is no escape)"},
      {R"(a=b\)", R"(field selector 'a=b\': 'b\' ends in a lone '\')"},
  };
  for (const auto& row : table) {
    auto selector = FieldSelector::parse(row.in);
    ASSERT_FALSE(selector) << row.in;
    EXPECT_EQ(selector.error().text(), row.out);
  }
}

struct TolerationCase {
  const char* toleration;
  const char* taint;
  bool tolerated;
};

TEST(Toleration, FollowsEffectKeyAndOperator) {
  const char* taint = R"({"key":"k","value":"v","effect":"NoSchedule"})";
  const TolerationCase table[] = {
      {R"({"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"})", taint, true},
      {R"({"key":"k","value":"v"})", taint, true},
      {R"({"key":"k","value":"w"})", taint, false},
      {R"({"key":"k","operator":"Exists"})", taint, true},
      {R"({"operator":"Exists"})", taint, true},
      {R"({"key":"k","operator":"Exists","effect":"NoExecute"})", taint, false},
      {R"({"key":"other","operator":"Exists"})", taint, false},
      {R"({"key":"k","operator":"Strange","value":"v"})", taint, false},
      {R"({})", taint, false},
      {R"({"key":"k"})", R"({"key":"k","effect":"NoExecute"})", true},
  };
  for (const auto& row : table) {
    auto toleration = decodeText<Toleration>(row.toleration);
    auto against = decodeText<Taint>(row.taint);
    ASSERT_TRUE(toleration && against);
    EXPECT_EQ(tolerates(*toleration, *against), row.tolerated) << row.toleration;
  }
  EXPECT_FALSE(tolerates(std::vector<Toleration>(), *decodeText<Taint>(taint)));
}

}  // namespace
}  // namespace mangrove::api
