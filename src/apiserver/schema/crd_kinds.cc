#include "apiserver/schema/crd_kinds.h"

#include "apiserver/kinds/inspect.h"
#include "apiserver/schema/crd_schema.h"
#include "apiserver/schema/crd_validation.h"
#include "apiserver/schema/defaulting.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

class KindBuilder {
 public:
  KindBuilder(const Inspect& spec, const Inspect& version)
      : spec_(spec), version_(version), set_(SchemaSet::make()) {}

  std::shared_ptr<KindInfo> build(std::string_view stored, std::vector<std::string>& warnings) {
    auto kind = std::make_shared<KindInfo>();
    kind->isCustom = true;
    kind->version = copy(version_.text("name"));
    kind->group = copy(spec_.text("group"));
    kind->namespaced = spec_.text("scope") == "Namespaced";
    kind->storage = version_.flag("storage");
    kind->storedGroup = kind->group;
    kind->storedVersion = copy(stored);
    kind->verbs = {"delete", "deletecollection", "get",    "list",
                   "patch",  "create",           "update", "watch"};
    setNames(*kind);
    setSubresources(*kind);
    for (const json::Value& field : version_.array("selectableFields"))
      if (field.is_object())
        kind->selectable.push_back(copy(textIn(field.get_object(), "jsonPath").substr(1)));
    if (version_.has("additionalPrinterColumns"))
      kind->printerColumns = set_->add(version_.value("additionalPrinterColumns"));
    setSchema(*kind, warnings);
    return kind;
  }

 private:
  std::string_view copy(std::string_view text) { return set_->text(text); }

  void setNames(KindInfo& kind) {
    Inspect names = spec_.child("names");
    kind.kind = copy(names.text("kind"));
    kind.plural = copy(names.text("plural"));
    std::string singular(names.text("singular")), list(names.text("listKind"));
    kind.singular = copy(singular.empty() ? lower(kind.kind) : singular);
    kind.listKind = copy(list.empty() ? std::string(kind.kind) + "List" : list);
    for (const json::Value& name : names.array("shortNames"))
      if (name.is_string()) kind.shortNames.push_back(copy(name.get_string()));
    for (const json::Value& name : names.array("categories"))
      if (name.is_string()) kind.categories.push_back(copy(name.get_string()));
  }

  void setSubresources(KindInfo& kind) {
    Inspect subresources = version_.child("subresources");
    if (subresources.has("status"))
      kind.subresources.push_back(
          {"status", {"get", "patch", "update"}, kind.group, kind.version, kind.kind});
    if (!subresources.has("scale")) return;
    Inspect scale = subresources.child("scale");
    kind.specReplicasPath = copy(scale.text("specReplicasPath"));
    kind.statusReplicasPath = copy(scale.text("statusReplicasPath"));
    kind.labelSelectorPath = copy(scale.text("labelSelectorPath"));
    kind.subresources.push_back(
        {"scale", {"get", "patch", "update"}, "autoscaling", "v1", "Scale"});
  }

  void setSchema(KindInfo& kind, std::vector<std::string>& warnings) {
    Inspect validation = version_.child("schema");
    Inspect source = validation.child("openAPIV3Schema");
    CompiledSchema compiled = compileSchema(source.object(), source.at(), *set_, version_.errors());
    set_->finish();
    kind.schema = set_->ref(compiled.root);
    kind.defaultsOnRead = hasDefaults(*kind.schema);
    for (std::string& warning : compiled.warnings) warnings.push_back(std::move(warning));
  }

  const Inspect& spec_;
  const Inspect& version_;
  std::shared_ptr<SchemaSet> set_;
};

}  // namespace

Result<CustomKinds> customKinds(const json::Object& crd) {
  FieldErrors errors;
  validateCrd(crd, errors);
  if (!errors.empty())
    return invalid("CustomResourceDefinition \"{}\" is invalid: {}",
                   textIn(objectIn(crd, "metadata"), "name"), errors.text());
  CustomKinds out;
  Inspect root(crd, errors);
  Inspect spec = root.child("spec");
  spec.each("versions", [&](const Inspect& version) {
    if (version.flag("storage")) out.storageVersion = version.text("name");
  });
  spec.each("versions", [&](const Inspect& version) {
    if (version.flag("served"))
      out.kinds.push_back(KindBuilder(spec, version).build(out.storageVersion, out.warnings));
  });
  return out;
}

}  // namespace mangrove::apiserver
