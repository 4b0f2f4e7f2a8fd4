#pragma once
// Stored objects as clients see them: one, a list, or a watch event; whole, as a Table (kubectl
// get), or as metadata alone.
//
//   auto shape = shapeOf(call.accept, call.info, *resource.kind);
//   if (!shape) return shape.error();
//   shape->now = context.clock.wall();               // ages in tables; again for each watch event
//   return answer::json(200, encodeOne(resource, *object, *shape));
//
// Whole objects of the storage version are the stored bytes, copied and never parsed; other
// versions are converted on the way out. Pure; any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/answer.h"
#include "apiserver/core/resources.h"
#include "apiserver/request.h"
#include "base/number/units.h"
#include "store/object.h"

namespace mangrove::apiserver {

enum class Form { kWhole, kTable, kMetadata };

struct Shape {
  Form form = Form::kWhole;
  std::string metaVersion = "v1";  // of Table and PartialObjectMetadata
  std::string includeObject;       // Table: "None", "Metadata" (the default) or "Object"
  WallTime now{};                  // what ages in tables are counted from
  // The client prefers protobuf. Everything here writes JSON all the same: protobuf/responder.h
  // translates what leaves the server.
  bool protobuf = false;
};
// What the Accept header asks for; the first alternative we can make. 406 when there is none.
// Tables and custom kinds exist in JSON only, the metadata of all kinds in protobuf too.
Outcome<Shape> shapeOf(std::string_view accept, const RequestInfo& info, const KindInfo& kind);

struct ListHead {
  std::string resourceVersion;
  std::string continueToken;
  std::optional<size_t> remaining;
};

std::string encodeOne(const Resource& resource, const store::Object& object, const Shape& shape);
std::string encodeList(const Resource& resource, const ListHead& head,
                       std::span<const store::ObjectPtr> items, const Shape& shape);
// One line: {"type":"ADDED","object":{…}}\n. `columns`: Tables carry their column definitions in
// the first event only.
std::string encodeEvent(std::string_view type, const Resource& resource,
                        const store::Object& object, const Shape& shape, bool columns);
std::string encodeBookmark(const Resource& resource, std::string_view resourceVersion,
                           bool endOfInitialEvents, const Shape& shape);
// {"type":"ERROR","object":<Status>}\n
std::string encodeErrorEvent(const Answer& status);

}  // namespace mangrove::apiserver
