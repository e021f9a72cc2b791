// A library to be preloaded, which hides sets of instructions from a program: CPUMASK=avx2 those that came after
// AVX2, CPUMASK=avx512 those after the first AVX-512. The program then takes the code of an older processor at the
// speed of this one. The library answers CPUID in the program's place. There are two ways to get there:
//
//   - fault: Linux makes every CPUID fault (arch_prctl(2), ARCH_SET_CPUID). Not every processor can.
//   - patch, where CPUMASK_SITES names sites.sh: the library is an auditor (rtld-audit(7)) too. While the linker loads
//     the program and each of its libraries, also late ones, their CPUID instructions are overwritten in memory by one
//     that no processor has. The C library is left alone: it has asked the processor before.
//
// Neither reaches into the children of the program. The program's own handler of the signal is kept behind this one,
// and gets the others: that of Go would take a CPUID in Go code for a crash.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int only_avx2;
static const char *sites;            // the script that finds CPUID instructions; NULL where CPUID faults
static volatile unsigned answered;   // times that CPUID was answered here
static struct sigaction theirs;      // what the program wants to be done about the signal

static const unsigned char cpuid_code[2] = {0x0f, 0xa2}, trap_code[2] = {0x0f, 0x04};

static int the_signal(void) { return sites != NULL ? SIGILL : SIGSEGV; }

static void fail(const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "cpumask: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	_exit(2);
}

typedef int set_action(int, const struct sigaction *, struct sigaction *);

static int really(int signal_number, const struct sigaction *now, struct sigaction *before) {
	static set_action *next;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "sigaction");
	return next(signal_number, now, before);
}

// sigaction takes the place of the C library's.
int sigaction(int signal_number, const struct sigaction *now, struct sigaction *before) {
	if (signal_number != the_signal())
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

static void on_signal(int signal_number, siginfo_t *info, void *context) {
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)r[REG_RIP];
	const int ours = sites != NULL ? info->si_code == ILL_ILLOPN && memcmp(code, trap_code, 2) == 0
	                               : info->si_code == SI_KERNEL && memcmp(code, cpuid_code, 2) == 0;
	if (!ours) {
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
	if (sites == NULL)
		let_cpuid(1);
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (sites == NULL)
		let_cpuid(0);
	mask(leaf, sub, &a, &b, &c, &d);
	r[REG_RAX] = a, r[REG_RBX] = b, r[REG_RCX] = c, r[REG_RDX] = d;
	r[REG_RIP] += 2;
	answered++;
}

// ask_cpuid has the one CPUID of this library that is patched. See la_objopen.
__attribute__((noinline)) static void ask_cpuid(void) {
	unsigned a = 7, b, c = 0, d;
	__asm__ volatile(".globl cpumask_asks\n.hidden cpumask_asks\ncpumask_asks: cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
}
extern const unsigned char cpumask_asks[];

// begin runs twice where CPUID is patched: for the auditor, which has libraries of its own, and for the program.
__attribute__((constructor(101))) static void begin(void) {
	const char *to = getenv("CPUMASK");
	sites = getenv("CPUMASK_SITES");
	if (to == NULL || (strcmp(to, "avx2") != 0 && strcmp(to, "avx512") != 0))
		fail("CPUMASK is %s, want avx2 or avx512", to == NULL ? "not set" : to);
	only_avx2 = strcmp(to, "avx2") == 0;
	struct sigaction now = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigfillset(&now.sa_mask); // as handlers have it that this one may call
	if (really(the_signal(), &now, &theirs) != 0)
		fail("no handler can be set: %s", strerror(errno));
	if (sites == NULL) {
		unsetenv("LD_PRELOAD");
		if (let_cpuid(0) != 0)
			fail("this machine cannot make CPUID fault: %s", strerror(errno));
		return;
	}
	theirs = (struct sigaction){.sa_handler = SIG_DFL}; // not the auditor's handler
	if (memcmp(cpumask_asks, trap_code, 2) != 0)
		return; // the auditor: only the program's copy is patched
	unsetenv("LD_PRELOAD");
	unsetenv("LD_AUDIT");
	ask_cpuid();
	if (answered != 1)
		fail("a patched CPUID was not answered");
}

// The functions of an auditor.

static char *clean_env[64]; // of the script: without what makes this library load

unsigned la_version(unsigned version) {
	int n = 0;
	for (char **e = environ; *e != NULL && n < 63; e++)
		if (strncmp(*e, "LD_", 3) != 0 && (strncmp(*e, "PATH=", 5) == 0 || strncmp(*e, "HOME=", 5) == 0))
			clean_env[n++] = *e;
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// self_base returns where this copy of the library is loaded.
static const unsigned char *self_base(void) {
	Dl_info info;
	if (dladdr(cpumask_asks, &info) == 0)
		fail("the library does not find itself");
	return info.dli_fbase;
}

static void overwrite(unsigned char *at, const char *file) {
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at & ~(page - 1);
	const size_t size = (uintptr_t)at + 2 - first;
	if (memcmp(at, cpuid_code, 2) != 0)
		fail("%s has no CPUID where one was found", file);
	if (mprotect((void *)first, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		fail("code of %s cannot be written: %s", file, strerror(errno));
	memcpy(at, trap_code, 2);
	if (mprotect((void *)first, size, PROT_READ | PROT_EXEC) != 0)
		fail("code of %s cannot be protected again: %s", file, strerror(errno));
}

// has_bytes tells if the code of a file, loaded at base, has the bytes of CPUID anywhere, in an instruction or not.
static int has_bytes(const char *file, uintptr_t base) {
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;
	if (fd < 0 || pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		fail("%s cannot be read: %s", file, strerror(errno));
	int found = 0;
	for (int i = 0; i < head.e_phnum && !found; i++) {
		Elf64_Phdr p;
		if (pread(fd, &p, sizeof p, (off_t)(head.e_phoff + (size_t)i * head.e_phentsize)) != sizeof p)
			fail("%s cannot be read: %s", file, strerror(errno));
		if (p.p_type == PT_LOAD && (p.p_flags & PF_X))
			found = memmem((void *)(base + p.p_vaddr), p.p_filesz, cpuid_code, 2) != NULL;
	}
	close(fd);
	return found;
}

// patch overwrites every CPUID of a file that is loaded at base.
static void patch(const char *file, uintptr_t base) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		fail("pipe: %s", strerror(errno));
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	if (fcntl(2, F_GETFD) >= 0)
		posix_spawn_file_actions_adddup2(&actions, 2, 2); // not closed by exec, as Node.js has it
	else
		posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	char *argv[] = {(char *)sites, (char *)file, NULL};
	pid_t pid;
	const int error = posix_spawn(&pid, sites, &actions, NULL, argv, clean_env);
	if (error != 0)
		fail("%s: %s", sites, strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	FILE *list = fdopen(ends[0], "r");
	char line[64];
	unsigned n = 0;
	int whole = 0;
	while (list != NULL && fgets(line, sizeof line, list) != NULL) {
		whole = strcmp(line, "end\n") == 0;
		if (!whole)
			overwrite((unsigned char *)(base + strtoull(line, NULL, 16)), file), n++;
	}
	if (!whole)
		fail("%s found no list for %s", sites, file);
	fclose(list);
	waitpid(pid, NULL, 0);
	if (n > 0)
		fprintf(stderr, "cpumask: patched %u CPUID instructions of %s in memory\n", n, file);
}

unsigned la_objopen(struct link_map *object, Lmid_t namespace, uintptr_t *cookie) {
	(void)cookie;
	char own[4096];
	const char *file = object->l_name;
	if (sites == NULL || namespace != LM_ID_BASE)
		return 0;
	if (file[0] == 0) { // the program itself
		const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
		if (n < 0)
			fail("the program's file is not known: %s", strerror(errno));
		own[n] = 0;
		file = own;
	}
	const char *name = strrchr(file, '/');
	if (name == NULL || strncmp(name, "/ld-linux", 9) == 0 || strncmp(name, "/libc.so.", 9) == 0)
		return 0; // without a path it is the kernel's vDSO
	if (strcmp(name, "/cpumask.so") == 0)
		overwrite((unsigned char *)object->l_addr + (cpumask_asks - self_base()), file);
	else if (has_bytes(file, object->l_addr))
		patch(file, object->l_addr);
	return 0;
}
