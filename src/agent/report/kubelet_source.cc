#include "agent/report/kubelet_source.h"

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

}  // namespace

KubeletSource::KubeletSource(net::Loop* loop, Mailbox& owner, PodBook& book, Registry* metrics,
                             KubeletSourceOptions options)
    : loop_(loop), owner_(owner), book_(book), metrics_(metrics), options_(std::move(options)) {}

KubeletSource::~KubeletSource() {
  life_.end();
}

bool KubeletSource::connect(const api::Node& node) {
  auto url = kubeletUrl(node, options_.kubelet);
  if (!url) return false;
  if (client_ && *url == url_) return true;
  auto client = KubeletClient::make(*loop_, *url, options_.kubelet, metrics_);
  if (!client) return false;
  client_ = *std::move(client);
  url_ = *url;
  nextConfig_ = MonoTime::min();
  return true;
}

void KubeletSource::tick(MonoTime now, const api::Node* node, size_t newPods) {
  if (loop_ == nullptr || node == nullptr || !connect(*node)) return;
  wanted_ |= newPods > 0;
  if (options_.pods && !asking_) {
    const bool due = nextPods_ == MonoTime::min() || now >= nextPods_;
    // What the bucket refuses stays wanted: the last new pod is never missed.
    if (due || (wanted_ && eager_.tryTake(now))) askPods(now);
  }
  if (options_.config && !askingConfig_ && (nextConfig_ == MonoTime::min() || now >= nextConfig_))
    askConfig(now);
}

void KubeletSource::askPods(MonoTime now) {
  asking_ = true;
  wanted_ = false;
  nextPods_ = now + options_.interval;
  client_->pods(owner_, life_.guard([this](Result<std::vector<PodPtr>> pods) {
    asking_ = false;
    if (!pods) {
      if (stats_.failures++ % 30 == 0) log.warn("pods stay as they were: {}", pods.error().text());
    } else if (book_.replace(*std::move(pods))) {
      ++stats_.podLists;
      synced_ = true;
    } else {
      ++stats_.empty;
    }
  }));
}

void KubeletSource::askConfig(MonoTime now) {
  askingConfig_ = true;
  nextConfig_ = now + kConfigRetry;
  client_->config(owner_, life_.guard([this, now](Result<KubeletConfig> config) {
    askingConfig_ = false;
    if (!config) return log.debug("kubelet configuration: {}", config.error().text());
    nextConfig_ = now + kConfigInterval;
    config_ = *std::move(config);
  }));
}

}  // namespace mangrove::agent
