// Volumes of a pod: named once, exactly one source, the members a source cannot do without.
#include <set>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"

namespace mangrove::apiserver {
namespace {

struct SourceRule {
  std::string_view source;
  std::string_view needs;
};
constexpr SourceRule kNeeds[] = {
    {"hostPath", "path"},
    {"configMap", "name"},
    {"secret", "secretName"},
    {"persistentVolumeClaim", "claimName"},
    {"nfs", "server"},
    {"nfs", "path"},
    {"csi", "driver"},
    {"image", "reference"},
    {"gcePersistentDisk", "pdName"},
    {"awsElasticBlockStore", "volumeID"},
    {"azureFile", "secretName"},
    {"flexVolume", "driver"},
};

void checkItems(const Inspect& source) {
  source.each("items", [](const Inspect& item) {
    if (!item.has("fieldRef") && !item.has("resourceFieldRef")) item.wants("key");
    if (item.wants("path")) item.check("path", pathInVolumeTrouble(item.text("path")));
  });
  source.inRange("defaultMode", 0, 0777);
}

void checkSource(const Inspect& volume) {
  size_t count = volume.object().size() - (volume.has("name") ? 1 : 0);
  if (count == 0) volume.errors().required(volume.at(), "must specify a volume type");
  if (count > 1) volume.errors().forbidden(volume.at(), "may not specify more than 1 volume type");
  for (const SourceRule& rule : kNeeds) {
    if (!volume.has(rule.source)) continue;
    Inspect source = volume.child(rule.source);
    source.wants(rule.needs);
  }
  for (std::string_view key : {"configMap", "secret", "downwardAPI"}) {
    Inspect source = volume.child(key);
    checkItems(source);
  }
  Inspect projected = volume.child("projected");
  projected.each("sources", [](const Inspect& source) {
    for (std::string_view key : {"configMap", "secret", "downwardAPI"}) {
      Inspect part = source.child(key);
      checkItems(part);
    }
    Inspect token = source.child("serviceAccountToken");
    if (source.has("serviceAccountToken") && token.wants("path"))
      token.check("path", pathInVolumeTrouble(token.text("path")));
  });
  Inspect host = volume.child("hostPath");
  if (host.text("path").find("..") != std::string_view::npos &&
      !pathInVolumeTrouble(host.text("path").substr(1)).empty())
    host.invalid("path", "must not contain '..'");
}

void checkEphemeral(const Inspect& volume) {
  if (!volume.has("ephemeral")) return;
  Inspect ephemeral = volume.child("ephemeral");
  if (!ephemeral.wantsSome("volumeClaimTemplate")) return;
  Inspect claim = ephemeral.child("volumeClaimTemplate");
  Inspect spec = claim.child("spec");
  checkClaimSpec(spec);
}

}  // namespace

void checkVolumes(const Inspect& spec) {
  std::set<std::string_view> names;
  spec.each("volumes", [&](const Inspect& volume) {
    if (volume.wants("name")) {
      volume.check("name", labelTrouble(volume.text("name")));
      if (!names.insert(volume.text("name")).second) volume.duplicate("name");
    }
    checkSource(volume);
    checkEphemeral(volume);
  });
}

}  // namespace mangrove::apiserver
