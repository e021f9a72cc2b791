/** Whether an address that came from outside is a place of the portal: nothing else may be gone to. A fragment leads nowhere else. */
export function own(address: string): boolean {
  const path = address.split("#")[0]!;
  if (!/^\/app\/[\w\-./%?&=]*$/.test(path) || path.includes("//")) return false;
  const u = new URL(address, location.origin);
  return u.origin === location.origin && u.pathname.startsWith("/app/");
}
