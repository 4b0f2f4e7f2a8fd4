#include "api/object/core_objects.h"

namespace mangrove::api {

const std::string* ConfigMap::find(const std::string& key) const {
  auto at = data.find(key);
  return at == data.end() ? nullptr : &at->second;
}

bool read(const In& in, ConfigMap& out) {
  static constexpr Fields fields{
      field<&ConfigMap::meta>("metadata"),
      field<&ConfigMap::data>("data"),
      field<&ConfigMap::binaryData>("binaryData"),
      field<&ConfigMap::immutable>("immutable"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Secret& out) {
  static constexpr Fields fields{
      field<&Secret::meta>("metadata"),
      field<&Secret::type>("type"),
      field<&Secret::data>("data"),
  };
  return fields.read(in, out);
}

namespace {

bool readPhase(const In& in, Namespace& out) {
  static constexpr Word<bool> words[] = {{"Terminating", true}, {"Active", false}};
  return readWord(in, out.isTerminating, words);
}
bool readNamespaceStatus(const In& in, Namespace& out) {
  static constexpr Fields fields{via<readPhase>("phase")};
  return fields.read(in, out);
}

bool readServiceSpec(const In& in, Service& out) {
  static constexpr Fields fields{field<&Service::selector>("selector")};
  return fields.read(in, out);
}

bool readPolicy(const In& in, PriorityClass& out) {
  static constexpr Word<PreemptionPolicy> words[] = {
      {"PreemptLowerPriority", PreemptionPolicy::kPreemptLowerPriority},
      {"Never", PreemptionPolicy::kNever}};
  return readWord(in, out.preemptionPolicy, words);
}

bool readBudgetSpec(const In& in, PodDisruptionBudget& out) {
  using T = PodDisruptionBudget;
  static constexpr Fields fields{
      field<&T::selector>("selector"),
      field<&T::minAvailable>("minAvailable"),
      field<&T::maxUnavailable>("maxUnavailable"),
      field<&T::unhealthyPodEvictionPolicy>("unhealthyPodEvictionPolicy"),
  };
  return fields.read(in, out);
}

bool readBudgetStatus(const In& in, PodDisruptionBudget& out) {
  using T = PodDisruptionBudget;
  static constexpr Fields fields{
      field<&T::disruptionsAllowed>("disruptionsAllowed"),
      field<&T::currentHealthy>("currentHealthy"),
      field<&T::desiredHealthy>("desiredHealthy"),
      field<&T::expectedPods>("expectedPods"),
      field<&T::observedGeneration>("observedGeneration"),
      field<&T::disruptedPods>("disruptedPods"),
      field<&T::conditions>("conditions"),
  };
  return fields.read(in, out);
}

bool readHard(const In& in, ResourceQuota& out) {
  static constexpr Fields fields{field<&ResourceQuota::hard>("hard")};
  return fields.read(in, out);
}
bool readUsed(const In& in, ResourceQuota& out) {
  static constexpr Fields fields{field<&ResourceQuota::used>("used")};
  return fields.read(in, out);
}

}  // namespace

bool read(const In& in, Namespace& out) {
  static constexpr Fields fields{
      field<&Namespace::meta>("metadata"),
      via<readNamespaceStatus>("status"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Service& out) {
  static constexpr Fields fields{field<&Service::meta>("metadata"), via<readServiceSpec>("spec")};
  return fields.read(in, out);
}

bool read(const In& in, PriorityClass& out) {
  static constexpr Fields fields{
      field<&PriorityClass::meta>("metadata"),
      field<&PriorityClass::value>("value"),
      field<&PriorityClass::globalDefault>("globalDefault"),
      via<readPolicy>("preemptionPolicy"),
      field<&PriorityClass::description>("description"),
  };
  return fields.read(in, out);
}

bool read(const In& in, PodDisruptionBudget& out) {
  static constexpr Fields fields{
      field<&PodDisruptionBudget::meta>("metadata"),
      via<readBudgetSpec>("spec"),
      via<readBudgetStatus>("status"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ResourceQuota& out) {
  static constexpr Fields fields{
      field<&ResourceQuota::meta>("metadata"),
      via<readHard>("spec"),
      via<readUsed>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
