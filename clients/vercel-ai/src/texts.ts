/** Texts as the server accepts them. */

/** The first characters of a text, without NUL and with U+FFFD for lone surrogates, which the server refuses. */
export function cut(text: string, most: number): string {
  const kept = text.replaceAll('\0', '').toWellFormed();
  return [...kept].slice(0, most).join(''); // by characters, since `slice` of a string may halve an emoji
}
