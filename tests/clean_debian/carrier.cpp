#include <satin/version.h>

#include <cstdio>

int main() { std::printf("carrier of satin %s\n", satin::version()); }
