// A new organisation.

import { useState } from "preact/hooks";
import type { Organisation } from "../lib/portal.gen";
import { go, to } from "../lib/router";
import { create, meet } from "../lib/session";
import { Dialog, Form } from "../ui/dialog";
import { useAction } from "../ui/load";
import { Field, Go, Wrong } from "../ui/parts";
import { t } from "./words";

export function OrgForm({ done }: { done?: () => void }) {
  const [name, setName] = useState("");
  const action = useAction<Organisation>(
    (key) => create("/orgs", { name: name.trim() }, key),
    (made) => {
      void meet().then(() => {
        go(to("playground", made.id));
        done?.();
      });
    },
  );
  return (
    <Form onSend={() => name.trim() && action.go()}>
      <Field label={t("orgName")} value={name} onInput={setName} max={80} focus auto="organization" />
      <Wrong of={action} />
      <div class="row">
        <span class="end">
          <Go of={action} label={t("create")} disabled={!name.trim()} />
        </span>
      </div>
    </Form>
  );
}

export function NewOrg({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={t("newOrg")} lead={t("firstLead")} onClose={onClose}>
      <OrgForm done={onClose} />
    </Dialog>
  );
}
