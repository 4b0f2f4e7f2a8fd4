#include "workloads/autoscaler/objects.h"

namespace mangrove::workloads {

using api::field;
using api::Fields;
using api::In;
using api::via;

bool read(const In& in, ScaleTarget& out) {
  static constexpr Fields fields{
      field<&ScaleTarget::apiVersion>("apiVersion"),
      field<&ScaleTarget::kind>("kind"),
      field<&ScaleTarget::name>("name"),
  };
  return fields.read(in, out);
}

static bool readMetricTarget(const In& in, MetricWish& out) {
  static constexpr Fields fields{
      field<&MetricWish::utilization>("averageUtilization"),
      field<&MetricWish::average>("averageValue"),
  };
  return fields.read(in, out);
}

static bool readMetricSource(const In& in, MetricWish& out) {
  static constexpr Fields fields{
      field<&MetricWish::resource>("name"),
      field<&MetricWish::container>("container"),
      via<readMetricTarget>("target"),
  };
  return fields.read(in, out);
}

bool read(const In& in, MetricWish& out) {
  static constexpr Fields fields{
      field<&MetricWish::type>("type"),
      via<readMetricSource>("resource"),
      via<readMetricSource>("containerResource"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ScalePolicy& out) {
  static constexpr Fields fields{
      field<&ScalePolicy::type>("type"),
      field<&ScalePolicy::value>("value"),
      field<&ScalePolicy::periodSeconds>("periodSeconds"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ScaleRules& out) {
  static constexpr Fields fields{
      field<&ScaleRules::stabilizationSeconds>("stabilizationWindowSeconds"),
      field<&ScaleRules::select>("selectPolicy"),
      field<&ScaleRules::policies>("policies"),
      field<&ScaleRules::tolerance>("tolerance"),
  };
  return fields.read(in, out);
}

static bool readBehaviour(const In& in, Autoscaler& out) {
  static constexpr Fields fields{
      field<&Autoscaler::up>("scaleUp"),
      field<&Autoscaler::down>("scaleDown"),
  };
  return fields.read(in, out);
}

static bool readAutoscalerSpec(const In& in, Autoscaler& out) {
  static constexpr Fields fields{
      field<&Autoscaler::target>("scaleTargetRef"),
      field<&Autoscaler::least>("minReplicas"),
      field<&Autoscaler::most>("maxReplicas"),
      field<&Autoscaler::metrics>("metrics"),
      via<readBehaviour>("behavior"),
  };
  return fields.read(in, out);
}

static bool readAutoscalerStatus(const In& in, Autoscaler& out) {
  static constexpr Fields fields{
      field<&Autoscaler::lastScaleTime>("lastScaleTime"),
      field<&Autoscaler::conditions>("conditions"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Autoscaler& out) {
  static constexpr Fields fields{
      field<&Autoscaler::meta>("metadata"),
      via<readAutoscalerSpec>("spec"),
      via<readAutoscalerStatus>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::workloads
