//! right ^Hello from CPU$
#include <cstdio>
//@ 003:552
int main() { printHello(); }
