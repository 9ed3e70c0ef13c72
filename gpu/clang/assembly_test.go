package clang

import "testing"

func TestDoubled(t *testing.T) {
	for source, want := range map[string]string{
		`asm("mov.u32 %0, %laneid;" : "=r"(x));`:                                                  `asm("mov.u32 %0, %%laneid;" : "=r"(x));`,
		`asm volatile("mov.u32 %0, %%smid;" : "=r"(x)); printf("%d %s", 1);`:                      `asm volatile("mov.u32 %0, %%smid;" : "=r"(x)); printf("%d %s", 1);`,
		"asm volatile (\"{ .reg .pred %p;\"\n \" setp.eq.u32 %p, %1, %[n]; }\" :: \"r\"(i % n));": "asm volatile (\"{ .reg .pred %%p;\"\n \" setp.eq.u32 %%p, %1, %[n]; }\" :: \"r\"(i % n));",
		`asm volatile("mov.u32 %r1, %r2;");`:                                                      `asm volatile("mov.u32 %r1, %r2;");`,
		`int plasma(int a) { return a %b; } const char *s = "%d"; asm(`:                           `int plasma(int a) { return a %b; } const char *s = "%d"; asm(`,
		`__asm__ __volatile__("a \\"%x\\" %y;" STRING("%z") : : "l"(p)); f("%w")`:                 `__asm__ __volatile__("a \\"%%x\\" %%y;" STRING("%%z") : : "l"(p)); f("%w")`,
		`printf("asm (%d cycles: %s\n", n, s); asm("a %x;" : "=r"(y));`:                           `printf("asm (%d cycles: %s\n", n, s); asm("a %%x;" : "=r"(y));`,
		"asm( // load: \"a\n\"b %x;\" /* %z: */ : \"=r\"(y)); // asm(\nf(\"%d\", c ? a : b);":     "asm( // load: \"a\n\"b %%x;\" /* %%z: */ : \"=r\"(y)); // asm(\nf(\"%d\", c ? a : b);",
		`char q = '"'; asm("a %x;" : "=r"(y));`:                                                   `char q = '"'; asm("a %%x;" : "=r"(y));`,
	} {
		if got := doubled(source); got != want {
			t.Errorf("%s\n got %s\nwant %s", source, got, want)
		}
	}
}
