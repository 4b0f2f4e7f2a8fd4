#include "api/pod/affinity.h"

#include <algorithm>

namespace mangrove::api {
namespace {

constexpr Word<TaintEffect> kEffects[] = {{"NoSchedule", TaintEffect::kNoSchedule},
                                          {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
                                          {"NoExecute", TaintEffect::kNoExecute}};

bool readTaintEffect(const In& in, Taint& out) {
  return readWord(in, out.effect, kEffects);
}
bool readTolerationEffect(const In& in, Toleration& out) {
  return readWord(in, out.effect, kEffects);
}

// Operators that we do not know tolerate nothing.
bool readMatch(const In& in, Toleration& out) {
  auto word = readString(in);
  if (!word) return false;
  using Match = Toleration::Match;
  out.match = word->empty() || *word == "Equal" ? Match::kEqual
              : *word == "Exists"               ? Match::kExists
                                                : Match::kNever;
  return true;
}

bool readHardness(const In& in, SpreadConstraint& out) {
  static constexpr Word<bool> words[] = {{"DoNotSchedule", true}, {"ScheduleAnyway", false}};
  return readWord(in, out.isHard, words);
}
constexpr Word<bool> kPolicies[] = {{"Honor", true}, {"Ignore", false}};
bool readAffinityPolicy(const In& in, SpreadConstraint& out) {
  return readWord(in, out.honorNodeAffinity, kPolicies);
}
bool readTaintsPolicy(const In& in, SpreadConstraint& out) {
  return readWord(in, out.honorNodeTaints, kPolicies);
}

}  // namespace

std::string_view taintEffectName(TaintEffect effect) {
  return wordFor(effect, kEffects);
}

bool read(const In& in, Taint& out) {
  static constexpr Fields fields{
      field<&Taint::key>("key"),
      field<&Taint::value>("value"),
      via<readTaintEffect>("effect"),
      field<&Taint::timeAdded>("timeAdded"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Toleration& out) {
  static constexpr Fields fields{
      field<&Toleration::key>("key"),
      via<readMatch>("operator"),
      field<&Toleration::value>("value"),
      via<readTolerationEffect>("effect"),
      field<&Toleration::seconds>("tolerationSeconds"),
  };
  return fields.read(in, out);
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect != TaintEffect::kNone && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.match == Toleration::Match::kEqual) return toleration.value == taint.value;
  return toleration.match == Toleration::Match::kExists;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const auto& t) { return tolerates(t, taint); });
}

static bool read(const In& in, PreferredNodeTerm& out) {
  static constexpr Fields fields{
      field<&PreferredNodeTerm::weight>("weight"),
      field<&PreferredNodeTerm::term>("preference"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, NodeAffinity& out) {
  static constexpr Fields fields{
      field<&NodeAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution"),
      field<&NodeAffinity::preferred>("preferredDuringSchedulingIgnoredDuringExecution"),
  };
  return fields.read(in, out);
}

bool read(const In& in, PodAffinityTerm& out) {
  static constexpr Fields fields{
      field<&PodAffinityTerm::topologyKey>("topologyKey"),
      field<&PodAffinityTerm::selector>("labelSelector"),
      field<&PodAffinityTerm::namespaceSelector>("namespaceSelector"),
      field<&PodAffinityTerm::namespaces>("namespaces"),
      field<&PodAffinityTerm::matchLabelKeys>("matchLabelKeys"),
      field<&PodAffinityTerm::mismatchLabelKeys>("mismatchLabelKeys"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, WeightedPodTerm& out) {
  static constexpr Fields fields{
      field<&WeightedPodTerm::weight>("weight"),
      field<&WeightedPodTerm::term>("podAffinityTerm"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, PodAffinity& out) {
  static constexpr Fields fields{
      field<&PodAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution"),
      field<&PodAffinity::preferred>("preferredDuringSchedulingIgnoredDuringExecution"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Affinity& out) {
  static constexpr Fields fields{
      field<&Affinity::node>("nodeAffinity"),
      field<&Affinity::pod>("podAffinity"),
      field<&Affinity::antiPod>("podAntiAffinity"),
  };
  return fields.read(in, out);
}

bool read(const In& in, SpreadConstraint& out) {
  static constexpr Fields fields{
      field<&SpreadConstraint::maxSkew>("maxSkew"),
      field<&SpreadConstraint::topologyKey>("topologyKey"),
      via<readHardness>("whenUnsatisfiable"),
      field<&SpreadConstraint::selector>("labelSelector"),
      field<&SpreadConstraint::minDomains>("minDomains"),
      via<readAffinityPolicy>("nodeAffinityPolicy"),
      via<readTaintsPolicy>("nodeTaintsPolicy"),
      field<&SpreadConstraint::matchLabelKeys>("matchLabelKeys"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
