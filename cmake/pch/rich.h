// What most files of the layers from json upwards read; see cmake/Precompile.cmake.
#include "lean.h"

#include "api/classes.h"
#include "api/koordinator/extensions.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/write.h"
#include "base/quantity.h"
#include "base/time_text.h"
#include "client/api_client.h"
#include "json/value.h"
#include "json/view.h"
