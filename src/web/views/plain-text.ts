const unprintable = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A name from git on one line as it can be trusted: control characters and those
 * that turn the direction of the text around them become a visible mark.
 */
export function viewName(name: string): string {
  return name.replace(unprintable, '\ufffd');
}

/** File contents as text: UTF-8 where it is, otherwise the old Western encoding, in which every byte means something. */
export function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
