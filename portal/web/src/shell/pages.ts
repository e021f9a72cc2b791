// The pages of an organisation: their order, their icons, and the key behind g that leads there.

import type { IconName } from "../ui/icons";

export type Name =
  | "playground"
  | "overview"
  | "keys"
  | "requests"
  | "usage"
  | "members"
  | "billing"
  | "voices"
  | "lexicon"
  | "audit"
  | "settings";

export interface PageOf {
  name: Name;
  icon: IconName;
  key: string; // after g
  of?: Exclude<keyof Pages, "default">; // what shows it; the playground is there already
}

export type Pages = typeof import("../pages/all");

export const PAGES: readonly PageOf[] = [
  { name: "playground", icon: "play", key: "p" },
  { name: "overview", icon: "home", key: "o", of: "OverviewPage" },
  { name: "keys", icon: "key", key: "k", of: "KeysPage" },
  { name: "requests", icon: "list", key: "r", of: "RequestsPage" },
  { name: "usage", icon: "bars", key: "u", of: "UsagePage" },
  { name: "members", icon: "people", key: "m", of: "MembersPage" },
  { name: "billing", icon: "bill", key: "b", of: "BillingPage" },
  { name: "voices", icon: "voice", key: "v", of: "VoicesPage" },
  { name: "lexicon", icon: "book", key: "l", of: "LexiconPage" },
  { name: "audit", icon: "shield", key: "a", of: "AuditPage" },
  { name: "settings", icon: "gear", key: "s", of: "SettingsPage" },
];
