#include "CPages.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char common_css[] = {
#embed "pages/common.css"
};
static const unsigned char common_js[] = {
#embed "pages/common.js"
};
static const unsigned char docs_html[] = {
#embed "pages/docs.html"
};
static const unsigned char docs_css[] = {
#embed "pages/docs.css"
};
static const unsigned char docs_js[] = {
#embed "pages/docs.js"
};
static const unsigned char docs_schema_js[] = {
#embed "pages/docs-schema.js"
};
static const unsigned char status_html[] = {
#embed "pages/status.html"
};
static const unsigned char status_css[] = {
#embed "pages/status.css"
};
static const unsigned char status_js[] = {
#embed "pages/status.js"
};
static const unsigned char status_plot_js[] = {
#embed "pages/status-plot.js"
};

static const struct cpages_file files[] = {
    {"common.css", common_css, sizeof common_css},
    {"common.js", common_js, sizeof common_js},
    {"docs.html", docs_html, sizeof docs_html},
    {"docs.css", docs_css, sizeof docs_css},
    {"docs.js", docs_js, sizeof docs_js},
    {"docs-schema.js", docs_schema_js, sizeof docs_schema_js},
    {"status.html", status_html, sizeof status_html},
    {"status.css", status_css, sizeof status_css},
    {"status.js", status_js, sizeof status_js},
    {"status-plot.js", status_plot_js, sizeof status_plot_js},
};
const size_t cpages_count = sizeof files / sizeof files[0];

const struct cpages_file *cpages_table(void) {
    return files;
}
