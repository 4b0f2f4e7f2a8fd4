#include "placement/dra/selector.h"

#include <gmock/gmock.h>

namespace mangrove::placement {
namespace {

using testing::HasSubstr;

api::OfferedDevice card() {
  auto out = api::decodeText<api::OfferedDevice>(R"({"name":"gpu-0",
      "attributes":{"model":{"string":"H200"},"index":{"int":3},"ecc":{"bool":true},
                    "driverVersion":{"version":"535.161.8"},"other.io/numa":{"int":1}},
      "capacity":{"memory":{"value":"141Gi"}}})");
  return std::move(*out);
}

struct Case {
  std::string expression;
  std::string said;  // "true", "false", or a part of what is wrong
};

TEST(DeviceSelector, compares_what_a_device_has) {
  const api::OfferedDevice device = card();
  const Case cases[] = {
      {"device.driver == 'gpu.io'", "true"},
      {"device.driver != \"gpu.io\"", "false"},
      {"device.attributes['gpu.io'].model == 'H200'", "true"},
      {"device.attributes[\"gpu.io\"][\"model\"] in ['A100', 'H200']", "true"},
      {"device.attributes['gpu.io'].model in []", "false"},
      {"device.attributes['gpu.io'].ecc", "true"},
      {"!device.attributes['gpu.io'].ecc", "false"},
      {"device.attributes['gpu.io'].ecc == false", "false"},
      {"device.attributes['gpu.io'].index >= 3 && device.attributes['gpu.io'].index < 4", "true"},
      {"device.attributes['gpu.io'].index > -1", "true"},
      {"device.attributes['other.io'].numa == 1", "true"},
      {"device.capacity['gpu.io'].memory.compareTo(quantity('80Gi')) >= 0", "true"},
      {"device.capacity['gpu.io'].memory.isLessThan(quantity('80Gi'))", "false"},
      {"device.capacity['gpu.io'].memory == quantity('144384Mi')", "true"},
      {"device.attributes['gpu.io'].driverVersion.isGreaterThan(semver('535.0.0'))", "true"},
      {"device.attributes['gpu.io'].driverVersion.compareTo(semver('535.161.8-rc.1')) > 0", "true"},
      {"(device.driver == 'a' || device.driver == 'gpu.io') && true", "true"},
      // One side decides, whatever is wrong with the other.
      {"device.driver == 'gpu.io' || device.attributes['gpu.io'].absent == 1", "true"},
      {"device.attributes['gpu.io'].absent == 1 || device.driver == 'gpu.io'", "true"},
      {"device.driver == 'x' && device.attributes['gpu.io'].absent == 1", "false"},
      {"device.attributes['gpu.io'].absent == 1", "has no attribute gpu.io/absent"},
      {"device.capacity['gpu.io'].cores == quantity('1')", "has no capacity gpu.io/cores"},
      {"device.attributes['gpu.io'].model == 3", "a string and an integer do not compare"},
      {"device.attributes['gpu.io'].model", "a string is no condition"},
  };
  for (const Case& one : cases) {
    const auto selector = parseDeviceSelector(one.expression);
    ASSERT_TRUE(selector) << one.expression << ": " << selector.error().text();
    const auto got = selector->matches({"gpu.io", device});
    const std::string said = got ? (*got ? "true" : "false") : got.error().text();
    EXPECT_THAT(said, HasSubstr(one.said)) << one.expression;
  }
}

TEST(DeviceSelector, refuses_what_is_beyond_comparisons) {
  const Case cases[] = {
      {"device.attributes['gpu.io'].model.startsWith('H')", "compareTo(…)"},
      {"cel.bind(x, device.driver, x == 'a')", "found 'cel.bind"},
      {"device.driver == ", "found 'the end'"},
      {"device.driver == 'a", "the end of the string"},
      {"device.color == 'red'", "driver, attributes or capacity"},
      {"device.attributes.model == 'x'", "a domain"},
      {"device.driver == 'a' & true", "a comparison that ends here"},
      {"device.capacity['a'].m == quantity('much')", "a quantity such as 40Gi"},
      {"device.attributes['a'].v == semver('2')", "a version such as 1.2.3"},
      {"device.attributes['a'].v == 99999999999999999999", "an integer of 64 bits"},
      {"(device.driver == 'a'", "')'"},
      {std::string(200, '('), "fewer parentheses"},
      {std::string(200, '!'), "fewer negations"},
      {"", "found 'the end'"},
  };
  for (const Case& one : cases) {
    const auto selector = parseDeviceSelector(one.expression);
    ASSERT_FALSE(selector) << one.expression;
    EXPECT_THAT(selector.error().text(), HasSubstr(one.said));
    EXPECT_THAT(selector.error().text(), HasSubstr("joined by &&, || and !"));
  }
}

}  // namespace
}  // namespace mangrove::placement
