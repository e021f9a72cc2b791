// What a page has asked for: not yet there, failed, or there; and actions of forms.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { away, failed, once, type Answer, type Failure } from "../lib/api";

export interface Loaded<V> {
  value: V | undefined; // the last that came; it stays while the next is asked for
  failure: Failure | undefined;
  reload(): Promise<void>;
  set(v: V): void;
}

/**
 * Asks when the page opens, or so many milliseconds later, and whenever one of deps changes; older answers are dropped. What failed
 * for want of a server is asked again when it is back.
 */
export function useLoad<V>(ask: () => Promise<Answer<V>>, deps: readonly unknown[], after = 0): Loaded<V> {
  const [state, setState] = useState<{ value?: V; failure?: Failure; deps?: readonly unknown[] }>({});
  const turn = useRef(0);
  const reload = async () => {
    const mine = ++turn.current;
    const answer = await ask();
    if (mine !== turn.current) return;
    setState((s) =>
      failed(answer)
        ? { value: same(s.deps, deps) ? s.value : undefined, failure: answer, deps }
        : { value: answer, deps },
    );
  };
  useEffect(() => {
    let timer: number | undefined;
    if (after > 0) timer = window.setTimeout(() => void reload(), after);
    else void reload();
    return () => {
      clearTimeout(timer);
      turn.current++;
    };
  }, deps);
  const gone = away.value;
  useEffect(() => {
    if (!gone && state.failure?.code === "unreached") void reload();
  }, [gone]);
  return { value: state.value, failure: state.failure, reload, set: (value) => setState({ value, deps }) };
}

/** Whether all have come or failed: a page that is shown at once does not move while it is read. */
export const settled = (...all: Loaded<unknown>[]) => all.every((l) => l.value !== undefined || l.failure);

const same = (a: readonly unknown[] | undefined, b: readonly unknown[]) =>
  a !== undefined && a.length === b.length && a.every((v, i) => v === b[i]);

/** Calls every so often while somebody looks. */
export function useEvery(ms: number, act: () => void, on = true) {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, on]);
}

export interface Action {
  busy: boolean;
  failure: Failure | undefined;
  go(): Promise<void>;
}

/** What a button does. Its idempotency key stays while no answer came, so that trying again does nothing twice. */
export function useAction<V>(act: (key: string) => Promise<Answer<V>>, done: (v: V) => void): Action {
  const key = useRef(useMemo(once, []));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const running = useRef(false);
  const go = async () => {
    if (running.current) return; // two clicks before the first is shown
    running.current = true;
    setBusy(true);
    const answer = await act(key.current);
    running.current = false;
    setBusy(false);
    setFailure(failed(answer) ? answer : undefined);
    if (!failed(answer) || answer.code !== "unreached") key.current = once();
    if (!failed(answer)) done(answer);
  };
  return { busy, failure, go };
}

/** Answers v, but not before it has stood still for a while. */
export function useSettled<V>(v: V, ms: number): V {
  const [settled, setSettled] = useState(v);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(v), ms);
    return () => clearTimeout(timer);
  }, [v, ms]);
  return settled;
}
