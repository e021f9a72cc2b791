// Speaks with sherpa-onnx and says what it cost. The first argument is the folder of a model. Each line of input is a JSON object with
// text and frames; each line of output one with CPU and wall time in milliseconds, of the whole process.
'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');
const {OfflineTts} = require('sherpa-onnx-node');

const dir = process.argv[2];
const find = (name) => [`${name}.int8.onnx`, `${name}.onnx`].map((f) => path.join(dir, f)).find(fs.existsSync);

function cpu() {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1000;
}

// peak returns the largest resident size so far, in bytes.
function peak() {
  return process.resourceUsage().maxRSS * 1024;
}

const empty = peak(); // of Node itself, with the library
const tts = new OfflineTts({
  model: {
    pocket: {
      lmMain: find('lm_main'),
      lmFlow: find('lm_flow'),
      encoder: find('encoder'),
      decoder: find('decoder'),
      textConditioner: find('text_conditioner'),
      vocabJson: path.join(dir, 'vocab.json'),
      tokenScoresJson: path.join(dir, 'token_scores.json'),
      voiceEmbeddingCacheCapacity: 50,
    },
    numThreads: 1,
    provider: 'cpu',
    debug: false,
  },
  maxNumSentences: 1,
});

const wav = fs.readFileSync(path.join(dir, 'test_wavs', 'raj.wav')).subarray(44);
const reference = new Float32Array(wav.length / 2);
for (let i = 0; i < reference.length; i++) reference[i] = wav.readInt16LE(2 * i) / 32768;

async function speak({text, frames}) {
  const start = {cpu: cpu(), wall: performance.now()};
  let first;
  const audio = await tts.generateAsync({
    text,
    enableExternalBuffer: false,
    generationConfig: {
      referenceAudio: reference,
      referenceSampleRate: 24000,
      numSteps: 1,
      extra: {
        max_frames: frames, frames_after_eos: 3, temperature: 0.3, seed: 1, max_reference_audio_len: 30,
        min_char_in_sentence: 1, max_char_in_sentence: 400,
      },
    },
    onProgress: () => {
      first ??= {cpu: cpu() - start.cpu, wall: performance.now() - start.wall};
      return 1;
    },
  });
  return {
    frames: audio.samples.length / 1920,
    first_cpu_ms: first?.cpu ?? 0,
    first_ms: first?.wall ?? 0,
    cpu_ms: cpu() - start.cpu,
    resident_bytes: process.memoryUsage().rss,
    peak_bytes: peak(),
    empty_bytes: empty,
  };
}

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    console.log(JSON.stringify(await speak(JSON.parse(line))));
  }
})();
