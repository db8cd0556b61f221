#pragma once

#include <infiniband/verbs.h>

// verbs.h puts macros before these functions; the exported ones are below them.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port
#undef ibv_get_device_list
