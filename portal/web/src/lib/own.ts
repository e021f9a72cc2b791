/** Whether an address that came from outside is a place of the portal: nothing else may be gone to. */
export function own(address: string): boolean {
  if (!/^\/app\/[\w\-./%?&=]*$/.test(address) || address.includes("//")) return false;
  const u = new URL(address, location.origin);
  return u.origin === location.origin && u.pathname.startsWith("/app/");
}
