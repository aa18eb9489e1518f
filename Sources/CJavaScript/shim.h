#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>

// Exported by the engine, and declared in a header that is not installed.
typedef bool (*JSShouldTerminateCallback)(JSContextRef context, void *data);
void JSContextGroupSetExecutionTimeLimit(
    JSContextGroupRef group, double seconds, JSShouldTerminateCallback callback, void *data);
