// Text → Kubeconfig. Unknown keys are left alone, because the file belongs to kubectl and every
// tool adds its own; a known key of the wrong type is an error that names file, place and type.
#include "client/http/kubeconfig.h"
#include "json/value.h"
#include "json/yaml.h"

namespace mangrove::client {

namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

// One mapping of the file and the words that lead to it: "kubeconfig x: user 'dev'".
class Section {
 public:
  Section(const json::Object& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  // The first error sticks; the caller asks once at the end.
  void text(std::string_view key, std::string& out) {
    const json::Value* value = find(key);
    if (value == nullptr) return;
    if (value->is_string()) {
      out = std::string(value->as_string());
    } else if (value->is_int64()) {
      out = std::to_string(value->as_int64());  // an unquoted numeric token, name or password
    } else {
      wrong(key, "a string", *value);
    }
  }
  void flag(std::string_view key, bool& out) {
    const json::Value* value = find(key);
    if (value == nullptr) return;
    if (value->is_bool()) {
      out = value->as_bool();
    } else {
      wrong(key, "true or false", *value);
    }
  }
  void texts(std::string_view key, std::vector<std::string>& out) {
    for (const json::Value& value : list(key)) {
      if (value.is_string()) {
        out.emplace_back(value.as_string());
      } else {
        wrong(key, "a list of strings", value);
      }
    }
  }
  const json::Array& list(std::string_view key) {
    static const json::Array kNone;
    const json::Value* value = find(key);
    if (value == nullptr) return kNone;
    if (value->is_array()) return value->as_array();
    wrong(key, "a list", *value);
    return kNone;
  }
  const json::Object* mapping(std::string_view key) {
    const json::Value* value = find(key);
    if (value == nullptr) return nullptr;
    if (value->is_object()) return &value->as_object();
    wrong(key, "a mapping", *value);
    return nullptr;
  }
  void complain(std::string sentence) {
    if (!error_) error_ = Error(Code::kInvalid, fmt::format("{}: {}", where_, sentence));
  }
  // What went wrong in a part of this mapping, which has said where.
  void adopt(const Section& part) {
    if (!error_) error_ = part.error_;
  }
  const std::optional<Error>& error() const { return error_; }
  const json::Object& object() const { return object_; }
  const std::string& where() const { return where_; }

 private:
  const json::Value* find(std::string_view key) const {
    const json::Value* value = object_.if_contains(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void wrong(std::string_view key, std::string_view wanted, const json::Value& value) {
    std::string got = json::write(value);
    if (got.size() > 40) got = got.substr(0, 40) + "…";
    complain(fmt::format("'{}' is {}, want {}", key, got, wanted));
  }

  const json::Object& object_;
  std::string where_;
  std::optional<Error> error_;
};

void readExtensions(Section& section, KubeCluster& cluster) {
  for (const json::Value& entry : section.list("extensions")) {
    if (!entry.is_object()) continue;
    const json::Value* name = entry.as_object().if_contains("name");
    const json::Value* body = entry.as_object().if_contains("extension");
    if (name == nullptr || body == nullptr || !name->is_string()) continue;
    if (name->as_string() == kExecExtension) cluster.execConfig = json::write(*body);
  }
}

void readCluster(Section& section, KubeCluster& cluster) {
  section.text("server", cluster.server);
  section.text("certificate-authority", cluster.certificateAuthority);
  section.text("certificate-authority-data", cluster.certificateAuthorityData);
  section.text("tls-server-name", cluster.tlsServerName);
  section.text("proxy-url", cluster.proxyUrl);
  section.flag("insecure-skip-tls-verify", cluster.insecureSkipTlsVerify);
  readExtensions(section, cluster);
}

void readExecEnv(Section& section, ExecSpec& exec) {
  for (const json::Value& entry : section.list("env")) {
    if (!entry.is_object()) {
      section.complain("'env' wants entries with 'name' and 'value'");
      return;
    }
    Section pair(entry.as_object(), section.where() + " env");
    std::string name, value;
    pair.text("name", name);
    pair.text("value", value);
    if (name.empty()) pair.complain("an entry without 'name'");
    section.adopt(pair);
    exec.env.emplace_back(std::move(name), std::move(value));
  }
}

void readExec(Section& user, KubeUser& out) {
  const json::Object* object = user.mapping("exec");
  if (object == nullptr) return;
  Section section(*object, user.where() + " exec");
  ExecSpec exec;
  section.text("apiVersion", exec.apiVersion);
  section.text("command", exec.command);
  section.texts("args", exec.args);
  section.text("installHint", exec.installHint);
  section.text("interactiveMode", exec.interactiveMode);
  section.flag("provideClusterInfo", exec.provideClusterInfo);
  readExecEnv(section, exec);
  user.adopt(section);
  out.exec = std::move(exec);
}

void readImpersonation(Section& section, KubeUser& user) {
  section.text("as", user.impersonate);
  section.text("as-uid", user.impersonateUid);
  section.texts("as-groups", user.impersonateGroups);
  const json::Object* extra = section.mapping("as-user-extra");
  if (extra == nullptr) return;
  Section fields(*extra, section.where() + " as-user-extra");
  for (const auto& entry : *extra) {
    std::vector<std::string> values;
    fields.texts(entry.key(), values);
    user.impersonateExtra.emplace_back(std::string(entry.key()), std::move(values));
  }
  section.adopt(fields);
}

void readUser(Section& section, KubeUser& user) {
  section.text("client-certificate", user.clientCertificate);
  section.text("client-certificate-data", user.clientCertificateData);
  section.text("client-key", user.clientKey);
  section.text("client-key-data", user.clientKeyData);
  section.text("token", user.token);
  section.text("tokenFile", user.tokenFile);
  section.text("username", user.username);
  section.text("password", user.password);
  readImpersonation(section, user);
  readExec(section, user);
  if (const json::Object* provider = section.mapping("auth-provider")) {
    Section named(*provider, section.where() + " auth-provider");
    user.authProvider = "unnamed";
    named.text("name", user.authProvider);
    section.adopt(named);
  }
}

void readContext(Section& section, KubeContext& context) {
  section.text("cluster", context.cluster);
  section.text("user", context.user);
  section.text("namespace", context.ns);
}

// The three lists look alike: "name" and a body under the list's singular.
template <class Entry>
Result<> readNamed(Section& top, const char* list, const char* singular,
                   void (*read)(Section&, Entry&), const std::string& file,
                   std::vector<Entry>& out) {
  for (const json::Value& item : top.list(list)) {
    if (!item.is_object()) return invalid("{}: '{}' wants entries with 'name'", top.where(), list);
    Section outer(item.as_object(), fmt::format("{}: {}", top.where(), list));
    Entry entry;
    entry.file = file;
    outer.text("name", entry.name);
    if (entry.name.empty()) outer.complain("an entry without 'name'");
    if (const json::Object* body = outer.mapping(singular)) {
      Section inner(*body, fmt::format("{}: {} '{}'", top.where(), singular, entry.name));
      read(inner, entry);
      if (inner.error()) return pass(*inner.error());
    }
    if (outer.error()) return pass(*outer.error());
    out.push_back(std::move(entry));
  }
  return {};
}

Result<> checkHeader(Section& top) {
  std::string kind, version;
  top.text("kind", kind);
  top.text("apiVersion", version);
  if (!kind.empty() && kind != "Config")
    top.complain(fmt::format("kind is '{}', want 'Config'", kind));
  if (!version.empty() && version != "v1")
    top.complain(fmt::format("apiVersion is '{}', want 'v1'", version));
  if (top.error()) return pass(*top.error());
  return {};
}

}  // namespace

Result<Kubeconfig> parseKubeconfig(std::string_view text, std::string file) {
  std::string where = fmt::format("kubeconfig {}", file);
  auto documents = json::parseYaml(text, where);
  if (!documents) return pass(documents.error());
  Kubeconfig config;
  config.file = file;
  if (documents->empty()) return config;  // an empty file says nothing, as for kubectl
  const json::Value& value = documents->front().value;
  if (documents->size() > 1) return invalid("{}: {} documents, want one", where, documents->size());
  if (!value.is_object())
    return invalid("{}: want a mapping with clusters, users, contexts", where);
  Section top(value.as_object(), where);
  if (auto good = checkHeader(top); !good) return pass(good.error());
  top.text("current-context", config.currentContext);
  if (auto r = readNamed(top, "clusters", "cluster", &readCluster, file, config.clusters); !r)
    return pass(r.error());
  if (auto r = readNamed(top, "users", "user", &readUser, file, config.users); !r)
    return pass(r.error());
  if (auto r = readNamed(top, "contexts", "context", &readContext, file, config.contexts); !r)
    return pass(r.error());
  if (top.error()) return pass(*top.error());
  return config;
}

Kubeconfig mergeKubeconfigs(std::vector<Kubeconfig> files) {
  Kubeconfig merged;
  auto addNew = [](auto& into, auto& from) {
    for (auto& entry : from) {
      bool known = false;
      for (const auto& have : into) known = known || have.name == entry.name;
      if (!known) into.push_back(std::move(entry));
    }
  };
  for (Kubeconfig& file : files) {
    merged.file += (merged.file.empty() ? "" : ":") + file.file;
    if (merged.currentContext.empty()) merged.currentContext = file.currentContext;
    addNew(merged.clusters, file.clusters);
    addNew(merged.users, file.users);
    addNew(merged.contexts, file.contexts);
  }
  return merged;
}

}  // namespace mangrove::client
