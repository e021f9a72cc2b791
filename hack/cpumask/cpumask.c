// A library to be preloaded, which hides sets of instructions from a program: CPUMASK=avx2 those that came after
// AVX2, CPUMASK=avx512 those after the first AVX-512. The program then takes the code of an older processor at the
// speed of this one. It works where Linux can make CPUID fault (arch_prctl(2), ARCH_SET_CPUID) and does not reach
// into the children of the program. The program's own handler of faults is kept behind this one, and gets the others:
// that of Go would take a CPUID in Go code for a crash.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static int only_avx2;
static struct sigaction theirs; // what the program wants to be done about a fault

typedef int set_action(int, const struct sigaction *, struct sigaction *);

static int really(int signal_number, const struct sigaction *now, struct sigaction *before) {
	static set_action *next;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "sigaction");
	return next(signal_number, now, before);
}

// sigaction takes the place of the C library's.
int sigaction(int signal_number, const struct sigaction *now, struct sigaction *before) {
	if (signal_number != SIGSEGV)
		return really(signal_number, now, before);
	const struct sigaction was = theirs;
	if (now != NULL)
		theirs = *now;
	if (before != NULL)
		*before = was;
	return 0;
}

static long let_cpuid(unsigned long on) { return syscall(SYS_arch_prctl, ARCH_SET_CPUID, on); }

#define BIT(n) (1u << (n))

// mask takes bits out of what CPUID answers. The bits are those of Intel's manual, volume 2A, CPUID.
static void mask(unsigned leaf, unsigned sub, unsigned *a, unsigned *b, unsigned *c, unsigned *d) {
	const unsigned avx512_b = BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31);
	const unsigned avx512_c = BIT(1) | BIT(6) | BIT(12) | BIT(14), avx512_d = BIT(2) | BIT(3) | BIT(8) | BIT(23);
	if (leaf == 7 && sub == 0) {
		*c &= ~BIT(11);                                 // AVX512_VNNI
		*d &= ~(BIT(22) | BIT(24) | BIT(25));           // AMX
		if (only_avx2)
			*b &= ~avx512_b, *c &= ~avx512_c, *d &= ~avx512_d;
	}
	if (leaf == 7 && sub == 1)
		*a &= ~(BIT(4) | BIT(5)), *d &= ~(BIT(4) | BIT(10)); // AVX_VNNI, AVX512_BF16, AVX_VNNI_INT8 and INT16
	if (leaf == 0xd && sub == 0 && only_avx2)
		*a &= ~(BIT(5) | BIT(6) | BIT(7)); // the registers of AVX-512
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)r[REG_RIP];
	if (info->si_code != SI_KERNEL || code[0] != 0x0f || code[1] != 0xa2) {
		if (theirs.sa_flags & SA_SIGINFO)
			theirs.sa_sigaction(signal_number, info, context);
		else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN)
			theirs.sa_handler(signal_number);
		else {
			really(signal_number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
			raise(signal_number); // once this handler has ended
		}
		return;
	}
	const unsigned leaf = (unsigned)r[REG_RAX], sub = (unsigned)r[REG_RCX];
	unsigned a = leaf, b, c = sub, d;
	let_cpuid(1);
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	let_cpuid(0);
	mask(leaf, sub, &a, &b, &c, &d);
	r[REG_RAX] = a, r[REG_RBX] = b, r[REG_RCX] = c, r[REG_RDX] = d;
	r[REG_RIP] += 2;
}

__attribute__((constructor(101))) static void begin(void) {
	const char *to = getenv("CPUMASK");
	unsetenv("LD_PRELOAD");
	if (to == NULL || (strcmp(to, "avx2") != 0 && strcmp(to, "avx512") != 0)) {
		fprintf(stderr, "cpumask: CPUMASK is %s, want avx2 or avx512\n", to == NULL ? "not set" : to);
		exit(2);
	}
	only_avx2 = strcmp(to, "avx2") == 0;
	struct sigaction now = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigfillset(&now.sa_mask); // as handlers have it that this one may call
	if (really(SIGSEGV, &now, &theirs) != 0 || let_cpuid(0) != 0) {
		fprintf(stderr, "cpumask: this machine cannot hide instructions: %s\n", strerror(errno));
		exit(2);
	}
}
