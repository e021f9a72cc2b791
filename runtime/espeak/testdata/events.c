/* Says each line of stdin with espeak-ng's library, as the voice, speed and pitch of its arguments, and writes what the
 * library tells of it: "word CHARACTER SAMPLE", "phoneme SAMPLE NAME" and at the end of a line "end SAMPLES RATE". The
 * samples themselves go to the file that the fourth argument names.
 *
 * What it needs of the library is declared here, so that its header need not be installed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	int type;
	unsigned int identifier;
	int text_position, length, audio_position, sample;
	void *user_data;
	union {
		int number;
		const char *name;
		char string[8];
	} id;
} event;

int espeak_Initialize(int output, int buffer_ms, const char *path, int options);
int espeak_SetVoiceByName(const char *name);
int espeak_SetParameter(int parameter, int value, int relative);
void espeak_SetSynthCallback(int (*callback)(short *, int, event *));
int espeak_Synth(const void *text, size_t size, unsigned int position, int position_type, unsigned int end_position,
		 unsigned int flags, unsigned int *identifier, void *user_data);

enum { synchronous = 2, phoneme_events = 1, rate = 1, pitch = 3, by_character = 1, utf8 = 1 };
enum { list_ended = 0, word = 1, phoneme = 7 };

static FILE *audio;
static long samples;

static int heard(short *pcm, int n, event *e)
{
	for (; e->type != list_ended; e++) {
		if (e->type == word)
			printf("word %d %d\n", e->text_position - 1, e->sample);
		else if (e->type == phoneme)
			printf("phoneme %d %.8s\n", e->sample, e->id.string);
	}
	if (pcm != NULL && fwrite(pcm, sizeof *pcm, n, audio) != (size_t)n)
		exit(3);
	samples += pcm == NULL ? 0 : n;
	return 0;
}

int main(int argc, char **argv)
{
	char line[1 << 16];
	int hertz;
	if (argc != 5 || (audio = fopen(argv[4], "wb")) == NULL)
		return 2;
	hertz = espeak_Initialize(synchronous, 0, NULL, phoneme_events);
	if (hertz < 0 || espeak_SetVoiceByName(argv[1]) != 0)
		return 2;
	espeak_SetSynthCallback(heard);
	espeak_SetParameter(rate, atoi(argv[2]), 0);
	espeak_SetParameter(pitch, atoi(argv[3]), 0);
	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = 0;
		samples = 0;
		if (espeak_Synth(line, strlen(line) + 1, 0, by_character, 0, utf8, NULL, NULL) != 0)
			return 3;
		printf("end %ld %d\n", samples, hertz);
	}
	return fclose(audio) != 0;
}
