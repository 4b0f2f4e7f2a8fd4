// Pod mutating admission: profiles, translation, extended-resource-spec, devices (docs/webhooks.md).
#include "api/object/core_objects.h"
#include "api/wire/names.h"
#include "manager/webhook/pod/mutate.h"
#include "vector_runner/admission_case.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

json::Object* annotationsOf(json::Value& object) {
  json::Value* metadata =
      object.is_object() ? object.get_object().if_contains("metadata") : nullptr;
  if (!metadata || !metadata->is_object()) return nullptr;
  json::Value* annotations = metadata->get_object().if_contains("annotations");
  return annotations ? annotations->if_object() : nullptr;
}

void eachOf(const json::Value& list, const std::function<void(const json::Value&)>& visit) {
  if (list.is_array())
    for (const json::Value& one : list.get_array()) visit(one);
}

manager::Surroundings surroundingsOf(const json::Object& c) {
  const json::Value& fixtures = member(c, "fixtures");
  const json::Object none;
  const json::Object& shared = fixtures.is_object() ? fixtures.get_object() : none;
  manager::Surroundings around;
  auto namespaces = std::make_shared<manager::NamespaceLabels>();
  eachOf(member(shared, "namespaces"), [&](const json::Value& value) {
    auto ns = api::decodeText<api::Namespace>(json::write(value));
    (*namespaces)[ns->meta.name.str()] = ns->meta.labels;
  });
  auto classes = std::make_shared<manager::PriorityClasses>();
  eachOf(member(shared, "priorityClasses"), [&](const json::Value& value) {
    auto one = api::decodeText<api::PriorityClass>(json::write(value));
    (*classes)[one->meta.name.str()] = {one->value, one->preemptionPolicy};
  });
  manager::ProfileIndex::Profiles profiles;
  eachOf(member(c, "profiles"), [&](const json::Value& value) {
    auto profile = api::decodeText<api::ColocationProfile>(json::write(value));
    profiles.push_back(std::make_shared<const manager::Profile>(manager::compileProfile(*profile)));
  });
  around.namespaces = std::move(namespaces);
  around.priorityClasses = std::move(classes);
  around.profiles = std::make_shared<const manager::ProfileIndex>(std::move(profiles));
  around.draw = [draw = static_cast<int>(number(c, "rand_0_99"))] { return draw; };
  return around;
}

void compare(const json::Object& c, Report& r, const manager::Surroundings& around) {
  AdmissionCase question(manager::Operation::kCreate, member(c, "pod"), nullptr);
  const manager::Review review = manager::mutatePod(question.request(), around);
  const json::Value& expect = member(c, "expect");
  const json::Value& error = member(expect.get_object(), "error");
  const bool wantError = error.is_bool() && error.get_bool();
  r.expect("error", wantError, !review.allowed);
  if (wantError || !review.allowed) return;
  json::Value want = member(expect.get_object(), "pod"), got = question.after(review);
  eachOf(member(c, "ignore_annotations"), [&](const json::Value& key) {
    dropAnnotation(want, key.get_string());
    dropAnnotation(got, key.get_string());
  });
  unfoldAnnotation(want, api::annotation::kExtendedResourceSpec);
  unfoldAnnotation(got, api::annotation::kExtendedResourceSpec);
  r.expectAmounts("pod", want, got);
}

}  // namespace

void unfoldAnnotation(json::Value& object, std::string_view key) {
  json::Object* annotations = annotationsOf(object);
  json::Value* text = annotations ? annotations->if_contains(key) : nullptr;
  if (text == nullptr || !text->is_string()) return;
  auto parsed = json::parse(text->get_string());
  if (parsed) *text = *parsed;
}

void dropAnnotation(json::Value& object, std::string_view key) {
  if (json::Object* annotations = annotationsOf(object)) annotations->erase(key);
}

void podMutating(const json::Object& c, Report& r) {
  compare(c, r, surroundingsOf(c));
}

void podMutatingDevice(const json::Object& c, Report& r) {
  compare(c, r, {});
}

}  // namespace mangrove::vectors
