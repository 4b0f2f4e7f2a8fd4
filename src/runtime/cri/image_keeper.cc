#include "runtime/cri/image_keeper.h"

#include <algorithm>

#include <fmt/core.h>
#include <sys/statvfs.h>

#include "base/os/log.h"
#include "base/text/time_text.h"
#include "runtime/cri/image_name.h"

namespace mangrove::runtime::cri {

namespace {

const Logger logger("runtime");
constexpr Duration kSweep = std::chrono::minutes(5);  // as often as a kubelet

HeldImage heldOf(const Image& image) {
  return {.ref = image.id, .user = image.user, .userName = image.userName};
}

HeldImage refusal(std::string reason, std::string message) {
  HeldImage out;
  out.reason = std::move(reason);
  out.message = std::move(message);
  return out;
}

std::optional<DiskRoom> roomAt(const std::string& mount) {
  struct statvfs about {};
  if (mount.empty() || ::statvfs(mount.c_str(), &about) != 0) return std::nullopt;
  const auto unit = static_cast<int64_t>(about.f_frsize);
  return DiskRoom{Bytes{static_cast<int64_t>(about.f_blocks) * unit},
                  Bytes{static_cast<int64_t>(about.f_bavail) * unit}};
}

}  // namespace

void ImageKeeper::ensure(const ImageWish& wish, Secrets secrets, Told told, Done done) {
  auto image = taggedImage(wish.image);
  if (!image) {
    const std::string why = fmt::format("Failed to apply default image tag \"{}\": {}", wish.image,
                                        image.error().text());
    told({true, "InspectFailed", why});
    return done(refusal("InvalidImageName", why));
  }
  runtime_.imageStatus(*image, [this, image = *image, wish, secrets = std::move(secrets),
                                told = std::move(told), done = std::move(done)](
                                   Result<std::optional<Image>> found) mutable {
    if (!found) {
      told({true, "InspectFailed",
            fmt::format("Failed to inspect image \"{}\": {}", wish.image, found.error().text())});
      return done(refusal("ImageInspectError", found.error().text()));
    }
    const PullWish next = wishOf(wish.policy, found->has_value());
    if (next == PullWish::kUse) {
      told({false, "Pulled",
            fmt::format("Container image \"{}\" already present on machine", wish.image)});
      return done(heldOf(**found));
    }
    if (next == PullWish::kNever) {
      const std::string why = fmt::format(
          "Container image \"{}\" is not present with pull policy of Never", wish.image);
      told({true, "ErrImageNeverPull", why});
      return done(refusal("ErrImageNeverPull", why));
    }
    secrets([this, life = life_.token(), image, wish, told = std::move(told),
             done = std::move(done)](std::vector<PullSecret> list) mutable {
      if (life.gone()) return;
      auto wanted = std::make_shared<Fetch>();
      wanted->image = image;
      wanted->wish = wish;
      wanted->told = std::move(told);
      std::vector<std::string> troubles;
      wanted->key = image;
      for (auto& one : credentialsFor(image, list, &troubles)) {
        wanted->key += "\n" + one.server + " " + one.username + " " + one.password;
        wanted->credentials.emplace_back(std::move(one));
      }
      for (const auto& trouble : troubles)
        wanted->told({true, "FailedToRetrieveImagePullSecret", trouble});
      if (wanted->credentials.empty()) wanted->credentials.emplace_back(std::nullopt);
      fetch(std::move(wanted), std::move(done));
    });
  });
}

void ImageKeeper::fetch(std::shared_ptr<Fetch> wanted, Done done) {
  wanted->told({false, "Pulling", fmt::format("Pulling image \"{}\"", wanted->wish.image)});
  const MonoTime asked = clock_.mono();
  Pull& pull = pulls_[wanted->key];
  const bool underWay = !pull.waiting.empty();
  if (!underWay) pull.since = asked;
  pull.waiting.push_back([this, wanted, asked, done = std::move(done)](HeldImage held) mutable {
    const auto took = [&](MonoTime since) {
      return formatDuration(
          std::chrono::duration_cast<std::chrono::milliseconds>(clock_.mono() - since));
    };
    if (held.good())
      wanted->told({false, "Pulled",
                    fmt::format("Successfully pulled image \"{}\" in {} ({} including waiting)",
                                wanted->wish.image, took(pulls_[wanted->key].since), took(asked))});
    else
      wanted->told(
          {true, "Failed",
           fmt::format("Failed to pull image \"{}\": {}", wanted->wish.image, held.message)});
    done(std::move(held));
  });
  if (!underWay) tryNext(wanted);
}

void ImageKeeper::tryNext(const std::shared_ptr<Fetch>& wanted) {
  if (wanted->next >= wanted->credentials.size())
    return fetched(wanted, refusal("ErrImagePull", wanted->trouble));
  const auto& credentials = wanted->credentials[wanted->next++];
  runtime_.pullImage(wanted->image, credentials, [this, wanted](Result<std::string> ref) {
    if (!ref) {
      wanted->trouble = ref.error().text();
      return tryNext(wanted);
    }
    look(*ref, [this, wanted](HeldImage held) { fetched(wanted, std::move(held)); });
  });
}

void ImageKeeper::look(const std::string& image, Done done) {
  runtime_.imageStatus(image, [image,
                               done = std::move(done)](Result<std::optional<Image>> found) mutable {
    if (found && *found) return done(heldOf(**found));
    done(found
             ? refusal("ErrImagePull", "the container runtime fetched it and has it not: " + image)
             : refusal("ImageInspectError", found.error().text()));
  });
}

void ImageKeeper::fetched(const std::shared_ptr<Fetch>& wanted, HeldImage held) {
  auto waiting = std::move(pulls_[wanted->key].waiting);
  for (auto& one : waiting) one(held);
  pulls_.erase(wanted->key);
}

void ImageKeeper::collectGarbage() {
  runtime_.images([this](Result<std::vector<Image>> images) {
    if (!images) return sweepLater();
    runtime_.containers("", [this, images = std::move(*images)](
                                Result<std::vector<ContainerStatus>> containers) mutable {
      if (!containers) return sweepLater();
      std::set<std::string> inUse;
      for (const auto& one : *containers) {
        inUse.insert(one.imageRef);
        inUse.insert(one.image);
      }
      gc_.saw(images, inUse, clock_.mono());
      runtime_.imageDisk([this, images = std::move(images),
                          inUse](Result<std::vector<ImageDisk>> disks) {
        const auto room = disks && !disks->empty() ? roomAt(disks->front().mount) : std::nullopt;
        if (room) sweep(images, inUse, *room);
        sweepLater();
      });
    });
  });
}

void ImageKeeper::sweepLater() {
  timer_ = life_.later(clock_, owner_, kSweep, [this] { collectGarbage(); });
}

void ImageKeeper::sweep(const std::vector<Image>& images, const std::set<std::string>& inUse,
                        const DiskRoom& disk) {
  for (const auto& id : gc_.toRemove(images, inUse, disk, clock_.mono())) {
    logger.info("removing image {}: its disk is {} % full", id,
                (disk.capacity.v - disk.available.v) * 100 / disk.capacity.v);
    runtime_.removeImage(id, [id](Result<> done) {
      if (!done) logger.warn("removing image {}: {}", id, done.error().text());
    });
  }
}

}  // namespace mangrove::runtime::cri
