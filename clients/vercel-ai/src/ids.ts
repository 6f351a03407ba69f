/** Ids that follow from what they name, so that a request that is made again stores it once. */

/** The id of what these parts name. */
export async function idOf(...parts: (string | number)[]): Promise<string> {
  const named = new TextEncoder().encode(parts.join('\0'));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', named));
  return Array.from(digest.slice(0, 16), byte => byte.toString(16).padStart(2, '0')).join('');
}
