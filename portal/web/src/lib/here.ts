// The organisation of the page, and what the one who has signed in may do in it.

import { computed } from "@preact/signals";
import type { Organisation } from "./portal.gen";
import { org as asked } from "./router";
import { me } from "./session";

export const here = computed<Organisation | undefined>(() => me.value?.orgs.find((o) => o.id === asked.value));
export const mayWrite = computed(() => here.value !== undefined && here.value.role !== "viewer");
export const isOwner = computed(() => here.value?.role === "owner");
export const projectName = (id: string) => here.value?.projects.find((p) => p.id === id)?.name ?? "";
export const voiceNames = computed(() => me.value?.voices.map((v) => v.name) ?? []);

/** Origin of the synthesis API; in a fleet, that of its routers. */
export const api = document.documentElement.dataset.api || location.origin;
