// The choice of a project, which stays in the address.

import { here } from "../lib/here";
import { ask } from "../lib/router";
import { Select } from "./parts";
import { t } from "./words";

/** Narrows a page to a project. With every, to all of them, too. */
export function Projects({ value, every }: { value: string; every?: boolean }) {
  const all = here.value?.projects ?? [];
  if (all.length < 2) return null;
  return (
    <Select
      label={t("project")}
      value={value}
      onChoose={(v) => ask({ project: v })}
      choices={[...(every ? [["", t("allProjects")] as const] : []), ...all.map((p) => [p.id, p.name] as const)]}
    />
  );
}
