// Reads of texture objects, and reads and writes of surface objects, by the instructions of
// PTX. Mipmaps, cubemaps and gradients are not there.
#pragma once
#include "texture_types.h"

// What a texture gives is four words of 32 bits, of which an element takes its channels.
template <class T> struct __wb_texel;
#define __WB_TEXEL(element, name, register)                                                                               \
  template <> struct __wb_texel<element> { typedef register word; __WB_MEMBER static element of(const word *v) { return (element)v[0]; } }; \
  template <> struct __wb_texel<name##1> { typedef register word; __WB_MEMBER static name##1 of(const word *v) { return {(element)v[0]}; } }; \
  template <> struct __wb_texel<name##2> { typedef register word; __WB_MEMBER static name##2 of(const word *v) { return {(element)v[0], (element)v[1]}; } }; \
  template <> struct __wb_texel<name##4> { typedef register word; __WB_MEMBER static name##4 of(const word *v) { return {(element)v[0], (element)v[1], (element)v[2], (element)v[3]}; } };
__WB_TEXEL(signed char, char, int)
__WB_TEXEL(unsigned char, uchar, unsigned int)
__WB_TEXEL(short, short, int)
__WB_TEXEL(unsigned short, ushort, unsigned int)
__WB_TEXEL(int, int, int)
__WB_TEXEL(unsigned int, uint, unsigned int)
__WB_TEXEL(float, float, float)
#undef __WB_TEXEL
template <> struct __wb_texel<char> : __wb_texel<signed char> {
  __WB_MEMBER static char of(const int *v) { return (char)v[0]; }
};

#define __WB_LIST(...) __VA_ARGS__
#define __WB_WORDS(c) "=" c(v[0]), "=" c(v[1]), "=" c(v[2]), "=" c(v[3])
// Coordinates are operands from %5 on, after the object.
#define __WB_TEXTURE(name, instruction, coordinate, where, parameters, inputs, arguments)                                 \
  __WB void __wb_##name(float *v, cudaTextureObject_t t, __WB_LIST parameters) {                                          \
    asm(instruction ".f32." coordinate " {%0, %1, %2, %3}, [%4, " where : __WB_WORDS("f") : "l"(t), __WB_LIST inputs);     \
  }                                                                                                                       \
  __WB void __wb_##name(int *v, cudaTextureObject_t t, __WB_LIST parameters) {                                            \
    asm(instruction ".s32." coordinate " {%0, %1, %2, %3}, [%4, " where : __WB_WORDS("r") : "l"(t), __WB_LIST inputs);     \
  }                                                                                                                       \
  __WB void __wb_##name(unsigned int *v, cudaTextureObject_t t, __WB_LIST parameters) {                                   \
    asm(instruction ".u32." coordinate " {%0, %1, %2, %3}, [%4, " where : __WB_WORDS("r") : "l"(t), __WB_LIST inputs);     \
  }                                                                                                                       \
  template <class T> __WB T name(cudaTextureObject_t t, __WB_LIST parameters) {                                           \
    typename __wb_texel<T>::word v[4];                                                                                    \
    __wb_##name(v, t, __WB_LIST arguments);                                                                               \
    return __wb_texel<T>::of(v);                                                                                          \
  }                                                                                                                       \
  template <class T> __WB void name(T *to, cudaTextureObject_t t, __WB_LIST parameters) { *to = name<T>(t, __WB_LIST arguments); }
__WB_TEXTURE(tex1Dfetch, "tex.1d.v4", "s32", "{%5}];", (int x), ("r"(x)), (x))
__WB_TEXTURE(tex1D, "tex.1d.v4", "f32", "{%5}];", (float x), ("f"(x)), (x))
__WB_TEXTURE(tex2D, "tex.2d.v4", "f32", "{%5, %6}];", (float x, float y), ("f"(x), "f"(y)), (x, y))
__WB_TEXTURE(tex3D, "tex.3d.v4", "f32", "{%5, %6, %7, %7}];", (float x, float y, float z), ("f"(x), "f"(y), "f"(z)), (x, y, z))
__WB_TEXTURE(tex1DLayered, "tex.a1d.v4", "f32", "{%6, %5}];", (float x, int layer), ("f"(x), "r"(layer)), (x, layer))
__WB_TEXTURE(tex2DLayered, "tex.a2d.v4", "f32", "{%7, %5, %6, %6}];", (float x, float y, int layer), ("f"(x), "f"(y), "r"(layer)), (x, y, layer))
__WB_TEXTURE(tex1DLod, "tex.level.1d.v4", "f32", "{%5}], %6;", (float x, float level), ("f"(x), "f"(level)), (x, level))
__WB_TEXTURE(tex2DLod, "tex.level.2d.v4", "f32", "{%5, %6}], %7;", (float x, float y, float level), ("f"(x), "f"(y), "f"(level)), (x, y, level))
__WB_TEXTURE(tex3DLod, "tex.level.3d.v4", "f32", "{%5, %6, %7, %7}], %8;", (float x, float y, float z, float level), ("f"(x), "f"(y), "f"(z), "f"(level)), (x, y, z, level))
__WB_TEXTURE(__wb_gather0, "tld4.r.2d.v4", "f32", "{%5, %6}];", (float x, float y), ("f"(x), "f"(y)), (x, y))
__WB_TEXTURE(__wb_gather1, "tld4.g.2d.v4", "f32", "{%5, %6}];", (float x, float y), ("f"(x), "f"(y)), (x, y))
__WB_TEXTURE(__wb_gather2, "tld4.b.2d.v4", "f32", "{%5, %6}];", (float x, float y), ("f"(x), "f"(y)), (x, y))
__WB_TEXTURE(__wb_gather3, "tld4.a.2d.v4", "f32", "{%5, %6}];", (float x, float y), ("f"(x), "f"(y)), (x, y))
template <class T> __WB T tex2Dgather(cudaTextureObject_t t, float x, float y, int channel = 0) {
  return channel == 0 ? __wb_gather0<T>(t, x, y) : channel == 1 ? __wb_gather1<T>(t, x, y) : channel == 2 ? __wb_gather2<T>(t, x, y) : __wb_gather3<T>(t, x, y);
}
template <class T> __WB void tex2Dgather(T *to, cudaTextureObject_t t, float x, float y, int channel = 0) { *to = tex2Dgather<T>(t, x, y, channel); }
#undef __WB_TEXTURE
#undef __WB_WORDS


// A surface is accessed by bytes: each size has its own instruction.
#define __WB_SURFACE_MODE(name, outside, geometry, at, parameters, inputs)                                                \
  __WB void __wb_##name##_read_##outside(unsigned int *v, int bytes, cudaSurfaceObject_t s, __WB_LIST parameters) {       \
    unsigned short h = 0;                                                                                                 \
    if (bytes == 1) asm volatile("suld.b." geometry ".b8." #outside " %[h], " at ";" : [h] "=h"(h) : [s] "l"(s), __WB_LIST inputs : "memory"); \
    else if (bytes == 2) asm volatile("suld.b." geometry ".b16." #outside " %[h], " at ";" : [h] "=h"(h) : [s] "l"(s), __WB_LIST inputs : "memory"); \
    else if (bytes == 4) asm volatile("suld.b." geometry ".b32." #outside " %[a], " at ";" : [a] "=r"(v[0]) : [s] "l"(s), __WB_LIST inputs : "memory"); \
    else if (bytes == 8) asm volatile("suld.b." geometry ".v2.b32." #outside " {%[a], %[b]}, " at ";" : [a] "=r"(v[0]), [b] "=r"(v[1]) : [s] "l"(s), __WB_LIST inputs : "memory"); \
    else asm volatile("suld.b." geometry ".v4.b32." #outside " {%[a], %[b], %[c], %[d]}, " at ";" : [a] "=r"(v[0]), [b] "=r"(v[1]), [c] "=r"(v[2]), [d] "=r"(v[3]) : [s] "l"(s), __WB_LIST inputs : "memory"); \
    if (bytes <= 2) v[0] = h;                                                                                             \
  }                                                                                                                       \
  __WB void __wb_##name##_write_##outside(const unsigned int *v, int bytes, cudaSurfaceObject_t s, __WB_LIST parameters) { \
    unsigned short h = (unsigned short)v[0];                                                                              \
    if (bytes == 1) asm volatile("sust.b." geometry ".b8." #outside " " at ", %[h];" : : [h] "h"(h), [s] "l"(s), __WB_LIST inputs : "memory"); \
    else if (bytes == 2) asm volatile("sust.b." geometry ".b16." #outside " " at ", %[h];" : : [h] "h"(h), [s] "l"(s), __WB_LIST inputs : "memory"); \
    else if (bytes == 4) asm volatile("sust.b." geometry ".b32." #outside " " at ", %[a];" : : [a] "r"(v[0]), [s] "l"(s), __WB_LIST inputs : "memory"); \
    else if (bytes == 8) asm volatile("sust.b." geometry ".v2.b32." #outside " " at ", {%[a], %[b]};" : : [a] "r"(v[0]), [b] "r"(v[1]), [s] "l"(s), __WB_LIST inputs : "memory"); \
    else asm volatile("sust.b." geometry ".v4.b32." #outside " " at ", {%[a], %[b], %[c], %[d]};" : : [a] "r"(v[0]), [b] "r"(v[1]), [c] "r"(v[2]), [d] "r"(v[3]), [s] "l"(s), __WB_LIST inputs : "memory"); \
  }
#define __WB_SURFACE(name, geometry, at, parameters, inputs, arguments)                                                   \
  __WB_SURFACE_MODE(name, trap, geometry, at, parameters, inputs)                                                         \
  __WB_SURFACE_MODE(name, clamp, geometry, at, parameters, inputs)                                                        \
  __WB_SURFACE_MODE(name, zero, geometry, at, parameters, inputs)                                                         \
  template <class T> __WB T name##read(cudaSurfaceObject_t s, __WB_LIST parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "a surface has elements of 1, 2, 4, 8 or 16 bytes"); \
    unsigned int v[4] = {0, 0, 0, 0};                                                                                     \
    if (mode == cudaBoundaryModeTrap) __wb_##name##_read_trap(v, sizeof(T), s, __WB_LIST arguments);                      \
    else if (mode == cudaBoundaryModeClamp) __wb_##name##_read_clamp(v, sizeof(T), s, __WB_LIST arguments);               \
    else __wb_##name##_read_zero(v, sizeof(T), s, __WB_LIST arguments);                                                   \
    T to;                                                                                                                 \
    __builtin_memcpy(&to, v, sizeof(T));                                                                                  \
    return to;                                                                                                            \
  }                                                                                                                       \
  template <class T> __WB void name##read(T *to, cudaSurfaceObject_t s, __WB_LIST parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    *to = name##read<T>(s, __WB_LIST arguments, mode);                                                                    \
  }                                                                                                                       \
  template <class T> __WB void name##write(T from, cudaSurfaceObject_t s, __WB_LIST parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "a surface has elements of 1, 2, 4, 8 or 16 bytes"); \
    unsigned int v[4] = {0, 0, 0, 0};                                                                                     \
    __builtin_memcpy(v, &from, sizeof(T));                                                                                \
    if (mode == cudaBoundaryModeTrap) __wb_##name##_write_trap(v, sizeof(T), s, __WB_LIST arguments);                     \
    else if (mode == cudaBoundaryModeClamp) __wb_##name##_write_clamp(v, sizeof(T), s, __WB_LIST arguments);              \
    else __wb_##name##_write_zero(v, sizeof(T), s, __WB_LIST arguments);                                                  \
  }
__WB_SURFACE(surf1D, "1d", "[%[s], {%[x]}]", (int x), ([x] "r"(x)), (x))
__WB_SURFACE(surf2D, "2d", "[%[s], {%[x], %[y]}]", (int x, int y), ([x] "r"(x), [y] "r"(y)), (x, y))
__WB_SURFACE(surf3D, "3d", "[%[s], {%[x], %[y], %[z], %[z]}]", (int x, int y, int z), ([x] "r"(x), [y] "r"(y), [z] "r"(z)), (x, y, z))
__WB_SURFACE(surf1DLayered, "a1d", "[%[s], {%[layer], %[x]}]", (int x, int layer), ([x] "r"(x), [layer] "r"(layer)), (x, layer))
__WB_SURFACE(surf2DLayered, "a2d", "[%[s], {%[layer], %[x], %[y], %[y]}]", (int x, int y, int layer), ([x] "r"(x), [y] "r"(y), [layer] "r"(layer)), (x, y, layer))
#undef __WB_SURFACE
#undef __WB_SURFACE_MODE
#undef __WB_LIST
