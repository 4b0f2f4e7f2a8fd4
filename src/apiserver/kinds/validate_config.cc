// Config maps and secrets.
#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"
#include "base/text/encoding.h"

namespace mangrove::apiserver {
namespace {

constexpr size_t kMostBytes = 1024 * 1024;

size_t checkKeys(const Inspect& root, std::string_view member, bool isBase64) {
  FieldPath at = root.at().child(member);
  size_t bytes = 0;
  for (const auto& entry : root.map(member)) {
    std::string trouble = configKeyTrouble(entry.key());
    if (!trouble.empty())
      root.errors().invalid(at.key(entry.key()), json::Value(entry.key()), trouble);
    size_t size = entry.value().is_string() ? entry.value().get_string().size() : 0;
    bytes += isBase64 ? size / 4 * 3 : size;
  }
  return bytes;
}

// What readers of a type of secret rely on.
struct TypeRule {
  std::string_view type;
  std::string_view key;
};
constexpr TypeRule kTypeRules[] = {
    {"kubernetes.io/tls", "tls.crt"},
    {"kubernetes.io/tls", "tls.key"},
    {"kubernetes.io/ssh-auth", "ssh-privatekey"},
    {"kubernetes.io/dockercfg", ".dockercfg"},
    {"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
};
constexpr std::string_view kAccountAnnotation = "kubernetes.io/service-account.name";

void checkType(const Inspect& root) {
  std::string_view type = root.text("type");
  const json::Object& data = root.map("data");
  FieldPath at = root.at().child("data");
  for (const TypeRule& rule : kTypeRules)
    if (rule.type == type && !data.contains(rule.key)) root.errors().required(at.key(rule.key));
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") &&
      !data.contains("password")) {
    root.errors().required(at.key("username"));
    root.errors().required(at.key("password"));
  }
  if (type == "kubernetes.io/dockerconfigjson" && data.contains(".dockerconfigjson")) {
    auto text = base64Decode(textIn(data, ".dockerconfigjson"));
    if (text && !json::parse(*text))
      root.errors().invalid(at.key(".dockerconfigjson"), "<secret contents redacted>", "want JSON");
  }
  if (type == "kubernetes.io/service-account-token") {
    Inspect meta = root.child("metadata");
    Inspect annotations = meta.child("annotations");
    if (annotations.text(kAccountAnnotation).empty())
      root.errors().required(annotations.at().key(kAccountAnnotation));
  }
}

void checkFrozen(const json::Object& now, const json::Object& old, FieldErrors& errors,
                 std::initializer_list<std::string_view> members) {
  const json::Value* frozen = old.if_contains("immutable");
  if (frozen == nullptr || *frozen != json::Value(true)) return;
  Inspect root(now, errors);
  if (!root.flag("immutable"))
    root.forbidden("immutable", "field is immutable when `immutable` is set");
  for (std::string_view member : members)
    if (!sameMember(now, old, member))
      root.forbidden(member, "field is immutable when `immutable` is set");
}

}  // namespace

void validateConfigMap(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  size_t bytes = checkKeys(root, "data", false) + checkKeys(root, "binaryData", true);
  for (const auto& entry : root.map("data"))
    if (root.map("binaryData").contains(entry.key()))
      errors.invalid(root.at().child("data").key(entry.key()), json::Value(entry.key()),
                     "duplicate of key present in binaryData");
  if (bytes > kMostBytes) errors.tooLong(root.at().child("data"), kMostBytes);
}

void validateConfigMapUpdate(const json::Object& now, const json::Object& old,
                             FieldErrors& errors) {
  checkFrozen(now, old, errors, {"data", "binaryData"});
}

void validateSecret(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  if (checkKeys(root, "data", true) > kMostBytes)
    errors.tooLong(root.at().child("data"), kMostBytes);
  checkType(root);
}

void validateSecretUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  root.immutable("type", old);
  checkFrozen(now, old, errors, {"data"});
}

}  // namespace mangrove::apiserver
