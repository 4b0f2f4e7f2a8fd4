#include "placement/plugins/imagelocality/image_locality.h"

#include <algorithm>

#include "placement/framework/scale.h"

namespace mangrove::placement {

int64_t imageScore(int64_t sum, int64_t containers) {
  constexpr int64_t kLeast = 23 * 1024 * 1024;
  const int64_t most = 1000 * int64_t{1024} * 1024 * containers;
  if (most <= kLeast) return 0;
  return kMaxScore * (std::clamp(sum, kLeast, most) - kLeast) / (most - kLeast);
}

std::string imageName(std::string_view image) {
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  const bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return std::string(image) + (tagged ? "" : ":latest");
}

namespace {

struct ImagePlan final : PlanData {
  std::vector<Interned> images;
};

class ImageLocality final : public Plugin, public NodeLocal {
 public:
  std::string_view name() const override { return "ImageLocality"; }
  NodeLocal* nodeLocal() override { return this; }
  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    auto plan = std::make_unique<ImagePlan>();
    for (const auto& c : cls.spec->initContainers)
      plan->images.emplace_back(imageName(c.image.view()));
    for (const auto& c : cls.spec->containers) plan->images.emplace_back(imageName(c.image.view()));
    return plan;
  }
  bool scores(const PodPlan&) const override { return true; }
  // How many nodes have the images, of how many: this moves the scores of nodes that did not
  // change.
  uint64_t outside(const PodPlan& plan, const NodeTable& table) const override {
    uint64_t sum = 0;
    for (Interned image : plan.get<ImagePlan>(slot()).images)
      if (const ImageSpread* spread = table.image(image))
        sum = sum * 31 + static_cast<uint64_t>(spread->nodes) * 1000003 + table.size();
    return sum;
  }
  void score(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
             int32_t* out) const override {
    const auto& images = plan.get<ImagePlan>(slot()).images;
    const double nodes = static_cast<double>(table.size());
    std::vector<std::pair<Interned, int64_t>> worth;
    for (Interned image : images)
      if (const ImageSpread* spread = table.image(image))
        worth.emplace_back(image,
                           static_cast<int64_t>(static_cast<double>(spread->size) *
                                                (static_cast<double>(spread->nodes) / nodes)));
    if (worth.empty()) return;
    for (size_t i = 0; i < rows.size(); i++) {
      int64_t sum = 0;
      for (const auto& [image, value] : worth)
        if (table.hasImage(rows[i], image)) sum += value;
      out[i] = static_cast<int32_t>(imageScore(sum, static_cast<int64_t>(images.size())));
    }
  }
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeImageLocality(const json::Value&, PluginHandle) {
  return std::make_unique<ImageLocality>();
}

}  // namespace mangrove::placement
