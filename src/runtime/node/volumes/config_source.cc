#include "runtime/node/volumes/config_source.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/encoding.h"
#include "runtime/core/token_access.h"
#include "runtime/cri/runtime_class.h"

namespace mangrove::runtime {

namespace {

using Data = std::map<std::string, std::string>;
constexpr Duration kLongestToken = std::chrono::hours(24);

std::string_view text(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

std::optional<int> number(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_int64() ? std::optional(static_cast<int>(value->get_int64()))
                                    : std::nullopt;
}

bool flag(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_bool() && value->get_bool();
}

const json::Array& list(const json::Object& object, std::string_view key) {
  static const json::Array kNone;
  const json::Value* value = object.if_contains(key);
  return value && value->is_array() ? value->get_array() : kNone;
}

const json::Object& member(const json::Object& object, std::string_view key) {
  static const json::Object kNone;
  const json::Value* value = object.if_contains(key);
  return value && value->is_object() ? value->get_object() : kNone;
}

void addPlain(const json::Object& object, std::string_view key, Data& out) {
  const json::Value* data = object.if_contains(key);
  if (!data || !data->is_object()) return;
  for (const auto& [name, value] : data->get_object())
    if (value.is_string())
      out[std::string(name)] = std::string(std::string_view(value.get_string()));
}

Result<> addEncoded(const json::Object& object, std::string_view key, Data& out) {
  const json::Value* data = object.if_contains(key);
  if (!data || !data->is_object()) return {};
  for (const auto& [name, value] : data->get_object()) {
    if (!value.is_string()) continue;
    auto bytes = base64Decode(std::string_view(value.get_string()));
    if (!bytes) return bytes.error().in("key {}", std::string_view(name));
    out[std::string(name)] = std::move(*bytes);
  }
  return {};
}

Result<json::Object> fetch(client::ApiClient& client, const client::Kind& kind,
                           const std::string& ns, const std::string& name, const char* word) {
  auto body = client.get({kind, ns, name});
  if (!body && body.error().code() == Code::kNotFound)
    return fail(Code::kNotFound, "{} \"{}\" not found", word, name);
  if (!body) return pass(body.error());
  auto value = json::parse(*body);
  if (!value || !value->is_object()) return invalid("{} \"{}\" cannot be read", word, name);
  return std::move(value->get_object());
}

std::vector<api::KeyToPath> itemsOf(const json::Object& source) {
  std::vector<api::KeyToPath> out;
  for (const auto& item : list(source, "items")) {
    if (!item.is_object()) continue;
    api::KeyToPath one;
    one.key = text(item.get_object(), "key");
    one.path = text(item.get_object(), "path");
    one.mode = number(item.get_object(), "mode");
    out.push_back(std::move(one));
  }
  return out;
}

Result<Files> downwardFiles(const RunPod& pod, const DownwardFacts& facts,
                            const json::Array& items) {
  Files files;
  for (const auto& item : items) {
    if (!item.is_object()) continue;
    const json::Object& one = item.get_object();
    const json::Value* field = one.if_contains("fieldRef");
    const json::Value* resource = one.if_contains("resourceFieldRef");
    Result<std::string> value = std::string();
    if (field && field->is_object()) {
      value = fieldValue(pod, facts, text(field->get_object(), "fieldPath"));
    } else if (resource && resource->is_object()) {
      api::EnvVar::ResourceField wanted;
      wanted.container = text(resource->get_object(), "containerName");
      wanted.resource = text(resource->get_object(), "resource");
      const auto divisor = Quantity::parse(text(resource->get_object(), "divisor"));
      if (divisor && divisor->value() != 0) wanted.divisor = *divisor;
      value = resourceValue(pod, facts, "", wanted);
    }
    if (!value) return pass(value.error());
    files[std::string(text(one, "path"))] = {std::move(*value), number(one, "mode")};
  }
  return files;
}

Result<Files> orEmpty(Result<Data> data, const std::vector<api::KeyToPath>& items, bool optional,
                      const std::string& what) {
  if (!data && optional && data.error().code() == Code::kNotFound) return Files();
  if (!data) return pass(data.error());
  return selectItems(*data, items, optional, what);
}

// What the volume says for files that say nothing themselves.
Result<Files> withMode(Result<Files> files, const json::Object& volume) {
  const auto mode = number(volume, "defaultMode");
  if (files && mode)
    for (auto& [path, file] : *files)
      if (!file.mode) file.mode = mode;
  return files;
}

}  // namespace

Result<Files> selectItems(const Data& data, const std::vector<api::KeyToPath>& items, bool optional,
                          const std::string& what) {
  Files files;
  if (items.empty())
    for (const auto& [key, bytes] : data) files[key] = {bytes, std::nullopt};
  for (const auto& item : items) {
    auto found = data.find(item.key);
    if (found == data.end() && optional) continue;
    if (found == data.end())
      return fail(Code::kNotFound, "{} references non-existent config key: {}", what, item.key);
    if (item.path.empty() || item.path.starts_with('/') ||
        item.path.find("..") != std::string::npos)
      return invalid("{}: path '{}' must be relative and without '..'", what, item.path);
    files[item.path] = {found->second, item.mode ? std::optional<int>(*item.mode) : std::nullopt};
  }
  return files;
}

Result<Data> ConfigSource::configMap(const std::string& ns, const std::string& name) {
  auto object = fetch(client_, client::kind::kConfigMap, ns, name, "configmap");
  if (!object) return pass(object.error());
  Data out;
  addPlain(*object, "data", out);
  if (auto ok = addEncoded(*object, "binaryData", out); !ok) return pass(ok.error());
  return out;
}

Result<Data> ConfigSource::secret(const std::string& ns, const std::string& name) {
  auto object = fetch(client_, client::kind::kSecret, ns, name, "secret");
  if (!object) return pass(object.error());
  Data out;
  if (auto ok = addEncoded(*object, "data", out); !ok) return pass(ok.error());
  return out;
}

Result<std::string> ConfigSource::runtimeHandler(const std::string& name) {
  auto found = fetch(client_, cri::kRuntimeClass, "", name, "RuntimeClass");
  if (!found) return pass(found.error());
  return std::string(text(*found, "handler"));
}

Result<std::string> ConfigSource::claimPath(const std::string& ns, const std::string& claim) {
  auto object =
      fetch(client_, client::kind::kPersistentVolumeClaim, ns, claim, "persistentvolumeclaim");
  if (!object) return pass(object.error());
  const std::string name(text(member(*object, "spec"), "volumeName"));
  const bool bound = text(member(*object, "status"), "phase") == "Bound";
  if (name.empty() || !bound)
    return fail(Code::kUnavailable, "persistentvolumeclaim \"{}\" is not bound", claim);
  auto volume = fetch(client_, client::kind::kPersistentVolume, "", name, "persistentvolume");
  if (!volume) return pass(volume.error());
  const json::Object& spec = member(*volume, "spec");
  for (const char* source : {"hostPath", "local"})
    if (auto path = text(member(spec, source), "path"); !path.empty()) return std::string(path);
  return fail(Code::kUnsupported,
              "persistentvolume \"{}\" is neither hostPath nor local, the two kinds there are here",
              name);
}

Result<std::string> ConfigSource::token(const RunPod& pod, const std::string& audience,
                                        int64_t seconds) {
  const std::string key = fmt::format("{} {} {}", pod.uid(), seconds, audience);
  const WallTime now = clock_.wall();
  {
    std::lock_guard lock(tokensMutex_);
    if (auto known = tokens_.find(key); known != tokens_.end() && now < known->second.renewAt)
      return known->second.text;
  }
  auto fresh = requestToken(pod, audience, seconds);
  if (!fresh) return fresh;
  const auto life = std::min<Duration>(std::chrono::seconds(seconds) * 4 / 5, kLongestToken);
  std::lock_guard lock(tokensMutex_);
  tokens_[key] = {*fresh, now + std::chrono::duration_cast<std::chrono::microseconds>(life)};
  return fresh;
}

void ConfigSource::forget(const std::string& uid) {
  std::lock_guard lock(tokensMutex_);
  const std::string prefix = uid + " ";
  auto at = tokens_.lower_bound(prefix);
  while (at != tokens_.end() && at->first.starts_with(prefix)) at = tokens_.erase(at);
}

Result<std::string> ConfigSource::requestToken(const RunPod& pod, const std::string& audience,
                                               int64_t seconds) {
  json::Object spec{
      {"expirationSeconds", seconds},
      {"boundObjectRef",
       json::Object{
           {"kind", "Pod"}, {"apiVersion", "v1"}, {"name", pod.name()}, {"uid", pod.uid()}}}};
  if (!audience.empty()) spec["audiences"] = json::Array{json::Value(audience)};
  json::Object body{{"apiVersion", "authentication.k8s.io/v1"},
                    {"kind", "TokenRequest"},
                    {"spec", std::move(spec)}};
  const std::string account =
      pod.run.serviceAccountName.empty() ? "default" : pod.run.serviceAccountName;
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {client::kind::kServiceAccount, pod.ns(), account, "token"};
  request.body = json::write(body);
  auto reply = client_.call(std::move(request));
  if (!reply) return reply.error().in("token of serviceaccount \"{}\"", account);
  auto answer = json::parse(reply->body);
  const json::Value* status =
      answer && answer->is_object() ? answer->get_object().if_contains("status") : nullptr;
  if (!status || !status->is_object()) return invalid("token request: the answer has no status");
  return std::string(text(status->get_object(), "token"));
}

Result<Files> ConfigSource::volumeFiles(const RunPod& pod, const DownwardFacts& facts,
                                        const api::RunVolume& volume) {
  using Kind = api::RunVolume::Kind;
  if (volume.kind == Kind::kConfigMap)
    return orEmpty(configMap(pod.ns(), volume.source), volume.items, volume.optional,
                   fmt::format("configmap \"{}\"", volume.source));
  if (volume.kind == Kind::kSecret)
    return orEmpty(secret(pod.ns(), volume.source), volume.items, volume.optional,
                   fmt::format("secret \"{}\"", volume.source));
  if (volume.kind == Kind::kProjected) return projected(pod, facts, volume);
  auto rest = json::parse(volume.rest.text);
  if (!rest || !rest->is_object()) return invalid("volume {} cannot be read", volume.name);
  return withMode(downwardFiles(pod, facts, list(rest->get_object(), "items")), rest->get_object());
}

Result<Files> ConfigSource::projected(const RunPod& pod, const DownwardFacts& facts,
                                      const api::RunVolume& volume) {
  auto rest = json::parse(volume.rest.text);
  if (!rest || !rest->is_object()) return invalid("volume {} cannot be read", volume.name);
  Files all;
  for (const auto& source : list(rest->get_object(), "sources")) {
    if (!source.is_object()) continue;
    auto files = projectedSource(pod, facts, source.get_object());
    if (!files) return files;
    all.merge(*files);
  }
  return withMode(std::move(all), rest->get_object());
}

Result<Files> ConfigSource::projectedSource(const RunPod& pod, const DownwardFacts& facts,
                                            const json::Object& source) {
  auto part = [&](std::string_view key) -> const json::Object* {
    const json::Value* value = source.if_contains(key);
    return value && value->is_object() ? &value->get_object() : nullptr;
  };
  if (const auto* map = part("configMap")) {
    const std::string name(text(*map, "name"));
    return orEmpty(configMap(pod.ns(), name), itemsOf(*map), flag(*map, "optional"),
                   fmt::format("configmap \"{}\"", name));
  }
  if (const auto* map = part("secret")) {
    const std::string name(text(*map, "name"));
    return orEmpty(secret(pod.ns(), name), itemsOf(*map), flag(*map, "optional"),
                   fmt::format("secret \"{}\"", name));
  }
  if (const auto* map = part("downwardAPI")) return downwardFiles(pod, facts, list(*map, "items"));
  if (const auto* map = part("serviceAccountToken")) {
    const json::Value* seconds = map->if_contains("expirationSeconds");
    auto bytes = token(pod, std::string(text(*map, "audience")),
                       seconds && seconds->is_int64() ? seconds->get_int64() : 3600);
    if (!bytes) return pass(bytes.error());
    const FileAccess access = tokenAccess(pod);
    return Files{{std::string(text(*map, "path")),
                  {std::move(*bytes), access.mode, access.uid, access.gid}}};
  }
  return Files();
}

}  // namespace mangrove::runtime
