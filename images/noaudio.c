// A libpcaudio without a sound card. espeak-ng is linked with libpcaudio, whose own dependencies (ALSA, PulseAudio, and through it D-Bus,
// systemd, X11 and five codecs) are 27 libraries that take half of the time in which espeak-ng starts. A worker reads its audio from a pipe and
// never opens a device. Made for libpcaudio 1.2; that the symbols suffice is seen when espeak-ng speaks in the image.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

struct audio_object;

struct audio_object *create_audio_device_object(const char *device, const char *application, const char *description)
{
	(void)device, (void)application, (void)description;
	return NULL;
}

int audio_object_open(struct audio_object *o, int format, uint32_t rate, uint8_t channels)
{
	(void)o, (void)format, (void)rate, (void)channels;
	return ENODEV;
}

int audio_object_write(struct audio_object *o, const void *data, size_t bytes)
{
	(void)o, (void)data, (void)bytes;
	return ENODEV;
}

int audio_object_drain(struct audio_object *o)
{
	(void)o;
	return ENODEV;
}

int audio_object_flush(struct audio_object *o)
{
	(void)o;
	return ENODEV;
}

void audio_object_close(struct audio_object *o)
{
	(void)o;
}

void audio_object_destroy(struct audio_object *o)
{
	(void)o;
}

const char *audio_object_strerror(struct audio_object *o, int error)
{
	(void)o, (void)error;
	return "this image has no sound card";
}
