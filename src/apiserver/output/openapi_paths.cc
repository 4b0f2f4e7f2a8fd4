#include "apiserver/output/openapi_paths.h"

#include <fmt/core.h>

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kStatus = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
constexpr std::string_view kDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

struct Parameter {
  std::string_view name, type;
};
constexpr Parameter kListing[] = {{"allowWatchBookmarks", "boolean"},
                                  {"continue", "string"},
                                  {"fieldSelector", "string"},
                                  {"labelSelector", "string"},
                                  {"limit", "integer"},
                                  {"resourceVersion", "string"},
                                  {"resourceVersionMatch", "string"},
                                  {"sendInitialEvents", "boolean"},
                                  {"timeoutSeconds", "integer"},
                                  {"watch", "boolean"}};
constexpr Parameter kWriting[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}};
constexpr Parameter kPatching[] = {{"dryRun", "string"},
                                   {"fieldManager", "string"},
                                   {"fieldValidation", "string"},
                                   {"force", "boolean"}};
constexpr Parameter kDeleting[] = {{"dryRun", "string"},
                                   {"gracePeriodSeconds", "integer"},
                                   {"orphanDependents", "boolean"},
                                   {"propagationPolicy", "string"}};

// One HTTP method on one path.
struct Method {
  std::string_view method;  // "get", "post", …
  std::string_view action;  // x-kubernetes-action: "list", "post", "patch", …
  std::span<const Parameter> query;
  std::string body;    // definition of what is sent, "" for none
  std::string answer;  // definition of what comes back, "" when unknown
};

class PathWriter {
 public:
  PathWriter(const GroupVersion& version, OpenApi form, DefinitionWriter& definitions,
             json::Object& paths)
      : version_(version), form_(form), definitions_(definitions), paths_(paths) {}

  void add(const KindInfo& kind) {
    const std::string name = definitions_.addKind(kind);
    const std::string root = fmt::format("/{}/", version_.path());
    const std::string inside = kind.namespaced ? root + "namespaces/{namespace}/" : root;
    const std::string all = inside + std::string(kind.plural);
    addCollection(kind, name, all);
    if (kind.namespaced && kind.can("list"))
      addOperation(root + std::string(kind.plural), kind,
                   {"get", "list", kListing, "", name + "List"});
    addItem(kind, name, all + "/{name}");
    for (const Subresource& sub : kind.subresources) addSubresource(kind, sub, all + "/{name}/");
  }

 private:
  void addCollection(const KindInfo& kind, const std::string& name, const std::string& path) {
    if (kind.can("list")) addOperation(path, kind, {"get", "list", kListing, "", name + "List"});
    if (kind.can("create")) addOperation(path, kind, {"post", "post", kWriting, name, name});
    if (kind.can("deletecollection"))
      addOperation(path, kind,
                   {"delete", "deletecollection", kListing, type(kDeleteOptions), type(kStatus)});
  }

  void addItem(const KindInfo& kind, const std::string& name, const std::string& path) {
    if (kind.can("get")) addOperation(path, kind, {"get", "get", {}, "", name});
    if (kind.can("update")) addOperation(path, kind, {"put", "put", kWriting, name, name});
    if (kind.can("patch")) addOperation(path, kind, {"patch", "patch", kPatching, name, name});
    if (kind.can("delete"))
      addOperation(path, kind,
                   {"delete", "delete", kDeleting, type(kDeleteOptions), type(kStatus)});
  }

  void addSubresource(const KindInfo& kind, const Subresource& sub, const std::string& prefix) {
    const std::string path = prefix + std::string(sub.name);
    const std::string name = definitions_.addSubresource(kind, sub);
    for (std::string_view verb : sub.verbs) {
      Method operation{"get", "get", {}, "", name};
      if (verb == "create") operation = {"post", "post", kWriting, name, name};
      if (verb == "update") operation = {"put", "put", kWriting, name, name};
      if (verb == "patch") operation = {"patch", "patch", kPatching, name, name};
      if (verb == "delete") operation = {"delete", "delete", {}, "", name};
      addOperation(path, kind, operation, groupVersionKind(sub.group, sub.version, sub.kind));
    }
  }

  std::string type(std::string_view name) { return definitions_.addType(name); }

  void addOperation(const std::string& path, const KindInfo& kind, const Method& operation,
                    json::Value gvk = nullptr) {
    if (gvk.is_null()) gvk = groupVersionKind(kind.group, kind.version, kind.kind);
    json::Value& slot = paths_[path];
    if (!slot.is_object()) slot = pathItem(path);
    slot.get_object()[operation.method] = operationText(kind, operation, std::move(gvk));
  }

  json::Object pathItem(const std::string& path) const {
    json::Array parameters;
    for (std::string_view name : {"name", "namespace"}) {
      if (path.find(fmt::format("{{{}}}", name)) == std::string::npos) continue;
      parameters.push_back(parameterText({name, "string"}, "path"));
    }
    json::Object item;
    if (!parameters.empty()) item["parameters"] = std::move(parameters);
    return item;
  }

  json::Object parameterText(const Parameter& parameter, std::string_view in) const {
    json::Object out{{"name", parameter.name}, {"in", in}};
    if (in == "path") out["required"] = true;
    if (form_ == OpenApi::kV3)
      out["schema"] = json::Object{{"type", parameter.type}};
    else
      out["type"] = parameter.type;
    return out;
  }

  json::Object operationText(const KindInfo& kind, const Method& operation, json::Value gvk) {
    json::Array parameters;
    for (const Parameter& parameter : operation.query)
      parameters.push_back(parameterText(parameter, "query"));
    json::Object out;
    const bool patch = operation.method == "patch";
    if (!operation.body.empty()) putBody(operation, patchTypes(kind, patch), out, parameters);
    if (!parameters.empty()) out["parameters"] = std::move(parameters);
    out["responses"] = responses(operation);
    out["x-kubernetes-action"] = operation.action;
    out["x-kubernetes-group-version-kind"] = std::move(gvk);
    return out;
  }

  static std::vector<std::string_view> patchTypes(const KindInfo& kind, bool patch) {
    if (!patch) return {"application/json"};
    std::vector<std::string_view> types = {"application/apply-patch+yaml",
                                           "application/json-patch+json",
                                           "application/merge-patch+json"};
    if (!kind.isCustom) types.push_back("application/strategic-merge-patch+json");
    return types;
  }

  void putBody(const Method& operation, const std::vector<std::string_view>& types,
               json::Object& out, json::Array& parameters) const {
    const bool patch = operation.method == "patch";
    json::Object schema =
        patch ? json::Object{{"type", "object"}} : definitions_.reference(operation.body);
    if (form_ == OpenApi::kV2) {
      out["consumes"] = json::Array(types.begin(), types.end());
      out["produces"] = json::Array{"application/json"};
      parameters.push_back(json::Object{
          {"name", "body"}, {"in", "body"}, {"required", true}, {"schema", std::move(schema)}});
      return;
    }
    json::Object content;
    for (std::string_view type : types) content[type] = json::Object{{"schema", schema}};
    out["requestBody"] = json::Object{{"content", std::move(content)}};
  }

  json::Object responses(const Method& operation) const {
    json::Object ok{{"description", "OK"}};
    if (!operation.answer.empty()) {
      json::Object schema = definitions_.reference(operation.answer);
      if (form_ == OpenApi::kV2)
        ok["schema"] = std::move(schema);
      else
        ok["content"] =
            json::Object{{"application/json", json::Object{{"schema", std::move(schema)}}}};
    }
    return {{"200", std::move(ok)}};
  }

  const GroupVersion& version_;
  OpenApi form_;
  DefinitionWriter& definitions_;
  json::Object& paths_;
};

}  // namespace

void addPaths(const GroupVersion& version, OpenApi form, DefinitionWriter& definitions,
              json::Object& paths) {
  PathWriter writer(version, form, definitions, paths);
  for (const ResourcePtr& resource : version.resources) writer.add(*resource->kind);
}

}  // namespace mangrove::apiserver
