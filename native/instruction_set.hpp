// Names of what is compiled once per instruction set: ISOTHERM_NAMED(kernels_) is kernels_avx2, say.
#pragma once

#define ISOTHERM_JOIN_OF(a, b) a##b
#define ISOTHERM_JOIN(a, b) ISOTHERM_JOIN_OF(a, b)
#define ISOTHERM_NAMED(name) ISOTHERM_JOIN(name, ISOTHERM_KERNELS)
