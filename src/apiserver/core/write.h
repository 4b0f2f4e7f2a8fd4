#pragma once
// create, update and patch: from the client's bytes to a durable object and an answer.
//
// One attempt: look at the head, let the verb propose the new object, admission may change it,
// defaults and validation, admission may refuse it, bookkeeping, commit. Admission can take its
// time, so another write may get in between: verbs that name no version start over from the new
// head, a few times; the others answer 409. Owner thread throughout.

#include <memory>

#include "apiserver/core/call.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

void createObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to);
// `call.info.subresource` may be "status".
void updateObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to);
// By content type: JSON patch, merge patch, strategic merge patch, apply.
void patchObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to);

// A change the server makes itself, for subresources and controllers: `change` gets the object at
// the head and changes it, or refuses. It runs again when somebody else was faster. `done` gets the
// stored object, or the refusal. Admission is not asked.
using Change = UniqueFn<Outcome<>(json::Object& object)>;
using Changed = UniqueFn<void(Outcome<store::ObjectPtr>)>;
void changeObject(Context& context, ResourcePtr resource, std::string ns, std::string name,
                  Change change, Changed done);

}  // namespace mangrove::apiserver
