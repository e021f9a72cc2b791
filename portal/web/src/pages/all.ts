// The pages beside the playground, which are loaded together: each for itself would be many small files.

export { AuditPage } from "./audit";
export { BillingPage } from "./billing";
export { KeysPage } from "./keys";
export { LexiconPage } from "./lexicon";
export { MembersPage } from "./members";
export { OverviewPage } from "./overview";
export { RequestsPage } from "./requests";
export { SettingsPage } from "./settings";
export { UsagePage } from "./usage";
export { VoicesPage } from "./voices";
