#include "manager/profile/profile_index.h"

#include <gtest/gtest.h>

#include "base/number/rng.h"

namespace mangrove::manager {
namespace {

std::shared_ptr<const Profile> made(const std::string& name,
                                    const api::ColocationProfileSpec& spec) {
  api::ColocationProfile object;
  object.meta.name = name;
  object.spec = spec;
  return std::make_shared<const Profile>(compileProfile(object));
}

// Small alphabets, so that random pods match random profiles now and then.
api::LabelSelector randomSelector(Rng& rng) {
  api::LabelSelector out;
  const auto key = [&] { return "k" + std::to_string(rng.below(4)); };
  const auto value = [&] { return "v" + std::to_string(rng.below(3)); };
  if (rng.chance(0.5)) out.matchLabels.set(key(), value());
  if (rng.chance(0.5)) {
    api::Expression e;
    const char* ops[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    e.key = Interned(key());
    e.op = Interned(ops[rng.below(4)]);
    if (e.op == "In" || e.op == "NotIn")
      for (uint64_t i = 0; i <= rng.below(2); ++i) e.values.push_back(Interned(value()));
    out.matchExpressions.push_back(e);
  }
  return out;
}

api::Labels randomLabels(Rng& rng) {
  api::Labels out;
  for (int i = 0; i < 3; ++i)
    if (rng.chance(0.6))
      out.set("k" + std::to_string(rng.below(4)), "v" + std::to_string(rng.below(3)));
  return out;
}

TEST(ProfileIndex, FindsExactlyWhatALoopOverAllWouldFind) {
  Rng rng(7);
  ProfileIndex::Profiles profiles;
  for (int i = 0; i < 300; ++i) {
    api::ColocationProfileSpec spec;
    if (rng.chance(0.8)) spec.selector = randomSelector(rng);
    if (rng.chance(0.5)) spec.namespaceSelector = randomSelector(rng);
    profiles.push_back(made("p" + std::to_string(1000 + i), spec));
  }
  const ProfileIndex index(profiles);
  size_t matches = 0;
  for (int round = 0; round < 500; ++round) {
    const api::Labels pod = randomLabels(rng), ns = randomLabels(rng);
    const api::Labels* where = rng.chance(0.9) ? &ns : nullptr;
    std::vector<std::string> want, got;
    for (const auto& profile : profiles)
      if (profile->selects(where, pod)) want.push_back(profile->name);
    for (const Profile* profile : index.matching(where, pod)) got.push_back(profile->name);
    ASSERT_EQ(got, want);
    matches += got.size();
  }
  EXPECT_GT(matches, 1000U);
}

TEST(ProfileIndex, LooksAtFewOfManyProfiles) {
  ProfileIndex::Profiles profiles;
  for (int i = 0; i < 10'000; ++i) {
    api::ColocationProfileSpec spec;
    spec.selector.emplace().matchLabels.set("colocate", "true");  // all share this one
    spec.selector->matchLabels.set("app", "app-" + std::to_string(i));
    spec.namespaceSelector.emplace().matchLabels.set("team", std::to_string(i % 50));
    profiles.push_back(made("p" + std::to_string(i), spec));
  }
  const ProfileIndex index(std::move(profiles));
  const api::Labels ns{{"team", "7"}}, pod{{"colocate", "true"}, {"app", "app-57"}};
  EXPECT_EQ(index.matching(&ns, pod).size(), 1U);
  EXPECT_LE(index.candidates(&ns, pod), 2U);
}

TEST(ProfileIndex, AppliesByPrecedenceThenName) {
  const auto with = [](const std::string& name, std::string_view precedence) {
    api::ColocationProfile object;
    object.meta.name = name;
    object.meta.annotations.set(kProfilePriority, precedence);
    return std::make_shared<const Profile>(compileProfile(object));
  };
  const ProfileIndex index({with("a", "10"), with("c", "0"), with("b", "nonsense")});
  std::vector<std::string> names;
  for (const Profile* profile : index.matching(nullptr, {})) names.push_back(profile->name);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "c", "a"}));
}

}  // namespace
}  // namespace mangrove::manager
