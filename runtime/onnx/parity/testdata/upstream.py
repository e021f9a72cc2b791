"""Speaks a golden case with Kyutai's own package, pocket_tts, and writes the case anew with its numbers.

usage: upstream.py FROM TO lsd|drifting

FROM is the folder of a whole case (case.json, config.yaml, model.safetensors, tokenizer.model, noise). Texts, noise, temperatures and
thresholds of its runs are kept; prompts, tokens, rows of each step, keys and values, audio and where speech ends are upstream's. With
drifting the flow of the model is changed into one without time, whose runs are cut at twelve frames.
"""

import json
import queue
import shutil
import sys
import threading
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pocket_tts.models.tts_model as upstream
import torch
import yaml
from pocket_tts import TTSModel
from pocket_tts.models.model_state import export_model_state
from pocket_tts.models.text_chunking import prepare_text_prompt
from pocket_tts.modules.stateful_module import increment_steps, init_states
from safetensors.torch import load_file, save_file

KEPT = ["config.yaml", "model.safetensors", "tokenizer.model"]
VOICES = ["voice_audio.npy", "voice.safetensors"]  # the first that a case has is what its runs speak with


def drift(to: Path):
    """Takes the time out of the flow of the model in the folder."""
    config = yaml.safe_load((to / "config.yaml").read_text())
    config["flow_lm"]["flow"]["type"] = "drifting"
    (to / "config.yaml").write_text(yaml.safe_dump(config))
    weights = load_file(to / "model.safetensors")
    save_file({k: v for k, v in weights.items() if ".flow_net.time_embed." not in k}, to / "model.safetensors")


def complete(to: Path):
    """Adds what a case leaves out, the encoder of recordings, as zeros: upstream loads only whole models."""
    weights = load_file(to / "model.safetensors")
    for name, value in load(to, {"temperature": 0, "lsd_steps": 1, "eos_threshold": 0}, None).state_dict().items():
        if name not in weights:
            weights[name] = torch.zeros_like(value)
    save_file(weights, to / "model.safetensors")


def load(to: Path, run: dict, weights: str | None = "model.safetensors") -> TTSModel:
    """The model as upstream loads it, with paths that do not depend on the current folder."""
    config = yaml.safe_load((to / "config.yaml").read_text())
    config["weights_path"] = weights and str(to / weights)
    config["flow_lm"]["lookup_table"]["tokenizer_path"] = str(to / "tokenizer.model")
    there = to / "upstream.yaml"
    there.write_text(yaml.safe_dump(config))
    try:
        return TTSModel.load_model(
            config=there,
            temp=run["temperature"],
            sampler_decode_steps=run["lsd_steps"],
            eos_threshold=run["eos_threshold"],
        )
    finally:
        there.unlink()


def positions(state: dict, layers: int, end: int) -> np.ndarray:
    """Keys and values as [layers, 2, positions, heads, head_dim]."""
    caches = [state[f"transformer.layers.{i}.self_attn"]["cache"] for i in range(layers)]
    return torch.stack([c[:, 0, :end] for c in caches]).numpy()


class Speaker:
    """One run: gives the noise of the case in place of draws, and listens to what upstream's own loop computes."""

    def __init__(self, model: TTSModel, noise: np.ndarray):
        self.model, self.noise, self.draws = model, torch.from_numpy(noise), 0
        self.h, self.logits, self.latents = [], [], []
        self.is_step = False

    def normal(self, tensor, mean=0.0, std=1.0, generator=None):
        if not self.is_step:  # the text's own draw is thrown away
            return tensor.zero_()
        tensor.copy_(self.noise[self.draws] * std)
        self.draws += 1
        return tensor

    def run(self, text: str, prompt: dict, max_frames: int, after: int) -> np.ndarray:
        model = self.model
        state = {name: {k: v.clone() for k, v in s.items()} for name, s in prompt.items()}
        tokens = model.flow_lm.conditioner.prepare(text)
        model._expand_kv_cache(state, model._flow_lm_current_end(state) + tokens.shape[1] + max_frames)
        sample = model.flow_lm._sample_next_latent

        def listened(sequence, *rest, **more):
            self.is_step = sequence.shape[1] > 0
            latent, is_eos = sample(sequence, *rest, **more)
            if self.is_step:
                self.latents.append(latent[0].clone())
            return latent, is_eos

        def heard(module, given, logit):
            if self.is_step:
                self.h.append(given[0][0].clone())
                self.logits.append(logit[0].clone())

        drawn = torch.nn.init.normal_
        hook = model.flow_lm.out_eos.register_forward_hook(heard)
        torch.nn.init.normal_, model.flow_lm._sample_next_latent = self.normal, listened
        try:
            model._run_flow_lm_and_increment_step(model_state=state, text_tokens=tokens)
            layers = len(model.flow_lm.transformer.layers)
            kv = positions(state, layers, model._flow_lm_current_end(state))
            model._autoregressive_generation(state, max_frames, after, queue.Queue(), threading.Event())
        finally:
            torch.nn.init.normal_, model.flow_lm._sample_next_latent = drawn, sample
            hook.remove()
        return kv


def decode(model: TTSModel, latents: torch.Tensor, plan: list[int]) -> np.ndarray:
    """The codec's samples of [frames, latent], a call for each group of the plan, whose last number repeats."""
    per_frame = int(model.mimi.encoder_frame_rate / model.mimi.frame_rate)
    state = init_states(model.mimi, batch_size=1, sequence_length=len(latents) * per_frame)
    parts, at = [], 0
    while at < len(latents):
        n = plan[min(len(parts), len(plan) - 1)]
        group = latents[None, at : at + n]
        parts.append(model.mimi.decode_from_latent(group * model.flow_lm.emb_std + model.flow_lm.emb_mean, state)[0, 0])
        increment_steps(model.mimi, state, increment=per_frame * group.shape[1])
        at += n
    return torch.cat(parts).numpy()


def faded(model: TTSModel, latent: torch.Tensor) -> np.ndarray:
    """The first frame as upstream's decoder thread hands it out."""
    latents, results = queue.Queue(), queue.Queue()
    latents.put(latent[None, None])
    latents.put(None)
    per_frame = int(model.mimi.encoder_frame_rate / model.mimi.frame_rate)
    model._decode_audio_worker(latents, results, per_frame, per_frame)
    kind, audio = results.get()
    if kind != "chunk":
        raise RuntimeError(f"the decoder ended with {kind}: {audio}")
    return audio[0, 0].numpy()


def save(to: Path, name: str, values) -> str:
    np.save(to / name, np.ascontiguousarray(values))
    return name


def describe(run: dict, model: TTSModel) -> torch.Tensor:
    """Fills in what follows from the text of a run, and returns its tokens."""
    c = model.config
    run["prepared_text"], guess = prepare_text_prompt(
        run["text"], c.pad_with_spaces_for_short_inputs, c.remove_semicolons, c.append_terminal_punctuation,
        c.capitalize_first_letter, c.replace_characters,
    )
    tokens = model.flow_lm.conditioner.prepare(run["prepared_text"])[0]
    run["token_count"] = len(tokens)
    run["frames_after_eos"] = c.model_recommended_frames_after_eos or guess + 2
    run["min_frames_before_eos"] = model._MIN_FRAMES_BEFORE_EOS
    if not run["max_frames_is_override"]:
        run["max_frames"] = model._estimate_max_gen_len(len(tokens))
    return tokens


def expectation(run: dict, logits: list) -> dict:
    """What is to be seen of the end of a run."""
    steps = len(logits)
    over = [i for i, v in enumerate(logits) if v > run["eos_threshold"] and i >= run["min_frames_before_eos"]]
    eos_step = over[0] if over else None
    is_eos = eos_step is not None and eos_step + run["frames_after_eos"] == steps - 1
    frames = steps - 1 if is_eos else steps
    return {
        "steps_computed": steps, "frames": frames, "samples": frames * 1920, "eos_step": eos_step,
        "stopped_by": "eos" if is_eos else "max_frames", "eos": is_eos,
    }


def speak(source: Path, to: Path, run: dict, model: TTSModel, prompt: dict):
    """Runs one run, and writes its arrays and what is expected of it."""
    name, tokens = run["name"], describe(run, model)
    noise = np.load(source / run["files"]["noise_unit"])
    if len(noise) < run["max_frames"]:  # speech may end later than in the case
        missing = run["max_frames"] - len(noise)
        more = np.random.default_rng(missing).standard_normal((missing, noise.shape[1]), dtype=np.float32)
        noise = np.concatenate([noise, more])
    speaker = Speaker(model, noise)
    kv = speaker.run(run["prepared_text"], prompt, run["max_frames"], run["frames_after_eos"])
    near = min(abs(float(v) - run["eos_threshold"]) for v in speaker.logits)
    if near < 0.1:
        raise RuntimeError(f"run {name}: a logit is {near} from the threshold, too near to tell rounding from a mistake")
    latents = torch.stack(speaker.latents)
    run["decode_plan"], run["expect"] = [1, 4], expectation(run, speaker.logits)
    steps, frames = run["expect"]["steps_computed"], run["expect"]["frames"]
    arrays = {
        "tokens": tokens.numpy().astype(np.int64),
        "noise_unit": noise[:steps],
        "h": torch.stack(speaker.h).numpy(),
        "eos_logit": torch.stack(speaker.logits)[:, 0].numpy(),
        "latent": latents.numpy(),
        "kv_text": kv,
        "audio": decode(model, latents[:frames], run["decode_plan"]),
        "audio_first_frame_faded": faded(model, latents[0]),
    }
    run["files"] = {quantity: save(to, f"run_{name}.{quantity}.npy", values) for quantity, values in arrays.items()}
    print(f"{name}: {steps} steps, {frames} frames, ended by {run['expect']['stopped_by']}, logits stay {near:.2f} from the threshold")


@torch.no_grad()
def main():
    source, to, flow = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    to.mkdir(parents=True)
    voice = next(name for name in VOICES if (source / name).exists())
    for name in [*KEPT, voice]:
        shutil.copy(source / name, to / name)
    case = json.loads((source / "case.json").read_text())
    print(f"pocket_tts {version('pocket-tts')}, torch {torch.__version__}, {case['case']}, {flow}")
    if flow == "drifting":
        drift(to)
        for run in case["runs"]:
            run.update(eos_threshold=50.0, max_frames=12, max_frames_is_override=True)
    complete(to)
    given = to / voice
    if voice.endswith(".npy"):
        given = torch.from_numpy(np.load(given))[None]
        upstream.end_on_pause = lambda samples, rate: samples  # of noise nothing is to be cut
    for run in case["runs"]:
        model = load(to, run)
        prompt = model.get_state_for_audio_prompt(given)
        speak(source, to, run, model, prompt)
    if voice.endswith(".npy"):
        save(to, "voice_latents.npy", model.mimi.encode_to_latent(given[None])[0].numpy())
        export_model_state(prompt, to / "voice.safetensors")
    case["voice"] = {"positions": model._flow_lm_current_end(prompt), "files": {"voice.safetensors": "upstream export"}}
    (to / "case.json").write_text(json.dumps({k: v for k, v in case.items() if k != "files"}))


main()
