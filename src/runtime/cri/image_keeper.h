#pragma once
// The images of a container runtime: makes sure that one is there before a container starts, and
// takes away those nobody uses when their disk fills.
//
//   keeper.ensure({"nginx:1.25", "IfNotPresent"}, secrets, told, [](HeldImage image) { … });
//
// Owner thread. A pull under way is shared by everybody who wants that image with the same
// credentials.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "runtime/cri/credentials.h"
#include "runtime/cri/image_gc.h"
#include "runtime/cri/runtime.h"

namespace mangrove::runtime::cri {

struct ImageWish {
  std::string image;   // as the pod names it
  std::string policy;  // Always, Never, IfNotPresent
};

// The image, or why there is none, as a kubelet says it.
struct HeldImage {
  std::string ref;                        // by which the runtime knows it
  std::optional<int64_t> user;            // it runs as, when that is a number
  std::string userName;                   // … and when it is a name
  std::string reason = {}, message = {};  // ErrImagePull, ErrImageNeverPull, InvalidImageName, …
  bool good() const { return reason.empty(); }
};

// An Event of the pod: Pulling, Pulled, Failed.
struct ImageNews {
  bool isWarning = false;
  std::string reason, message;
};

class ImageKeeper {
 public:
  using Done = UniqueFn<void(HeldImage)>;
  using Told = std::function<void(const ImageNews&)>;
  // Asked only when something must be fetched; answers on the owner thread.
  using Secrets = std::function<void(UniqueFn<void(std::vector<PullSecret>)>)>;

  ImageKeeper(Runtime& runtime, Clock& clock, Mailbox& owner)
      : runtime_(runtime), clock_(clock), owner_(owner) {}

  void ensure(const ImageWish& wish, Secrets secrets, Told told, Done done);
  // Every few minutes from now on.
  void collectGarbage();

 private:
  struct Pull {
    std::vector<Done> waiting;
    MonoTime since;
  };
  struct Fetch {
    std::string image;  // with its tag
    ImageWish wish;
    Told told;
    std::vector<std::optional<Credentials>> credentials;  // to be tried in turn
    size_t next = 0;
    std::string trouble;
    std::string key;
  };
  void fetch(std::shared_ptr<Fetch> fetch, Done done);
  void tryNext(const std::shared_ptr<Fetch>& fetch);
  void fetched(const std::shared_ptr<Fetch>& fetch, HeldImage held);
  void look(const std::string& image, Done done);
  void sweepLater();
  void sweep(const std::vector<Image>& images, const std::set<std::string>& inUse,
             const DiskRoom& disk);

  Runtime& runtime_;
  Clock& clock_;
  Mailbox& owner_;
  std::map<std::string, Pull> pulls_;
  ImageGc gc_;
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::runtime::cri
