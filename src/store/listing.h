#pragma once
// Lists at one revision. The newest state is read as it is; an older one is the newest with the
// changes since then undone, as far back as the history reaches. Pure: state and question in, page
// out.

#include "base/result.h"
#include "store/collection.h"
#include "store/history.h"
#include "store/query.h"

namespace mangrove::store {

// `collection` may be null (nothing of that resource was ever seen).
Result<Page> listPage(const Collection* collection, const History& history, Revision visible,
                      const Query& query);

}  // namespace mangrove::store
