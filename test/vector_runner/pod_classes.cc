// QoS and priority lookups of a pod.
#include "api/pod/classes.h"
#include "api/wire/names.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

void expectText(Report& r, const json::Object& want, std::string_view field, std::string_view got) {
  r.expect(field, member(want, field), json::Value(boost::json::string_view(got)));
}

}  // namespace

void podClasses(const json::Object& c, Report& r) {
  auto pod = api::decodeText<api::Pod>(json::write(member(c, "pod")));
  if (!pod) return r.mismatch("pod", "decodes", pod.error().text());
  const json::Object none;
  const json::Value& expected = member(c, "expect");
  const json::Object& want = expected.is_object() ? expected.get_object() : none;

  const auto band = api::bandWithDefault(*pod);
  expectText(r, want, "qos_raw", qosName(api::rawQos(pod->meta.labels)));
  expectText(r, want, "qos_with_default", qosName(api::qosWithDefault(*pod)));
  expectText(r, want, "kube_qos", kubeQosName(api::kubeQos(*pod)));
  expectText(r, want, "priority_class_raw", bandName(api::rawBand(*pod)));
  expectText(r, want, "priority_class_with_default", bandName(band));
  expectText(r, want, "translated_cpu", api::translated(api::resource::kCpu, band));
  r.expect("priority_value_with_default", member(want, "priority_value_with_default"),
           api::priorityWithDefault(*pod));
  auto sub = api::subPriority(pod->meta.labels);
  r.expect("sub_priority", member(want, "sub_priority"),
           sub ? json::Value(*sub) : json::Value("error"));
}

}  // namespace mangrove::vectors
