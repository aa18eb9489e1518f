#include "COpenAPI.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char data_api[] = {
#embed "../../openapi/data-api.yaml"
};
static const unsigned char client_api[] = {
#embed "../../openapi/client-api.yaml"
};

static const struct copenapi_document documents[] = {
    {"data-api.yaml", data_api, sizeof data_api},
    {"client-api.yaml", client_api, sizeof client_api},
};
const size_t copenapi_count = sizeof documents / sizeof documents[0];

const struct copenapi_document *copenapi_table(void) {
    return documents;
}
