// Part of nvToolsExt.h.
#pragma once
#include "../nvToolsExt.h"
