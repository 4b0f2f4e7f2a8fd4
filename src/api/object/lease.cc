#include "api/object/lease.h"

#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

bool readSpec(const In& in, Lease& out) {
  static constexpr Fields fields{
      field<&Lease::holderIdentity>("holderIdentity"),
      field<&Lease::leaseDurationSeconds>("leaseDurationSeconds"),
      field<&Lease::acquireTime>("acquireTime"),
      field<&Lease::renewTime>("renewTime"),
      field<&Lease::leaseTransitions>("leaseTransitions"),
  };
  return fields.read(in, out);
}

}  // namespace

bool read(const In& in, Lease& out) {
  static constexpr Fields fields{field<&Lease::meta>("metadata"), via<readSpec>("spec")};
  return fields.read(in, out);
}

json::Object Lease::specJson() const {
  json::Object out{{"holderIdentity", holderIdentity},
                   {"leaseDurationSeconds", leaseDurationSeconds},
                   {"leaseTransitions", leaseTransitions}};
  if (acquireTime != kZeroTime) out["acquireTime"] = formatMicroTime(acquireTime);
  if (renewTime != kZeroTime) out["renewTime"] = formatMicroTime(renewTime);
  return out;
}

json::Object Lease::toJson() const {
  json::Object metadata{{"name", meta.name.str()}, {"namespace", meta.ns.str()}};
  if (!meta.resourceVersion.empty()) metadata["resourceVersion"] = meta.resourceVersion;
  return {{"apiVersion", "coordination.k8s.io/v1"},
          {"kind", "Lease"},
          {"metadata", std::move(metadata)},
          {"spec", specJson()}};
}

}  // namespace mangrove::api
