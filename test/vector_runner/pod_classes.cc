// QoS and priority lookups of a pod (spec 01 §3).
#include "api/classes.h"
#include "api/names.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

void podClasses(const json::Object& c, Report& r) {
  auto pod = api::decodeText<api::Pod>(json::write(member(c, "pod")));
  if (!pod) return r.mismatch("pod", "decodes", pod.error().text());
  const json::Object none;
  const json::Value& wanted = member(c, "expect");
  const json::Object& want = wanted.is_object() ? wanted.get_object() : none;

  const auto band = api::bandWithDefault(*pod);
  r.expect("qos_raw", member(want, "qos_raw"), qosName(api::rawQos(pod->meta.labels)));
  r.expect("qos_with_default", member(want, "qos_with_default"),
           qosName(api::qosWithDefault(*pod)));
  r.expect("kube_qos", member(want, "kube_qos"), kubeQosName(api::kubeQos(*pod)));
  r.expect("priority_class_raw", member(want, "priority_class_raw"), bandName(api::rawBand(*pod)));
  r.expect("priority_class_with_default", member(want, "priority_class_with_default"),
           bandName(band));
  r.expect("priority_value_with_default", member(want, "priority_value_with_default"),
           api::priorityWithDefault(*pod));
  r.expect("translated_cpu", member(want, "translated_cpu"),
           api::translated(api::resource::kCpu, band));
  auto sub = api::subPriority(pod->meta.labels);
  r.expect("sub_priority", member(want, "sub_priority"),
           sub ? json::Value(*sub) : json::Value("error"));
}

}  // namespace mangrove::vectors
