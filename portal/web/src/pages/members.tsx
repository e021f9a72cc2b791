// Who may see the organisation.

import { useState } from "preact/hooks";
import { failed } from "../lib/api";
import { ago, day, exact } from "../lib/format";
import { here, isOwner } from "../lib/here";
import type { Member, Members, Role, Ways } from "../lib/portal.gen";
import { org } from "../lib/router";
import { create, me, patch, portal, remove, ways } from "../lib/session";
import { copy, say } from "../ui/copy";
import { Dialog, FormDialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useAction, useLoad } from "../ui/load";
import { Menu } from "../ui/menu";
import { Allowed, Empty, Field, Head, Select, Show } from "../ui/parts";
import { sentence } from "../ui/errors";
import { t as shared } from "../ui/words";
import { t } from "./words";

const ROLES = ["owner", "member", "viewer"] as const;
const AGAIN_MS = 10 * 60_000; // between mails to one who is invited

type Open = { invite: true } | { sent: string } | { remove: Member } | undefined;

const path = (more = "") => `/orgs/${org.value}/members${more && "/" + encodeURIComponent(more)}`;

export function MembersPage() {
  const list = useLoad<Members>(() => portal(path()), [org.value]);
  const known = useLoad<Ways>(ways, []);
  const [open, setOpen] = useState<Open>();
  const owners = list.value?.members.filter((m) => m.role === "owner" && m.state === "joined") ?? [];
  const others = owners.filter((o) => o.email !== me.value?.user.email);
  const why = others[0] ? shared("ownersAsk", { who: others[0].email }) : shared("ownersOnly");
  const close = () => {
    setOpen(undefined);
    void list.reload();
  };
  return (
    <>
      <Head title={t("members")} lead={t("members.lead")} of={here.value?.name}>
        <Allowed may={isOwner.value} why={why}>
          {(off) => (
            <button
              type="button"
              class="btn primary"
              data-create
              disabled={off}
              onClick={() => setOpen({ invite: true })}
            >
              <Icon name="plus" />
              {t("members.invite")}
            </button>
          )}
        </Allowed>
      </Head>
      <section class="card kt mb">
        <Show of={list}>
          {({ members }) => (
            <List
              members={members}
              last={owners.length === 1}
              reload={() => void list.reload()}
              sent={(e) => setOpen({ sent: e })}
              remove={(m) => setOpen({ remove: m })}
            />
          )}
        </Show>
      </section>
      {list.value?.members.length === 1 && (
        <section class="card">
          <Empty title={t("members.only")} text={t("members.onlyText")} />
        </section>
      )}
      <p class="xs faint note-below">
        {t("members.roles")}
        {owners.length === 1 && " " + t("members.lastOwner")}
      </p>
      {open && "invite" in open && (
        <Invite
          onClose={close}
          done={(email) => {
            void list.reload();
            if (known.value && known.value.mail !== "smtp") setOpen({ sent: email });
            else close();
          }}
        />
      )}
      {open && "sent" in open && known.value && <Handed email={open.sent} ways={known.value} onClose={close} />}
      {open && "remove" in open && <Remove m={open.remove} onClose={close} />}
    </>
  );
}

interface ListProps {
  members: Member[];
  last: boolean; // one owner only
  reload(): void;
  sent(email: string): void;
  remove(m: Member): void;
}

function List({ members, last, reload, sent, remove }: ListProps) {
  return (
    <table>
      <caption class="sr">{t("members")}</caption>
      <thead>
        <tr>
          <th>{shared("email")}</th>
          <th>{t("members.role")}</th>
          <th>{t("members.state")}</th>
          <th>
            <span class="sr">{shared("more")}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {members.map((m) => {
          const keep = last && m.role === "owner" && m.state === "joined";
          return (
            <tr key={m.email} data-member={m.email}>
              <td>
                <b>
                  <bdi>{m.email}</bdi>
                </b>
                {m.email === me.value?.user.email && <span class="chip you">{t("members.you")}</span>}
              </td>
              <td class="vx">
                <RoleOf m={m} fixed={keep || !isOwner.value} changed={reload} />
              </td>
              <td class="muted kx">
                <State m={m} />
              </td>
              <td class="ax">{isOwner.value && !keep && <Actions m={m} sent={sent} remove={remove} />}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function State({ m }: { m: Member }) {
  if (m.state === "joined" && m.joined_at)
    return <span title={exact(m.joined_at)}>{t("members.joined", { day: day(m.joined_at) })}</span>;
  return (
    <span title={exact(m.invited_at)}>
      <span class="chip warn">{t("members.invited", { ago: ago(m.invited_at) })}</span>
      {m.mailed_at && <span class="xs"> {t("members.mailed", { ago: ago(m.mailed_at) })}</span>}
    </span>
  );
}

function RoleOf({ m, fixed, changed }: { m: Member; fixed: boolean; changed(): void }) {
  if (fixed) return <span class="chip">{shared(m.role)}</span>;
  const put = async (role: string) => {
    const a = await patch<Member>(path(m.email), { role });
    if (failed(a)) say(sentence(a));
    changed();
  };
  return (
    <Select
      label={`${t("members.role")}: ${m.email}`}
      value={m.role}
      choices={ROLES.map((r) => [r, shared(r)] as const)}
      onChoose={(r) => void put(r)}
    />
  );
}

function Actions({ m, sent, remove }: { m: Member; sent(email: string): void; remove(m: Member): void }) {
  const again = useAction<Member>(
    (key) => create(path(), { email: m.email, role: m.role }, key),
    () => sent(m.email),
  );
  const early = m.mailed_at !== undefined && Date.now() - Date.parse(m.mailed_at) < AGAIN_MS;
  return (
    <Menu label={shared("actions", { name: m.email })} button={<Icon name="more" />}>
      {(close) => (
        <>
          {m.state === "invited" && (
            <button
              type="button"
              onClick={() => {
                close();
                if (early) say(t("members.wait", { ago: ago(m.mailed_at!) }));
                void again.go();
              }}
            >
              {t("members.resend")}
            </button>
          )}
          <button
            type="button"
            class="danger"
            onClick={() => {
              close();
              remove(m);
            }}
          >
            {t("members.remove")}
          </button>
        </>
      )}
    </Menu>
  );
}

function Invite({ onClose, done }: { onClose(): void; done(email: string): void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const action = useAction<Member>(
    (key) => create(path(), { email: email.trim(), role }, key),
    (m) => {
      say(t("members.was", { email: m.email }));
      done(m.email);
    },
  );
  return (
    <FormDialog
      title={t("members.invite")}
      lead={t("members.roles")}
      action={action}
      label={t("members.invite")}
      ready={email.trim() !== ""}
      onClose={onClose}
    >
      <Field label={shared("email")} type="email" value={email} onInput={setEmail} focus />
      <label class="field">
        <span>{t("members.role")}</span>
        <select class="in" value={role} onChange={(e) => setRole(e.currentTarget.value as Role)}>
          {ROLES.map((r) => (
            <option value={r}>{shared(r)}</option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}

// Where no mail leaves, somebody has to hand the link over.
function Handed({ email, ways: w, onClose }: { email: string; ways: Ways; onClose(): void }) {
  const link = w.public_url + "/signin";
  return (
    <Dialog title={t("members.was", { email })} onClose={onClose}>
      <p class="small">{t(w.mail === "printed" ? "members.printed" : "members.noMail", { email })}</p>
      <div class="secret">
        <code>{link}</code>
        <button type="button" class="btn primary sm" onClick={() => void copy(link)}>
          <Icon name="copy" />
          {shared("copy")}
        </button>
      </div>
      {w.links && (
        <p class="small muted">
          {t("members.handed")} <code>swar signin-link {email}</code>
        </p>
      )}
    </Dialog>
  );
}

function Remove({ m, onClose }: { m: Member; onClose(): void }) {
  const action = useAction<Member>(
    () => remove(path(m.email)),
    () => {
      say(t("members.removed", { email: m.email }));
      onClose();
    },
  );
  return (
    <FormDialog
      title={t("members.remove")}
      lead={t("members.removeLead")}
      action={action}
      label={t("members.remove")}
      danger
      onClose={onClose}
    >
      <p>
        <b>
          <bdi>{m.email}</bdi>
        </b>
      </p>
    </FormDialog>
  );
}
