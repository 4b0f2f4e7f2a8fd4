#include "workloads/revisions.h"

#include <algorithm>

#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

json::Value contentOf(std::string_view text) {
  auto value = json::parse(text);
  return value ? std::move(*value) : json::Value();
}

json::Object revisionBody(const api::Kind& kind, const WorkloadHead& head, std::string name,
                          json::Value data, int64_t number) {
  json::Object labels;
  if (head.selector)
    for (const auto& [key, value] : head.selector->matchLabels) labels[key.view()] = value.view();
  labels[kRevisionHash] = revisionHash(head, name);
  json::Object meta{{"name", std::move(name)},
                    {"namespace", head.meta.ns.view()},
                    {"labels", std::move(labels)},
                    {"ownerReferences", json::Array{ownerReference(kind, head.meta)}}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "ControllerRevision"},
          {"metadata", std::move(meta)},
          {"data", std::move(data)},
          {"revision", number}};
}

client::Ref refTo(const ControllerRevision& revision) {
  return {kControllerRevision, std::string(revision.meta.ns.view()), revision.meta.name.str()};
}

void forgetOld(const WorkloadHead& head, Revisions old, const std::vector<std::string>& inUse,
               Plan& plan) {
  std::erase_if(old, [&](const auto& revision) {
    const std::string name = revision->meta.name.str();
    return std::find(inUse.begin(), inUse.end(), name) != inUse.end();
  });
  std::sort(old.begin(), old.end(),
            [](const auto& a, const auto& b) { return a->revision < b->revision; });
  const auto keep = static_cast<size_t>(std::max(0, head.revisionHistoryLimit));
  for (size_t i = 0; i + keep < old.size(); ++i) {
    Removal removal{refTo(*old[i]), {}};
    removal.options.uid = old[i]->meta.uid;
    plan.remove.push_back(std::move(removal));
  }
}

}  // namespace

std::string revisionHash(const WorkloadHead& head, std::string_view revisionName) {
  const std::string_view name = head.meta.name.view();
  return revisionName.size() > name.size() + 1 ? std::string(revisionName.substr(name.size() + 1))
                                               : std::string(revisionName);
}

std::string revisionData(std::string_view templateText) {
  json::Value podTemplate = contentOf(templateText);
  if (podTemplate.is_object()) podTemplate.get_object()["$patch"] = "replace";
  return json::write(json::Object{{"spec", json::Object{{"template", std::move(podTemplate)}}}});
}

std::string templateOf(const WorkloadHead& head, const Revisions& revisions,
                       std::string_view name) {
  for (const auto& revision : revisions) {
    if (revision->meta.name.view() != name) continue;
    json::Value data = contentOf(revision->data.text);
    json::Object* spec = data.is_object() ? data.get_object()["spec"].if_object() : nullptr;
    json::Object* podTemplate = spec ? (*spec)["template"].if_object() : nullptr;
    if (!podTemplate) break;
    podTemplate->erase("$patch");
    return json::write(*podTemplate);
  }
  return head.podTemplate.text;
}

std::string planRevisions(const api::Kind& kind, const WorkloadHead& head,
                          const Revisions& revisions, const std::vector<std::string>& inUse,
                          Plan& plan) {
  const json::Value wanted = contentOf(revisionData(head.podTemplate.text));
  int64_t highest = 0;
  const ControllerRevision* present = nullptr;
  Revisions old;
  for (const auto& revision : revisions) {
    highest = std::max(highest, revision->revision);
    if (!present && json::equal(contentOf(revision->data.text), wanted))
      present = revision.get();
    else
      old.push_back(revision);
  }
  forgetOld(head, std::move(old), inUse, plan);
  if (present) {
    if (present->revision < highest)
      plan.change.push_back(
          {refTo(*present), client::PatchType::kMerge, {{"revision", highest + 1}}, {}});
    return present->meta.name.str();
  }
  std::string name =
      head.meta.name.str() + "-" + hashName(json::writeSorted(wanted), head.collisionCount);
  plan.create.push_back({kControllerRevision, std::string(head.meta.ns.view()),
                         revisionBody(kind, head, name, wanted, highest + 1)});
  return name;
}

}  // namespace mangrove::workloads
