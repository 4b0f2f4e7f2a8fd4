#include "api/koordinator/colocation_profile.h"

#include "api/wire/schema.h"

namespace mangrove::api {

using Spec = ColocationProfileSpec;
static constexpr Schema kSpec{
    unlessUnset<&Spec::namespaceSelector>("namespaceSelector"),
    unlessUnset<&Spec::selector>("selector"),
    unlessUnset<&Spec::probability>("probability"),
    unlessUnset<&Spec::qosClass>("qosClass"),
    unlessUnset<&Spec::priorityClassName>("priorityClassName"),
    unlessUnset<&Spec::koordinatorPriority>("koordinatorPriority"),
    unlessUnset<&Spec::labels>("labels"),
    unlessUnset<&Spec::annotations>("annotations"),
    unlessUnset<&Spec::labelKeysMapping>("labelKeysMapping"),
    unlessUnset<&Spec::annotationKeysMapping>("annotationKeysMapping"),
    unlessUnset<&Spec::labelSuffixes>("labelSuffixes"),
    unlessUnset<&Spec::schedulerName>("schedulerName"),
    unlessUnset<&Spec::patch>("patch"),
};
bool read(const In& in, ColocationProfileSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const ColocationProfileSpec& value) {
  return kSpec.write(value);
}

bool read(const In& in, ColocationProfile& out) {
  static constexpr Fields fields{
      field<&ColocationProfile::meta>("metadata"),
      field<&ColocationProfile::spec>("spec"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
