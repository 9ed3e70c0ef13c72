//! right ^7$
#include <iostream>
//@ 000:216
int main() { printValue(7); }
