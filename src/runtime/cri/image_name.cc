#include "runtime/cri/image_name.h"

#include <algorithm>
#include <cctype>

#include "base/text/strings.h"

namespace mangrove::runtime::cri {

namespace {

constexpr std::string_view kHub = "index.docker.io";
constexpr size_t kLongestName = 255, kLongestTag = 128;

bool isLower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool isWord(char c) {
  return isLower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

struct Parts {
  std::string_view name, tag, digest;  // without ':' and '@'
};

// A colon before the last slash belongs to a port.
Parts split(std::string_view image) {
  Parts out;
  const size_t at = image.find('@');
  if (at != std::string_view::npos) out.digest = image.substr(at + 1);
  out.name = image.substr(0, at);
  const size_t slash = out.name.rfind('/');
  const size_t colon = out.name.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon != std::string_view::npos) out.tag = out.name.substr(colon + 1);
  out.name = out.name.substr(0, colon);
  return out;
}

// The first part names a registry when it looks like a host.
bool isHost(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != std::string_view::npos;
}

// Lower-case words, joined by one '.', one or two '_' or any number of '-'.
bool isComponent(std::string_view part) {
  if (part.empty() || !isLower(part.front()) || !isLower(part.back())) return false;
  for (size_t i = 0; i < part.size(); ++i) {
    if (isLower(part[i]) || part[i] == '-') continue;
    if (part[i] != '.' && part[i] != '_') return false;
    const std::string_view run = part.substr(i, part.find_first_not_of("._-", i) - i);
    if (run.size() > 1 && run != "__" && run.find_first_not_of('-') != std::string_view::npos)
      return false;
  }
  return true;
}

bool isHostName(std::string_view host) {
  const auto parts = cut(host, ':');
  const bool port = host.find(':') == std::string_view::npos || parseInt<uint16_t>(parts.after);
  return port && !parts.before.empty() &&
         std::all_of(parts.before.begin(), parts.before.end(),
                     [](char c) { return isWord(c) || c == '.' || c == '-'; });
}

bool isTag(std::string_view tag) {
  return !tag.empty() && tag.size() <= kLongestTag && isWord(tag.front()) &&
         std::all_of(tag.begin(), tag.end(),
                     [](char c) { return isWord(c) || c == '.' || c == '-'; });
}

// "sha256:…": at least 32 hexadecimal digits.
bool isDigest(std::string_view digest) {
  const auto parts = cut(digest, ':');
  return !parts.before.empty() && parts.after.size() >= 32 &&
         parts.after.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool isName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  const auto first = cut(name, '/');
  const bool hasHost = name.find('/') != std::string_view::npos && isHost(first.before);
  if (hasHost && !isHostName(first.before)) return false;
  for (auto part : mangrove::split(hasHost ? first.after : name, '/'))
    if (!isComponent(part)) return false;
  return true;
}

}  // namespace

Result<std::string> taggedImage(std::string_view image) {
  const Parts parts = split(image);
  const bool hasTag = parts.name.size() < image.substr(0, image.find('@')).size();
  const bool hasDigest = image.find('@') != std::string_view::npos;
  if (!isName(parts.name) || (hasTag && !isTag(parts.tag)) ||
      (hasDigest && !isDigest(parts.digest)))
    return invalid(
        "couldn't parse image name \"{}\": invalid reference format; want "
        "[HOST[:PORT]/]NAME[:TAG][@DIGEST] with a name in lower case",
        image);
  if (hasTag || hasDigest) return std::string(image);
  return std::string(image) + ":latest";
}

std::string placeOf(std::string_view image) {
  const std::string_view name = split(image).name;
  const auto parts = cut(name, '/');
  const bool hasHost = name.find('/') != std::string_view::npos && isHost(parts.before);
  if (hasHost && parts.before != "docker.io") return std::string(name);
  const std::string_view path = hasHost ? parts.after : name;
  const bool bare = path.find('/') == std::string_view::npos;
  return std::string(kHub) + (bare ? "/library/" : "/") + std::string(path);
}

PullWish wishOf(std::string_view policy, bool isPresent) {
  if (policy == "Always") return PullWish::kPull;
  if (isPresent) return PullWish::kUse;
  return policy == "Never" ? PullWish::kNever : PullWish::kPull;
}

}  // namespace mangrove::runtime::cri
